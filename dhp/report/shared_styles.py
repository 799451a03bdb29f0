"""How far judges agree with each other before and after damage, for terminal and pages."""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dhp.content.catalog import variant_name
from dhp.core.shown import printable
from dhp.report.document import Column, Note, Part, Table
from dhp.report.labels import figure
from dhp.runs.compare import DatasetComparison


@dataclass(frozen=True, slots=True)
class _TwoJudges:
    """How far two judges agree; rho is None (undefined) if a judge gives all texts the same score."""

    names: str
    originals: float | None
    """Rho over the originals."""
    damaged: float | None
    """Its mean over the kinds of damage."""
    lowest: tuple[float, str] | None
    """Rho and the kind of damage on which they agree least."""
    highest: tuple[float, str] | None
    scores: str
    """Their mean scores of originals and of damaged texts."""


def _rho_of_kind(end: tuple[float, str] | None) -> str:
    return "–" if end is None else f"{figure(end[0])} {end[1]}"


_COLUMNS = (
    Column[_TwoJudges]("judges", lambda two: two.names, right=False, names=True),
    Column[_TwoJudges]("originals", lambda two: two.originals, figure, "rho over the originals"),
    Column[_TwoJudges]("damaged", lambda two: two.damaged, figure, "mean of rho over the kinds of damage"),
    Column[_TwoJudges](
        "lowest",
        lambda two: two.lowest and two.lowest[0],
        help="the kind of damage on which they agree least",
        words=lambda two: _rho_of_kind(two.lowest),
        right=False,
    ),
    Column[_TwoJudges](
        "highest",
        lambda two: two.highest and two.highest[0],
        help="the kind of damage on which they agree most",
        words=lambda two: _rho_of_kind(two.highest),
        right=False,
    ),
    Column[_TwoJudges](
        "mean score", lambda two: two.scores, help="of originals, and of damaged texts, by each judge"
    ),
)
_NORMAL = 1.959964
"""The normal quantile of a two-sided interval of 95 %."""
_MEANING = (
    "Pearson's rho of two judges over texts, each score the mean over the metrics: over the originals, mean "
    "over the kinds of damage, and the kinds on which they agree least and most. How far two judges agree "
    "depends on the texts and on how they use the scale; it says nothing of what they see."
)


def agreement_table(comparison: DatasetComparison) -> Table[_TwoJudges]:
    """A row for each two judges."""
    title = (
        f"{comparison.dataset}: agreement of judges with each other, Pearson's rho over texts, before and "
        "after damage"
    )
    places = range(len(comparison.names))
    rows = [_two_judges(comparison, first, second) for first, second in combinations(places, 2)]
    return Table(title, _COLUMNS, rows, titled=False)


def agreement_parts(comparison: DatasetComparison) -> list[Part]:
    """How far every two judges agree, and what that means."""
    return [agreement_table(comparison), Note(f"{_MEANING} {by_chance(comparison.n)}")]


def _two_judges(comparison: DatasetComparison, i: int, j: int) -> _TwoJudges:
    styles = comparison.styles
    names = [printable(comparison.names[place]) for place in (i, j)]
    scores = []
    for place in (i, j):
        originals = _defined(styles.mean[0][place])
        damaged = _defined(styles.mean_damaged[place])
        scores.append(f"{figure(originals)} → {figure(damaged)}")
    low, high = _ends(comparison, i, j)
    return _TwoJudges(
        ", ".join(names),
        _defined(styles.rho[0, i, j]),
        _defined(styles.damaged[i, j]),
        low,
        high,
        ", ".join(scores),
    )


def _ends(
    comparison: DatasetComparison, i: int, j: int
) -> tuple[tuple[float, str] | None, tuple[float, str] | None]:
    """The kinds of damage on which two judges agree least and most."""
    # A value for each kind of damage: `rho` has shape (variants, judges, judges), the originals first.
    rho = comparison.styles.rho[1:, i, j]
    # `nanargmin` would raise an error.
    if np.isnan(rho).all():
        return None, None
    low, high = int(np.nanargmin(rho)), int(np.nanargmax(rho))
    kinds = comparison.styles.variants[1:]
    return (float(rho[low]), variant_name(kinds[low])), (float(rho[high]), variant_name(kinds[high]))


def by_chance(n: int) -> str:
    """How far rho of unrelated judges strays from 0, by Fisher's transformation; empty for few texts."""
    # The standard error below is defined for four texts or more.
    if n < 4:
        return ""
    # The transformed rho, artanh(rho), has a standard error of 1 / sqrt(n - 3).
    reach = math.tanh(_NORMAL / math.sqrt(n - 3))
    return f"Of two judges that have nothing in common, 95 % of rho on {n} texts lie within ±{reach:.2f}."


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
