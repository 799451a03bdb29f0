"""The ratings table, validated and laid out as arrays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dhp.errors import InputError, near
from dhp.records import ORIGINAL, RATING_STATUSES
from dhp.tables import read_table

if TYPE_CHECKING:
    import pandas as pd

REQUIRED = ("example", "variant", "metric", "score")
GROUPING = ("model", "protocol", "dataset")
_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Group:
    """The ratings of one (model, protocol, dataset)."""

    model: str
    protocol: str
    dataset: str
    examples: tuple[str, ...]
    variants: tuple[str, ...]
    """Without the original, in order of appearance."""
    metrics: tuple[str, ...]
    means: npt.NDArray[np.float64]
    """Mean score, shape (1 + variants, metrics, examples), the original first; NaN where there is none."""
    asked: npt.NDArray[np.bool_]
    """Whether there is any row, scored or failed; same shape."""
    levels: dict[str, str] | None
    """variant -> level, where the table has that column."""
    counts: dict[str, int]
    """Rows asked, and rows by status."""

    def not_applicable(self, variant: str) -> int:
        """Number of examples about which nothing was asked under this variant."""
        if variant not in self.variants:
            return len(self.examples)
        return int((~self.asked[1 + self.variants.index(variant)].any(axis=0)).sum())

    def differences(self, variant: str, metric: str) -> tuple[npt.NDArray[np.float64], int]:
        """Original minus variant where both have a score, and the number of pairs that lack one.

        Rounded to twelve significant digits of the typical score: means of samples lie on a grid of
        rational numbers, which floating point would split into false non-ties. A pair counts as lacking
        only if the variant was asked about at all.
        """
        if variant not in self.variants:
            return np.empty(0), 0
        m = self.metrics.index(metric)
        original, degraded = self.means[0, m], self.means[1 + self.variants.index(variant), m]
        difference = original - degraded
        paired = ~np.isnan(difference)
        wanted = self.asked[1 + self.variants.index(variant), m]
        size = np.abs(original[paired] + degraded[paired]) / 2
        typical = float(np.median(size[size > 0])) if size.any() else 1.0
        digits = int(np.clip(11 - np.floor(np.log10(typical)), -290, 290))
        return np.round(difference[paired], digits) + 0.0, int((wanted & ~paired).sum())


def read_ratings(path: Path) -> "pd.DataFrame":
    """A ratings table from `.csv`, `.jsonl` or `.parquet`; raises `InputError` with file and row."""
    import pandas as pd

    return pd.DataFrame([row.values for row in read_table(path).rows], dtype=object)


def groups(frame: "pd.DataFrame") -> Iterator[Group]:
    """Validate a ratings table and split it by (model, protocol, dataset), in order of appearance."""
    table = _validated(frame)
    present = [c for c in GROUPING if c in table]
    if not present:
        yield _group(table, {})
        return
    for key, part in table.groupby(present, sort=False):
        names = key if isinstance(key, tuple) else (key,)
        yield _group(part, dict(zip(present, map(str, names), strict=True)))


def _validated(frame: "pd.DataFrame") -> "pd.DataFrame":
    import pandas as pd

    columns = [str(c) for c in frame.columns]
    for name in REQUIRED:
        if name not in columns:
            raise InputError(f"ratings: column '{name}' is missing; {near(name, columns)}")
    if frame.empty:
        raise InputError("ratings: the table has no rows")
    table = frame.reset_index(drop=True)
    for name in ("example", "variant", "metric", *GROUPING, "level"):
        if name not in table:
            continue
        empty = _blank(table[name])
        if name == "level":
            empty &= table["variant"] != ORIGINAL
        if empty.any():
            raise InputError(f"ratings: row {_row(empty)}: {name} is empty")
        table[name] = table[name].astype(str)
    blank = _blank(table["score"])
    numbers = pd.to_numeric(table["score"].mask(blank), errors="coerce").astype(float)
    wrong = ~blank & ~np.isfinite(numbers)
    if wrong.any():
        value = table["score"].iloc[_row(wrong) - 1]
        raise InputError(f"ratings: row {_row(wrong)}: score {value!r} is not a number")
    table["score"] = numbers
    _check_status(table, blank)
    return table


def _blank(column: "pd.Series[Any]") -> "pd.Series[bool]":
    return column.isna() | (column.astype(str).str.strip() == "")


def _check_status(table: "pd.DataFrame", blank: "pd.Series[bool]") -> None:
    if "status" not in table:
        if blank.any():
            raise InputError(
                f"ratings: row {_row(blank)}: score is empty, not a number; allowed: a number, or an empty "
                f"score with a column 'status' that says why ({', '.join(RATING_STATUSES[1:])})"
            )
        table["status"] = "scored"
        return
    table["status"] = table["status"].mask(_blank(table["status"]) & ~blank, "scored")
    unknown = ~table["status"].isin(RATING_STATUSES)
    if unknown.any():
        value = str(table["status"].iloc[_row(unknown) - 1])
        raise InputError(
            f"ratings: row {_row(unknown)}: unknown status '{value}'; {near(value, RATING_STATUSES)}"
        )
    scored = table["status"] == "scored"
    if (contradiction := scored & blank).any():
        raise InputError(f"ratings: row {_row(contradiction)}: status is 'scored' but the score is empty")
    if (contradiction := ~scored & ~blank).any():
        at = _row(contradiction)
        raise InputError(
            f"ratings: row {at}: status is '{table['status'].iloc[at - 1]}' but there is a score"
        )


def _row(wrong: "pd.Series[bool]") -> int:
    """The first row at fault, counted from 1 without the heading."""
    return int(np.flatnonzero(wrong.to_numpy())[0]) + 1


def _group(table: "pd.DataFrame", names: dict[str, str]) -> Group:
    import pandas as pd

    place = f"ratings of {names['model']}" if "model" in names else "ratings"
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
        raise InputError(f"{place}: no rows of the variant '{ORIGINAL}'; {near(ORIGINAL, variants)}")
    variant = table["variant"].map({name: i for i, name in enumerate([ORIGINAL, *variants])}).to_numpy()
    shape = (1 + len(variants), len(metrics), len(examples))
    cell = np.ravel_multi_index((variant, metric, example), shape)
    size = int(np.prod(shape))
    scored = (table["status"] == "scored").to_numpy()
    rows = np.bincount(cell, minlength=size).reshape(shape)
    samples = np.bincount(cell[scored], minlength=size).reshape(shape)
    sums = np.bincount(cell[scored], weights=table["score"].to_numpy()[scored], minlength=size).reshape(shape)
    _check_originals(rows, list(metrics), list(examples), place)
    with np.errstate(invalid="ignore"):
        means = sums / samples
    counts = table["status"].value_counts()
    return Group(
        model=names.get("model", _UNKNOWN),
        protocol=names.get("protocol", _UNKNOWN),
        dataset=names.get("dataset", _UNKNOWN),
        examples=tuple(examples),
        variants=tuple(variants),
        metrics=tuple(metrics),
        means=means,
        asked=rows > 0,
        levels=_levels(table, place) if "level" in table else None,
        counts={"asked": len(table), **{s: int(counts.get(s, 0)) for s in RATING_STATUSES}},
    )


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
