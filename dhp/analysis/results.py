"""The outcome of an analysis, in the shape of `results.json` (schema `dhp.results/1`)."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, overload

from dhp.core.errors import InputError
from dhp.core.signature import Signature
from dhp.stats.combine import Combination
from dhp.stats.response_style import Spread

if TYPE_CHECKING:
    import pandas as pd
    from pydantic import TypeAdapter

SCHEMA = "dhp.results/1"
_STRICT: Mapping[str, str | bool] = {"extra": "forbid", "allow_inf_nan": False}


@dataclass(frozen=True, slots=True)
class Cell:
    """One test: did the scores of this metric fall under this variant?"""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = _STRICT

    p: float | None
    """One-sided p-value, for attacks two-sided; None without a pair, or below 1e-300 (see `log10_p`)."""
    log10_p: float | None
    n: int
    """Pairs with a score on both sides."""
    missing: int
    """Pairs left out because a side has no score."""
    n_nonzero: int
    effect: float | None
    """Matched-pairs rank-biserial correlation, in [-1, 1]; positive where scores fell."""
    mean_drop: float | None
    """Original minus degraded, in points of the scale."""
    fell: float | None
    tied: float | None
    rose: float | None
    weight: float | None = None
    """How much of the drop experts expect here, in [0, 1]; None without expert weights."""
    share: float | None = None
    """What this metric contributes to D: its part of the sum of 1 / p, in [0, 1]."""
    share_ew: float | None = None
    """The same for D_EW; where it differs from `share`, D and D_EW do."""


@dataclass(frozen=True, slots=True)
class VariantResult:
    """All metrics of one variant, and the discernment that follows."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = _STRICT

    variant: str
    level: str
    method: str | None
    degree: str | None
    metrics: dict[str, Cell]
    p: float | None
    p_ew: float | None
    d: float | None
    """None where a metric has no pair at all: undefined."""
    d_ew: float | None
    effect: float | None
    """Mean effect over the metrics; None where a metric has no pair."""
    effect_ew: float | None
    """The mean with the weights of the metrics."""
    not_applicable: int
    """Examples that have no text in this variant, of those that it got."""
    stopped_at: int | None = None
    """In a run that stops what is resolved, the number of examples after which this variant was and got no
    more; None where it got all. p, D and their intervals are then adjusted for the looks at the data (see
    `dhp.analysis.sequential`), those of single metrics are not."""
    ci: dict[str, tuple[float, float] | None] = field(default_factory=dict)
    """95 % bootstrap intervals of `d`, `d_ew`, `effect` and `effect_ew`; None where undefined,
    empty where none were asked for."""
    p_holm: float | None = None
    """p adjusted over the variants: bounds the chance of any false one among those noticed (Holm 1979)."""
    p_by: float | None = None
    """p adjusted over the variants: bounds the expected share of false ones among them (Benjamini and
    Yekutieli 2001)."""
    misplaced: float | None = None
    """Share of the mean drop that fell on other metrics than experts expect, in [0, 1]; None without expert
    weights or without a drop."""

    @property
    def risen(self) -> str | None:
        """The metric that an attack raised most clearly; None if it raised none.

        One that rose beyond doubt (Bonferroni over metrics), or the clearest change of all if that is a rise.
        Only for attacks, whose p-values are two-sided.
        """
        tested = {m: c for m, c in self.metrics.items() if c.log10_p is not None and c.effect is not None}
        if not tested:
            return None
        order = sorted(tested, key=lambda m: (tested[m].log10_p, tested[m].effect))
        line = math.log10(0.05 / len(self.metrics))
        risen = [m for m in order if (tested[m].effect or 0.0) < 0]
        clear = [m for m in risen if m == order[0] or (tested[m].log10_p or 0.0) <= line]
        return clear[0] if clear else None


@dataclass(frozen=True, slots=True)
class Style:
    """How a judge uses the scale of one metric, by the mean scores of the texts."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = _STRICT

    originals: Spread
    degraded: Spread
    words: tuple[str, ...] | None
    """`lenient`, `harsh`, `compressed`; None where the scale is unknown. See `dhp.stats.response_style`."""


@dataclass(frozen=True, slots=True)
class CurveLine:
    """One line of a dose-response curve: a metric, or all metrics combined."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = _STRICT

    d: tuple[float | None, ...]
    """D at each dose; None where there is no pair."""
    effect: tuple[float | None, ...] | None
    """Rank-biserial correlation at each dose; None for the combination."""
    fell: tuple[float | None, ...] | None
    """Share of scores that fell at each dose; None for the combination."""
    threshold: float | None
    """The dose at which D passes 1; None where it never does or is undefined."""
    low: float | None
    high: float | None
    """Ends of the 95 % bootstrap interval of the threshold; None for an end beyond the largest dose."""


@dataclass(frozen=True, slots=True)
class Curve:
    """How D grows with the dose of one perturber."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = _STRICT

    perturber: str
    doses: tuple[int, ...]
    lines: dict[str, CurveLine]
    """Metric, or `combined`, -> its line."""


@dataclass(frozen=True, slots=True)
class Result:
    """The discernment of one (model, protocol, dataset)."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = _STRICT

    signature: str
    created: str
    """When it was computed, UTC."""
    model: str
    protocol: str
    dataset: str
    n: int
    """Examples."""
    statistics: str
    combination: Combination
    weights: str
    levels: str
    """Where the levels come from: `suite`, `column` or `none` (all variants are one level)."""
    d_avg: float | None
    d_min: float | None
    d_avg_ew: float | None
    d_min_ew: float | None
    d_min_variant: str | None
    d_min_variant_ew: str | None
    effect_avg: float | None
    """Mean over levels of the mean effect within each level: unlike D it does not grow with N."""
    effect_avg_ew: float | None
    ci: dict[str, tuple[float, float] | None]
    """95 % bootstrap intervals of `d_avg`, `d_min`, `effect_avg` and their weighted forms."""
    at_100: dict[str, float | None]
    """The four averages as they would be on 100 examples: the mean over subsets, or, where there are fewer,
    an extrapolation from draws with replacement (None for fewer than 10). By them runs of different size can
    be read side by side."""
    variants: tuple[VariantResult, ...]
    controls: tuple[VariantResult, ...]
    """Changes that must not lower a score: a D of 1 or more is a false alarm."""
    attacks: tuple[VariantResult, ...]
    """Changes that must not raise a score; tested two-sided."""
    curves: tuple[Curve, ...]
    """Dose-response curves, where texts were degraded in many doses."""
    left_out: tuple[str, ...]
    """Variants of the suite that were not rated."""
    ratings: dict[str, int]
    repeats: dict[str, dict[str, float | None]]
    """Metric -> variance within and between texts, consistency and spread of its single scores; see
    `dhp.stats.Repeats`. A metric without a score is not there."""
    scales: dict[str, tuple[float, float]]
    """Metric -> the ends of its scale; empty where they are unknown."""
    styles: dict[str, Style]
    """Metric -> how its scores are distributed; a metric without a score on either side is not there."""
    halo: dict[str, dict[str, dict[str, float | None]]]
    """`originals` or `degraded` -> metric -> metric -> Spearman's correlation of their scores over texts."""
    failures: dict[str, int]
    """The most frequent reasons of failed ratings, with their counts."""
    rules: dict[str, int]
    """How many scores were read from answers by which rule; empty where nothing was read."""
    missing_mass: float | None
    """Mean probability that fell on no score, where scores are weighed by probability."""
    usage: dict[str, int]
    """Calls and tokens of this run, and those that another run had paid for (`cached_...`); empty where no
    language model was asked."""
    cost: float | None
    """What all these tokens cost at the prices given, whoever paid for them; None without prices."""
    warnings: tuple[str, ...]
    """What makes the figures doubtful."""

    @property
    def asked(self) -> bool:
        """Whether a language model was asked under a protocol; else `protocol` is `none` or `unknown`."""
        return self.protocol not in ("none", "unknown")

    @property
    def signed(self) -> Signature:
        """The signature by its parts; raises `InputError` for one that lacks a part."""
        return Signature.parse(self.signature)

    def to_json(self) -> dict[str, Any]:
        """The object as it stands in `results.json`."""
        return {"schema": SCHEMA, **asdict(self)}

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
    collection itself.
    """

    def __init__(self, results: Sequence[Result]) -> None:
        self._results = tuple(results)

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> "Results": ...
    def __getitem__(self, index: int | slice) -> "Result | Results":
        return Results(self._results[index]) if isinstance(index, slice) else self._results[index]

    def __len__(self) -> int:
        return len(self._results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self._results)

    def __repr__(self) -> str:
        inside = ", ".join(f"{r.model} ({r.protocol}) on {r.dataset}: d_avg={_short(r.d_avg)}" for r in self)
        return f"Results({inside})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if len(self._results) != 1:
            raise AttributeError(f"'{name}' of which of the {len(self)} results? Take one: results[0].{name}")
        return getattr(self._results[0], name)

    def to_frame(self) -> "pd.DataFrame":
        """One row a (model, protocol, dataset, variant, metric)."""
        import pandas as pd

        return pd.concat([r.to_frame() for r in self], ignore_index=True)

    def to_json(self) -> Any:
        """What `results.json` holds: the object, or a list of them where there are several."""
        objects = [r.to_json() for r in self]
        return objects[0] if len(objects) == 1 else objects

    @classmethod
    def from_json(cls, found: object, place: str) -> "Results":
        """Results from what `results.json` holds, strictly.

        Raises `InputError` with `place` for another schema version, a field that is missing, unknown or of
        another type, and a signature that lacks a part.
        """
        from pydantic import ValidationError

        objects = found if isinstance(found, list) else [found]
        results = []
        for each in objects:
            if not isinstance(each, dict) or each.get("schema") != SCHEMA:
                raise InputError(f"{place}: is no results file of this version; allowed: schema {SCHEMA}")
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


def _short(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"


def plain_p(log_p: float | None) -> float | None:
    """exp(log_p), or None where it is undefined or would underflow."""
    return math.exp(log_p) if log_p is not None and log_p > -690 else None
