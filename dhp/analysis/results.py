"""Results of an analysis and their parts, as in `results.json` (schema `dhp.results/3`)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, overload

from dhp.analysis.notebook import html_table, line, plot
from dhp.analysis.result_parts import (
    NOTHING,
    STRICT,
    DoseResponse,
    ResponseStyle,
    RunDetection,
    VariantResult,
)
from dhp.core.errors import InputError
from dhp.core.records import IDENTITY, Signature
from dhp.stats.defaults import FLOOR
from dhp.stats.detection import CONTROL_PAIRS as CONTROL_PAIRS
from dhp.stats.detection import FEWEST_PAIRS as FEWEST_PAIRS
from dhp.stats.discernment import Combination

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from pydantic import TypeAdapter

    from dhp.analysis.ratings import RatingsArray


SCHEMA = "dhp.results/3"
_SHOWN = 12
"""Results in a repr."""


@dataclass(frozen=True, slots=True)
class Result:
    """The discernment of one (model, protocol, dataset)."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    signature: str
    """Signature: in one line, all that the figures depend on; see `dhp.core.records`."""
    created: str
    """Time of the computation, UTC."""
    model: str
    """Name of the judge, `provider/name`."""
    protocol: str
    """Protocol of the judge, `name@hash`; `none` where no model was asked, `unknown` where only ratings are
    known."""
    dataset: str
    """Name of the data."""
    n: int
    """Number of examples."""
    statistics: str
    """Preset of the tests: `default` or `paper`."""
    combination: Combination
    """Method that combines the p-values of the metrics."""
    weights: str
    """Name of the expert weights."""
    levels: str
    """Source of the levels: `suite`, `column` or `none` (all variants are one level)."""
    d_avg: float | None
    """Mean of D over levels; None where no variant is defined."""
    d_min: float | None
    """The lowest D of a variant with five pairs or more."""
    d_avg_ew: float | None
    """`d_avg` with the expert weights."""
    d_min_ew: float | None
    """`d_min` with the expert weights."""
    d_min_variant: str | None
    """The variant of `d_min`."""
    d_min_variant_ew: str | None
    """The variant of `d_min_ew`."""
    variants: tuple[VariantResult, ...]
    """The degraded texts, variant by variant."""
    controls: tuple[VariantResult, ...]
    """Changes that must not lower a score, with their state."""
    attacks: tuple[VariantResult, ...]
    """Changes that must not raise a score, with their state; D is two-sided."""
    curves: tuple[DoseResponse, ...]
    """Dose-response curves, where texts were degraded in many doses."""
    left_out: tuple[str, ...]
    """Variants of the suite that were not rated."""
    ratings: dict[str, int]
    """Number of ratings `asked` for, and number of ratings with each status."""
    repeats: dict[str, dict[str, float | None]]
    """Metric -> variance within and between texts, consistency and spread of its single scores; see
    `dhp.stats.judge_habits`. A metric without a score is not there."""
    scales: dict[str, tuple[float, float]]
    """Metric -> the ends of its scale; empty where they are unknown."""
    styles: dict[str, ResponseStyle]
    """Metric -> how its scores are distributed; a metric without a score on either side is not there."""
    halo: dict[str, dict[str, dict[str, float | None]]]
    """`originals` or `degraded` -> metric -> metric -> Spearman's correlation of their scores over texts."""
    failures: dict[str, int]
    """The most frequent reasons of failed ratings, with their counts."""
    rules: dict[str, int]
    """Number of scores that each extraction rule read from answers; empty where nothing was read."""
    missing_mass: float | None
    """Mean probability that fell on no score, where scores are weighed by probability."""
    usage: dict[str, int]
    """Calls and tokens of this run, and those that another had paid for (`cached_...`); empty without any."""
    cost: float | None
    """Cost of all these tokens at the given prices, also of cached replies; None without prices."""
    warnings: tuple[str, ...]
    """Reasons to doubt the figures."""
    detection: RunDetection = NOTHING
    """Over the kinds of damage that count in D_avg."""
    floor: float = FLOOR
    """Lowest detection at which damage counts as noticed."""
    clusters: int | None = None
    """Number of clusters of examples; None where the examples are independent."""

    @property
    def asked(self) -> bool:
        """Whether a language model was asked under a protocol; else `protocol` is `none` or `unknown`."""
        return self.protocol not in ("none", "unknown")

    @property
    def judge(self) -> str:
        """The model, with the name of its prompt or protocol where it was asked by one, without the hash."""
        return f"{self.model} ({self.protocol.partition('@')[0]})" if self.asked else self.model

    @property
    def false_alarm(self) -> bool:
        """Whether some control is noticed."""
        return any(row.verdict == "false alarm" for row in self.controls)

    @property
    def harmless_edits(self) -> str:
        """The state of harmless edits, `false alarm` where any control is one; `not run` without controls."""
        states = [row.verdict or "" for row in self.controls if row.variant != IDENTITY]
        if self.false_alarm:
            return "false alarm"
        return next((s for s in ("undecided", "not tested", "passed") if s in states), "not run")

    @property
    def signed(self) -> Signature:
        """The signature by its parts; raises `InputError` for one that lacks a part."""
        return Signature.parse(self.signature)

    def __repr__(self) -> str:
        return f"Result({line(self)})"

    def _repr_html_(self) -> str:
        return html_table([self])

    def plot(self) -> "Figure":
        """Detection of each variant with its limits; see `dhp.analysis.notebook.plot`."""
        return plot(self)

    def to_dict(self) -> dict[str, Any]:
        """The object that `results.json` holds."""
        return {"schema": SCHEMA, **asdict(self)}

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def to_frame(self) -> "pd.DataFrame":
        """One row a (variant, metric), controls and attacks too, with D of the variant beside it."""
        import pandas as pd

        rows = [
            {
                "model": self.model,
                "protocol": self.protocol,
                "dataset": self.dataset,
                "variant": v.variant,
                "level": v.level,
                "verdict": v.verdict,
                "metric": metric,
                **asdict(cell),
                "d": v.d,
                "d_ew": v.d_ew,
            }
            for v in (*self.variants, *self.controls, *self.attacks)
            for metric, cell in v.metrics.items()
        ]
        return pd.DataFrame(rows)


class Results(Sequence[Result]):
    """Results of one or several (model, protocol, dataset).

    Where it holds exactly one, that result's attributes (`d_avg`, `variants`, ...) can be read from the
    collection itself. `rated` holds the ratings behind each, where these are known.
    """

    def __init__(self, results: Sequence[Result], rated: Sequence["RatingsArray"] = ()) -> None:
        self._results = tuple(results)
        self.rated = tuple(rated)

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> "Results": ...
    def __getitem__(self, index: int | slice) -> "Result | Results":
        if isinstance(index, slice):
            return Results(self._results[index], self.rated[index])
        return self._results[index]

    def __len__(self) -> int:
        return len(self._results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self._results)

    def __repr__(self) -> str:
        shown = [line(result) for result in self[:_SHOWN]]
        more = [f"and {len(self) - _SHOWN} more"] if len(self) > _SHOWN else []
        return "Results(\n  " + ",\n  ".join([*shown, *more]) + "\n)"

    def _repr_html_(self) -> str:
        return html_table(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if len(self._results) != 1:
            raise AttributeError(f"there are {len(self)} results; choose one, e.g. results[0].{name}")
        return getattr(self._results[0], name)

    def to_frame(self) -> "pd.DataFrame":
        """One row a (model, protocol, dataset, variant, metric)."""
        import pandas as pd

        return pd.concat([r.to_frame() for r in self], ignore_index=True)

    def to_dict(self) -> Any:
        """What `results.json` holds: the object, or a list of them where there are several."""
        objects = [r.to_dict() for r in self]
        return objects[0] if len(objects) == 1 else objects

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_json(cls, found: object, place: str) -> "Results":
        """Results from what `results.json` holds, strictly.

        Raises `InputError` with
        `place` for another schema version, a field that is missing, unknown or of another type, and a
        signature that lacks a part.
        """
        from pydantic import ValidationError

        objects = found if isinstance(found, list) else [found]
        results = []
        for each in objects:
            if not isinstance(each, dict) or each.get("schema") != SCHEMA:
                raise InputError(f"{place}: is not a results file of this version; allowed: schema {SCHEMA}")
            fields = {name: value for name, value in each.items() if name != "schema"}
            try:
                result = _adapter().validate_json(json.dumps(fields), strict=True)
                Signature.parse(result.signature)
            except ValidationError as e:
                first = e.errors()[0]
                where = ".".join(map(str, first["loc"]))
                raise InputError(f"{place}: {where}: {first['msg'].lower()}") from None
            except InputError as e:
                raise InputError(f"{place}: {e}") from None
            results.append(result)
        if not results:
            raise InputError(f"{place}: holds no result")
        return cls(results)


@cache
def _adapter() -> "TypeAdapter[Result]":
    from pydantic import TypeAdapter

    return TypeAdapter(Result)


def results_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of `results.json`: one result, or a list of them."""
    one = _adapter().json_schema(ref_template="#/$defs/{model}")
    kinds = one.pop("$defs")
    one["properties"] = {"schema": {"const": SCHEMA}, **one["properties"]}
    one["required"] = ["schema", *one["required"]]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": SCHEMA,
        "anyOf": [
            {"$ref": "#/$defs/Result"},
            {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Result"}},
        ],
        "$defs": {**kinds, "Result": one},
    }
