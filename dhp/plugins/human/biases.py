"""Biases behind agreement with humans: overlap with the reference, and self-preference."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dhp.core.errors import InputError, suggest
from dhp.plugins.human.correlation import FEWEST
from dhp.plugins.human.scores import Scores, human_scores, in_all, mean_over, scores_by_judge
from dhp.stats.arrays import Bools, Floats

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd


@dataclass(frozen=True, slots=True)
class PartialCorrelation:
    """A judge's correlation with human scores, and what is left of it beside another judge."""

    judge: str
    metric: str
    n: int
    """Number of items that humans and both judges scored."""
    plain: float | None
    """Pearson's correlation over all items; None where undefined."""
    partial: float | None
    """The partial correlation, the other judge's scores held constant."""
    ci: tuple[float, float] | None
    """95 % bootstrap percentile interval of `partial`, over sources."""


def partial_correlations(
    ratings: "str | Path | pd.DataFrame",
    human: "str | Path | pd.DataFrame",
    control: str,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> list[PartialCorrelation]:
    """How each judge agrees with humans beyond what a further judge explains, such as `metric/rouge1`.

    Where human scores derive from the reference, overlap with it is part of them: a judge that sees the
    reference may agree by that alone.

    Parameters
    ----------
    ratings, human
        As in `dhp.plugins.human.agreement.correlate`.
    control
        Name of the judge that is held constant.
    resamples, seed
        Of the sources, for intervals; 0 resamples for none.

    Raises
    ------
    InputError
        For a broken table, or a judge that is not there.
    """
    people, rated = human_scores(human), scores_by_judge(ratings)
    if control not in rated:
        raise InputError(f"ratings: no judge '{control}'; {suggest(control, rated)}")
    found = []
    for name, metrics in rated.items():
        if name == control:
            continue
        for metric, truth in people.items():
            scores, held = _of(metrics, metric), _of(rated[control], metric)
            if scores is None or held is None:
                continue
            h, j, o, sources, _ = _shared(truth, scores, held)
            found.append(_partial(name, metric, np.stack([h, j, o]), sources, resamples, seed))
    return found


def _partial(
    name: str, metric: str, sides: Floats, sources: npt.NDArray[np.intp], resamples: int, seed: int
) -> PartialCorrelation:
    plain, partial = _both(sides)
    rng, drawn = np.random.default_rng(seed), []
    _, source_index = np.unique(sources, return_inverse=True)
    rows = [np.flatnonzero(source_index == s) for s in range(source_index.max(initial=-1) + 1)]
    for _ in range(resamples if partial is not None else 0):
        chosen = np.concatenate([rows[s] for s in rng.integers(0, len(rows), len(rows))])
        value = _both(sides[:, chosen])[1]
        drawn += [] if value is None else [value]
    ends = np.quantile(drawn, [0.025, 0.975]) if drawn else None
    ci = None if ends is None else (float(ends[0]), float(ends[1]))
    return PartialCorrelation(name, metric, sides.shape[1], plain, partial, ci)


def _both(sides: Floats) -> tuple[float | None, float | None]:
    """Plain and partial correlation of rows 0 and 1, row 2 held constant."""
    if sides.shape[1] < FEWEST or (np.ptp(sides[:2], axis=1) == 0).any():
        return None, None
    plain = float(np.asarray(np.corrcoef(sides[:2]))[0, 1])
    if np.ptp(sides[2]) == 0:
        return plain, plain
    r: Floats = np.asarray(np.corrcoef(sides))
    spread = (1 - r[0, 2] ** 2) * (1 - r[1, 2] ** 2)
    return plain, float((r[0, 1] - r[0, 2] * r[1, 2]) / math.sqrt(spread)) if spread > 1e-12 else None


@dataclass(frozen=True, slots=True)
class SelfPreference:
    """How much better a judge rates its own family's texts than humans do, against those of others."""

    judge: str
    metric: str
    systems: tuple[str, ...]
    """Names of the systems of the judge's family."""
    own: int
    """Number of items of these systems."""
    others: int
    preference: float
    """Standardised judge less standardised human score, own texts less others, in standard deviations."""
    ci: tuple[float, float] | None
    """95 % bootstrap percentile interval, over sources."""


def self_preference(
    ratings: "str | Path | pd.DataFrame",
    human: "str | Path | pd.DataFrame",
    family: str,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> list[SelfPreference]:
    """Self-preference of the judges of a family, on the items that humans scored too.

    Parameters
    ----------
    ratings, human
        As in `dhp.plugins.human.agreement.correlate`.
    family
        Part of the names of its judges and of its systems, such as `gpt`; case does not matter.
    resamples, seed
        As in `partial_correlations`.

    Raises
    ------
    InputError
        For a broken table, a family without a judge or without a system, or with all systems.
    """
    people, rated = human_scores(human), scores_by_judge(ratings)
    own = {name: metrics for name, metrics in rated.items() if family.lower() in name.lower()}
    if not own:
        raise InputError(
            f"ratings: no judge's name has '{family}' in it; allowed: a part of {', '.join(rated)}"
        )
    found = []
    for name, metrics in own.items():
        for metric, truth in people.items():
            scores = _of(metrics, metric)
            if scores is None:
                continue
            h, j, _, sources, systems = _shared(truth, scores, scores)
            mine = np.array([family.lower() in system.lower() for system in systems], dtype=bool)
            if not mine.any() or mine.all():
                which = "no" if not mine.any() else "every"
                names = ", ".join(dict.fromkeys(systems))
                raise InputError(f"ratings: {which} system's name has '{family}' in it: {names}")
            if np.ptp(h) > 0 and np.ptp(j) > 0:
                gap = (j - j.mean()) / j.std() - (h - h.mean()) / h.std()
                value, ci = _difference(gap, mine, sources, resamples, seed)
                named = tuple(dict.fromkeys(s for s, is_own in zip(systems, mine, strict=True) if is_own))
                found.append(
                    SelfPreference(name, metric, named, int(mine.sum()), int((~mine).sum()), value, ci)
                )
    return found


def _difference(
    gap: Floats, mine: Bools, sources: npt.NDArray[np.intp], resamples: int, seed: int
) -> tuple[float, tuple[float, float] | None]:
    _, source_index = np.unique(sources, return_inverse=True)
    sums = [
        np.bincount(source_index, weights=v, minlength=source_index.max() + 1)
        for v in (np.where(mine, gap, 0.0), np.where(mine, 0.0, gap), mine * 1.0, ~mine * 1.0)
    ]
    table = np.column_stack(sums)
    counts = np.random.default_rng(seed).multinomial(
        len(table), np.full(len(table), 1 / len(table)), resamples
    )
    total = table.sum(axis=0)
    drawn = counts @ table
    drawn = drawn[(drawn[:, 2:] > 0).all(axis=1)]
    value = float(total[0] / total[2] - total[1] / total[3])
    if not len(drawn):
        return value, None
    low, high = np.quantile(drawn[:, 0] / drawn[:, 2] - drawn[:, 1] / drawn[:, 3], [0.025, 0.975])
    return value, (float(low), float(high))


def _of(metrics: dict[str, Scores], metric: str) -> Scores | None:
    """The scores by a metric; those of a judge with an only metric go with any."""
    return metrics.get(metric) or (next(iter(metrics.values())) if len(metrics) == 1 else None)


def _shared(
    human: Scores, first: Scores, second: Scores
) -> tuple[Floats, Floats, Floats, npt.NDArray[np.intp], Sequence[str]]:
    """Mean scores of the items that all three have, the number of each item's source, and its system."""
    sources, systems = in_all(human, first, second)
    h, a, b = (mean_over(s.at(sources, systems)) for s in (human, first, second))
    there = ~(np.isnan(h) | np.isnan(a) | np.isnan(b))
    row, column = np.nonzero(there)
    return h[there], a[there], b[there], row, [systems[k] for k in column]
