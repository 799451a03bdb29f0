"""The ratings table, validated and laid out as arrays."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dhp.analysis.interim import Looks, read_looks
from dhp.core.errors import InputError, suggest
from dhp.core.records import ORIGINAL, RATING_STATUSES, STOPPED
from dhp.core.seeding import text_hash
from dhp.core.specs import Scale
from dhp.core.tables import read_table

if TYPE_CHECKING:
    import pandas as pd

REQUIRED = ("example", "variant", "metric", "score")
GROUPING = ("model", "protocol", "dataset")
OPTIONAL = ("sample", "level", "status", "look", *GROUPING)
_UNKNOWN = "unknown"
_PLACE = "dhp.place"
_REASONS_KEPT = 5
_LARGEST = 1e306  # beyond it differences overflow


@dataclass(frozen=True, slots=True)
class RatingsArray:
    """The ratings of one (model, protocol, dataset)."""

    place: str
    """Where the ratings come from, for error messages."""
    model: str
    protocol: str
    dataset: str
    examples: tuple[str, ...]
    variants: tuple[str, ...]
    """Without the original, in order of appearance."""
    metrics: tuple[str, ...]
    means: npt.NDArray[np.float64]
    """Mean score, shape (1 + variants, metrics, examples), the original first; NaN where there is none."""
    samples: dict[str, npt.NDArray[np.float64]]
    """Metric -> single scores, shape (texts with a score, samples), NaN where one is missing."""
    asked: npt.NDArray[np.bool_]
    """Whether there is any row, scored or failed; same shape."""
    looks: Looks | None
    """In a run that asked no more about variants once they were resolved; else None."""
    levels: dict[str, str] | None
    """variant -> level, where the table has that column."""
    counts: dict[str, int]
    """Rows asked, and rows by status."""
    failures: dict[str, int]
    """The most frequent reasons of failed rows, where the table holds them."""
    rules: dict[str, int]
    """Scored rows by the rule that read the score, where the table says it."""
    missing_mass: float | None
    """Mean of that column, where there is one."""

    @property
    def digest(self) -> str:
        """A hash of what the figures depend on; the order of the rows is no part of it."""
        names = (self.variants, self.metrics, self.examples)
        variants, metrics, examples = (np.argsort(list(each)) for each in names)
        means = self.means[np.ix_(np.append(0, 1 + variants), metrics, examples)]
        looks = b"" if self.looks is None else self.looks.course.encode()
        return text_hash(repr([sorted(each) for each in names]).encode() + means.tobytes() + looks)

    @property
    def size(self) -> str:
        """The number of examples, for signatures."""
        return str(len(self.examples)) if self.looks is None else self.looks.size

    def not_applicable(self, variant: str) -> int:
        """Number of examples about which nothing was asked under this variant."""
        if variant not in self.variants:
            return len(self.examples)
        turns = len(self.examples) if self.looks is None else self.looks.reached(variant)
        return turns - int(self.asked[1 + self.variants.index(variant)].any(axis=0).sum())

    def differences(self, variant: str, metric: str) -> tuple[npt.NDArray[np.float64], int]:
        """Original minus variant where both have a score, and the number of pairs that lack one.

        A pair counts as lacking only if the variant was asked about at all.
        """
        if variant not in self.variants:
            return np.empty(0), 0
        difference = self.all_differences(variant, metric)
        paired = ~np.isnan(difference)
        wanted = self.asked[1 + self.variants.index(variant), self.metrics.index(metric)]
        return difference[paired], int((wanted & ~paired).sum())

    def difference_table(self, variants: Sequence[str], metrics: Sequence[str]) -> npt.NDArray[np.float64]:
        """`all_differences`, shape (examples, variants, metrics), for resampling: examples sorted by name.

        NaN all over for a variant that was not rated.
        """
        table = np.full((len(self.examples), len(variants), len(metrics)), np.nan)
        order = np.argsort(self.examples)
        for v, name in enumerate(variants):
            if name in self.variants:
                for m, metric in enumerate(metrics):
                    table[:, v, m] = self.all_differences(name, metric)[order]
        return table

    def all_differences(self, variant: str, metric: str) -> npt.NDArray[np.float64]:
        """Original minus a rated variant, shape (examples,); NaN where a score is missing.

        Rounded to twelve significant digits of the typical score: means of samples lie on a grid of
        rational numbers, which floating point would split into false non-ties.
        """
        m = self.metrics.index(metric)
        original, degraded = self.means[0, m], self.means[1 + self.variants.index(variant), m]
        difference = original - degraded
        paired = ~np.isnan(difference)
        size = (np.abs(original[paired]) + np.abs(degraded[paired])) / 2
        typical = float(np.median(size[size > 0])) if size.any() else 1.0
        unit = 10.0 ** np.floor(np.log10(typical))
        on_grid: npt.NDArray[np.float64] = np.round(difference / unit, 11) * unit + 0.0
        return on_grid


def read_ratings(path: Path) -> "pd.DataFrame":
    """A ratings table from `.csv`, `.jsonl` or `.parquet`; raises `InputError` with file and row."""
    import pandas as pd

    rows = read_table(path).rows
    for row in rows:
        for column, value in row.values.items():
            if isinstance(value, list | dict):
                kind = type(value).__name__
                raise row.fault(f"column '{column}' holds a {kind}; allowed: text or a number")
            if isinstance(value, str):
                row.encodable(column, value)
    frame = pd.DataFrame([row.values for row in rows], dtype=object)
    frame.attrs[_PLACE] = str(path)
    return frame


def groups(frame: "pd.DataFrame", scales: Mapping[str, Scale] | None = None) -> Iterator[RatingsArray]:
    """Validate a ratings table and split it by (model, protocol, dataset), in order of appearance.

    With `scales` (metric -> scale) other metrics and scores off the scale are errors too.
    """
    if not hasattr(frame, "attrs"):
        raise InputError(f"ratings: a {type(frame).__name__}; allowed: a pandas DataFrame or a file")
    place = str(frame.attrs.get(_PLACE, "ratings"))
    table = _validated(frame, place)
    if scales is not None:
        _check_scales(table, scales, place)
    present = [c for c in GROUPING if c in table]
    if not present:
        yield _group(table, {}, place)
        return
    for key, part in table.groupby(present, sort=False):
        names = key if isinstance(key, tuple) else (key,)
        yield _group(part, dict(zip(present, map(str, names), strict=True)), place)


def _validated(frame: "pd.DataFrame", place: str) -> "pd.DataFrame":
    import pandas as pd

    columns = [str(c) for c in frame.columns]
    for name in REQUIRED:
        if name not in columns:
            raise InputError(f"{place}: column '{name}' is missing; {suggest(name, columns)}")
    for name in columns:
        if columns.count(name) > 1:
            raise InputError(f"{place}: column '{name}' stands twice")
        meant = get_close_matches(name, set(OPTIONAL) - set(columns), n=1, cutoff=0.8)
        if name not in REQUIRED and meant:
            raise InputError(f"{place}: unknown column '{name}'; {suggest(name, [*REQUIRED, *OPTIONAL])}")
    if frame.empty:
        raise InputError(f"{place}: the table has no rows")
    table = frame.reset_index(drop=True)
    for name in ("example", "variant", "metric", *GROUPING, "level", "sample"):
        if name not in table:
            continue
        empty = _blank(table[name])
        if name == "level":
            empty &= table["variant"] != ORIGINAL
        if empty.any():
            raise InputError(f"{place}: row {_row(empty)}: {name} is empty")
        table[name] = table[name].astype(str)
    if table["score"].dtype.kind not in "iufO":
        raise InputError(f"{place}: column 'score' is of type {table['score'].dtype}; allowed: numbers")
    blank = _blank(table["score"])
    numbers = pd.to_numeric(table["score"].mask(blank), errors="coerce").astype(float)
    wrong = ~blank & ~np.isfinite(numbers)
    if table["score"].dtype == object:
        wrong |= table["score"].map(lambda score: isinstance(score, bool | np.bool_ | complex)).astype(bool)
    if wrong.any():
        value = table["score"].iloc[_row(wrong) - 1]
        raise InputError(f"{place}: row {_row(wrong)}: score {value!r} is not a number")
    table["score"] = numbers
    _check_status(table, blank, place)
    return table


def _check_scales(table: "pd.DataFrame", scales: Mapping[str, Scale], place: str) -> None:
    import pandas as pd

    unknown = ~table["metric"].isin(list(scales))
    if unknown.any():
        metric = table["metric"].iloc[_row(unknown) - 1]
        raise InputError(
            f"{place}: row {_row(unknown)}: unknown metric '{metric}'; {suggest(metric, scales)}"
        )
    code, names = pd.factorize(table["metric"])
    low, high = (np.array([getattr(scales[m], end) for m in names])[code] for end in ("min", "max"))
    off = (table["score"] < low) | (table["score"] > high)
    if off.any():
        row = table.iloc[_row(off) - 1]
        scale = scales[row["metric"]]
        raise InputError(
            f"{place}: row {_row(off)}: score {row['score']:g} is off the scale of metric '{row['metric']}'; "
            f"allowed: {scale.min:g} to {scale.max:g}, or an empty score with status 'out_of_scale'"
        )


def _blank(column: "pd.Series[Any]") -> "pd.Series[bool]":
    return column.isna() | (column.astype(str).str.strip() == "")


def _check_status(table: "pd.DataFrame", blank: "pd.Series[bool]", place: str) -> None:
    if "status" not in table:
        if blank.any():
            raise InputError(
                f"{place}: row {_row(blank)}: score is empty, not a number; allowed: a number, or an empty "
                f"score with a column 'status' that says why ({', '.join(RATING_STATUSES[1:])})"
            )
        table["status"] = "scored"
        return
    table["status"] = table["status"].astype(object).mask(_blank(table["status"]) & ~blank, "scored")
    unknown = ~table["status"].isin([*RATING_STATUSES, STOPPED])
    if unknown.any():
        value = str(table["status"].iloc[_row(unknown) - 1])
        raise InputError(
            f"{place}: row {_row(unknown)}: unknown status '{value}'; {suggest(value, RATING_STATUSES)}"
        )
    scored = table["status"] == "scored"
    if (contradiction := scored & blank).any():
        raise InputError(f"{place}: row {_row(contradiction)}: status is 'scored' but the score is empty")
    if (contradiction := ~scored & ~blank).any():
        at = _row(contradiction)
        raise InputError(
            f"{place}: row {at}: status is '{table['status'].iloc[at - 1]}' but there is a score"
        )


def _row(wrong: "pd.Series[bool]") -> int:
    """The first row at fault, counted from 1 without the heading."""
    return int(np.flatnonzero(wrong.to_numpy())[0]) + 1


def _group(table: "pd.DataFrame", names: dict[str, str], file: str) -> RatingsArray:
    import pandas as pd

    place = f"{file}: model '{names['model']}'" if "model" in names else file
    if "sample" in table:
        repeated = table.duplicated(["example", "variant", "metric", "sample"])
        if repeated.any():
            row = table[repeated].iloc[0]
            raise InputError(
                f"{place}: sample {row['sample']} of example '{row['example']}', variant '{row['variant']}', "
                f"metric '{row['metric']}' stands twice"
            )
    example, examples = pd.factorize(table["example"])
    metric, metrics = pd.factorize(table["metric"])
    variants = [v for v in table["variant"].unique() if v != ORIGINAL]
    if len(variants) == table["variant"].nunique():
        raise InputError(f"{place}: no rows of the variant '{ORIGINAL}'; {suggest(ORIGINAL, variants)}")
    variant = table["variant"].map({name: i for i, name in enumerate([ORIGINAL, *variants])}).to_numpy()
    shape = (1 + len(variants), len(metrics), len(examples))
    cell = np.ravel_multi_index((variant, metric, example), shape)
    size = int(np.prod(shape))
    scored = (table["status"] == "scored").to_numpy()
    stopped = (table["status"] == STOPPED).to_numpy()
    rows = np.bincount(cell[~stopped], minlength=size).reshape(shape)
    samples = np.bincount(cell[scored], minlength=size).reshape(shape)
    sums = np.bincount(cell[scored], weights=table["score"].to_numpy()[scored], minlength=size).reshape(shape)
    _check_originals(rows, list(metrics), list(examples), place)
    with np.errstate(invalid="ignore"):
        means = sums / samples
    if np.abs(means[samples > 0]).max(initial=0) > _LARGEST:
        raise InputError(f"{place}: a score is larger than {_LARGEST:g}")
    counts = table["status"].value_counts()
    looks = read_looks(table, place)
    kinds = RATING_STATUSES if looks is None else (*RATING_STATUSES, STOPPED)
    return RatingsArray(
        place=place,
        model=names.get("model", _UNKNOWN),
        protocol=names.get("protocol", _UNKNOWN),
        dataset=names.get("dataset", _UNKNOWN),
        examples=tuple(examples),
        variants=tuple(variants),
        metrics=tuple(metrics),
        means=means,
        samples={
            name: _by_text(cell[chosen], table["score"].to_numpy()[chosen])
            for m, name in enumerate(metrics)
            for chosen in [scored & (metric == m)]
        },
        asked=rows > 0,
        looks=looks,
        levels=_levels(table, place) if "level" in table else None,
        counts={"asked": int(rows.sum()), **{s: int(counts.get(s, 0)) for s in kinds}},
        failures=_failures(table),
        rules=_rules(table),
        missing_mass=_missing_mass(table, place),
    )


def _by_text(texts: npt.NDArray[np.int64], scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The scores of each text as a row, in the order in which they come."""
    order = np.argsort(texts, kind="stable")
    _, row, counts = np.unique(texts[order], return_inverse=True, return_counts=True)
    place = np.arange(texts.size) - np.repeat(np.cumsum(counts) - counts, counts)
    table = np.full((counts.size, counts.max(initial=0)), np.nan)
    table[row, place] = scores[order]
    return table


def _failures(table: "pd.DataFrame") -> dict[str, int]:
    if "raw" not in table:
        return {}
    reasons = table.loc[table["status"] == "failed", "raw"]
    counts = reasons[~_blank(reasons)].astype(str).value_counts()
    return {str(reason): int(count) for reason, count in counts.head(_REASONS_KEPT).items()}


def _rules(table: "pd.DataFrame") -> dict[str, int]:
    if "rule" not in table:
        return {}
    rules = table.loc[table["status"] == "scored", "rule"]
    return {
        str(rule): int(count) for rule, count in rules[~_blank(rules)].value_counts().sort_index().items()
    }


def _missing_mass(table: "pd.DataFrame", place: str) -> float | None:
    if "missing_mass" not in table or _blank(table["missing_mass"]).all():
        return None
    import pandas as pd

    mass = pd.to_numeric(table["missing_mass"].mask(_blank(table["missing_mass"])), errors="coerce")
    if not mass.dropna().between(0, 1).all():
        raise InputError(f"{place}: column 'missing_mass' holds a value outside [0, 1]")
    return float(mass.mean())


def _check_originals(
    rows: npt.NDArray[np.int64], metrics: Sequence[str], examples: Sequence[str], place: str
) -> None:
    orphan = (rows[1:].sum(axis=0) > 0) & (rows[0] == 0)
    if orphan.any():
        m, e = np.argwhere(orphan)[0]
        raise InputError(
            f"{place}: example '{examples[e]}' has no rating of its original for metric '{metrics[m]}'"
        )


def _levels(table: "pd.DataFrame", place: str) -> dict[str, str]:
    degraded = table[table["variant"] != ORIGINAL]
    pairs = degraded[["variant", "level"]].drop_duplicates()
    levels: dict[str, str] = {}
    for variant, level in pairs.itertuples(index=False):
        if levels.setdefault(variant, level) != level:
            raise InputError(
                f"{place}: variant '{variant}' has two levels, '{levels[variant]}' and '{level}'"
            )
    return levels
