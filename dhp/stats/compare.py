"""Comparison of judges on the same examples, overall and by variant, by label swaps.

Two judges that rated the same texts would be alike if their labels could be swapped text by text: p is the
share of random swaps that set them as far apart.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats, checked_table, level_shares
from dhp.stats.bounds import mean_interval
from dhp.stats.defaults import RESAMPLES
from dhp.stats.detection import FEWEST_PAIRS, detection
from dhp.stats.discernment import holm
from dhp.stats.influences import (
    Influences,
    auroc_influences,
    standardised_drop_influences,
    student_interval,
    weighted,
    wilson_interval,
)
from dhp.stats.swap import ALPHA, Swapped, swap, swap_together
from dhp.stats.swap_detection import detection_pairs
from dhp.stats.wilcoxon import average_ranks

T = TypeVar("T")
_OVERALL, _KINDS = slice(1), slice(1, None)
"""Places of the figures of `detection_pairs`."""
QUANTITIES = ("detection", "auroc", "standardised_drop")
SWAPS_PER_PAIR = 40
"""p is at least 1 / (resamples + 1), Holm multiplies it by the number of pairs, and 1 / 40 is below 0.05."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two judges compared; NaN if undefined."""

    first: int
    """Index of the judge."""
    second: int
    """Index of the other."""
    difference: float
    """The figure of the second less that of the first."""
    low: float
    """Lower 95 % confidence limit; of kinds of damage all hold together."""
    high: float
    """Upper confidence limit."""
    p: float
    """Two-sided, by label swaps; at least 1 / (resamples + 1)."""
    p_adjusted: float
    """Adjusted over all pairs of judges (Holm 1979), of kinds over all pairs and kinds (`swap_together`)."""

    @property
    def differs(self) -> bool:
        """Whether the judges differ significantly."""
        return self.p_adjusted <= ALPHA

    @property
    def direction(self) -> int:
        """1 if the second judge has significantly more, -1 if it has less, else 0."""
        return 0 if not self.differs else 1 if self.difference > 0 else -1


@dataclass(frozen=True, slots=True)
class Comparison:
    """K judges compared by one figure, on the pairs of scores that all of them have; NaN if undefined."""

    point: Floats
    """Figures of the judges, shape (K,)."""
    low: Floats
    """Lower confidence limits of the judges, shape (K,)."""
    high: Floats
    """Upper confidence limits of the judges, shape (K,)."""
    rank: Floats
    """Ranks, shape (K,); 1 is the highest figure, and equal figures share the mean rank."""
    rank_low: Floats
    """1 + the number of judges that are significantly better, by `p_adjusted`."""
    rank_high: Floats
    """K - the number of judges that are significantly worse."""
    pairs: tuple[Pair, ...]
    """Comparison of every pair of judges, in order."""
    groups: tuple[tuple[int, ...], ...]
    """Largest sets of judges of which no two differ significantly (Piepho 2004), the best first; two judges
    differ if no group holds both. Judges without a figure are in none."""


@dataclass(frozen=True, slots=True)
class JudgeScores:
    """What a judge said of n examples, V variants and M metrics; NaN if a score is missing.

    A pair counts where it has a difference; it is 0 where the judge left a text of the pair unread.
    """

    original: Floats
    """Scores of the originals, shape (n, M)."""
    degraded: Floats
    """Shape (n, V, M)."""
    differences: Floats
    """Original minus degraded score on its exact grid, shape (n, V, M)."""


def compare(
    judges: Sequence[JudgeScores],
    levels: Sequence[str],
    rng: np.random.Generator,
    *,
    clusters: npt.ArrayLike | None = None,
    quantities: Collection[str] = QUANTITIES,
    resamples: int = RESAMPLES,
    pairs: Iterable[tuple[Influences, Influences]] | None = None,
    on_pair: Callable[[], object] = lambda: None,
) -> dict[str, Comparison]:
    """Compare two or more judges by detection, AUROC and standardised drop.

    Each figure is the mean over levels of the mean over the variants of a level. That of detection is
    `Detection.average`, by the metric that sees each kind of damage best; in AUROC and standardised drop all
    metrics weigh the same. See `in_common` for the pairs of scores that count. The null hypothesis of a pair
    of judges is that their labels may be swapped; see `dhp.stats.swap`.

    Parameters
    ----------
    judges
        Of the same examples, variants and metrics.
    levels : V names
        The level of each variant.
    rng, clusters
        The only source of randomness; and as for `dhp.stats.detection.detection`.
    quantities
        Some of `QUANTITIES`.
    resamples
        Random swaps.
    pairs
        `detection_pairs` of the judges on the pairs of scores that count, if these are known.
    on_pair
        Called after each pair of judges is compared by one of the quantities.

    Returns
    -------
    dict
        One `Comparison` for each quantity.

    Raises
    ------
    ValueError
        If there are fewer than two judges, shapes differ or a parameter is out of range.
    """
    shapes = {judge.differences.shape for judge in judges}
    if len(judges) < 2 or len(shapes) > 1:
        raise ValueError(f"judges must be two or more of one shape, not {len(judges)} of {sorted(shapes)}")
    common = in_common(judges)
    compared = {}
    for name in quantities:
        if name == "detection":
            compared[name] = _by_detection(common, pairs, levels, rng, clusters, resamples, on_pair)
        else:
            compared[name] = _by_tests(common, name, levels, rng, clusters, resamples, on_pair)
    return compared


def compare_shares(
    judges: Sequence[Influences],
    rng: np.random.Generator,
    *,
    clusters: npt.ArrayLike | None = None,
    resamples: int = RESAMPLES,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> Comparison:
    """Compare two or more judges by a share of the same texts, such as those that pass at a mark.

    Parameters
    ----------
    judges : each of shape (1,)
        Figures of the same examples, as of `dhp.stats.pass_mark.shares_at_mark`: a text that one judge lacks
        is NaN for all.
    rng, clusters, resamples
        As for `compare`.
    bounds
        Smallest and largest possible difference.

    Raises
    ------
    ValueError
        If the shapes differ or a parameter is out of range.
    """
    points = np.array([np.ravel([each.value, *mean_interval(each, clusters)]) for each in judges])
    swapped = [
        swap(one, other, rng, clusters, resamples=resamples, bounds=bounds)
        for one, other in combinations(judges, 2)
    ]
    return _compared(points, swapped)


def _detected(
    judges: Sequence[JudgeScores], levels: Sequence[str], clusters: npt.ArrayLike | None
) -> Iterator[tuple[Influences, Influences]]:
    return detection_pairs([judge.differences for judge in judges], levels, clusters)


def _by_detection(
    judges: Sequence[JudgeScores],
    pairs: Iterable[tuple[Influences, Influences]] | None,
    levels: Sequence[str],
    rng: np.random.Generator,
    clusters: npt.ArrayLike | None,
    resamples: int,
    on_pair: Callable[[], object],
) -> Comparison:
    averages = [detection(judge.differences, levels, clusters).average for judge in judges]
    swapped = []
    for both in pairs or _detected(judges, levels, clusters):
        one, other = (each.part(_OVERALL) for each in both)
        swapped.append(swap(one, other, rng, clusters, resamples=resamples))
        on_pair()
    return _compared(np.array(averages), swapped)


def _by_tests(
    judges: Sequence[JudgeScores],
    quantity: str,
    levels: Sequence[str],
    rng: np.random.Generator,
    clusters: npt.ArrayLike | None,
    resamples: int,
    on_pair: Callable[[], object],
) -> Comparison:
    """Comparison by AUROC or standardised drop, with equal weights of the metrics."""
    bounds = (-1.0, 1.0) if quantity == "auroc" else None
    of_tests = auroc_influences if quantity == "auroc" else standardised_drop_influences
    limits = wilson_interval if quantity == "auroc" else student_interval
    figures = [
        _averaged(of_tests(judge.original, judge.degraded, ~np.isnan(judge.differences)), levels)
        for judge in judges
    ]
    points = np.array([np.ravel([each.value, *limits(each, clusters)]) for each in figures])
    swapped = [
        swap(one, other, rng, clusters, resamples=resamples, bounds=bounds)
        for one, other in _pairs(figures, on_pair)
    ]
    return _compared(points, swapped)


def _averaged(tests: Influences, levels: Sequence[str]) -> Influences:
    """The mean over levels, over the variants of which every metric has a pair; shape (1,)."""
    _, shares = level_shares(levels, np.all(tests.defined.any(axis=0), axis=1))
    metrics = tests.value.shape[1]
    return weighted(tests, np.repeat(shares[-1:, :, None], metrics, axis=2) / metrics)


def _pairs(items: Sequence[T], on_pair: Callable[[], object]) -> Iterator[tuple[T, T]]:
    """Every pair once, in order; says after each that it is done with."""
    for pair in combinations(items, 2):
        yield pair
        on_pair()


def in_common(judges: Sequence[JudgeScores]) -> list[JudgeScores]:
    """The scores without pairs that some judge lacks, and without variants with fewer than five pairs
    left."""
    lacking = np.any([np.isnan(checked_table(judge.differences)) for judge in judges], axis=0)
    few = (~lacking).sum(axis=0).max(axis=1) < FEWEST_PAIRS
    lacking |= few[:, None]
    return [
        JudgeScores(
            judge.original,
            np.where(lacking, np.nan, judge.degraded),
            np.where(lacking, np.nan, judge.differences),
        )
        for judge in judges
    ]


def _compared(figures: Floats, swapped: Sequence[Swapped]) -> Comparison:
    """Comparison from figures with their limits, shape (K, 3), and the swaps of all pairs."""
    point, low, high = figures.T
    indices = list(combinations(range(point.size), 2))
    p = np.array([float(each.p[0]) for each in swapped])
    p_adjusted = np.exp(holm(np.log(p)))
    pairs = tuple(
        _pair(i, j, each, 0, float(adjusted), float(point[j] - point[i]))
        for (i, j), each, adjusted in zip(indices, swapped, p_adjusted, strict=True)
    )
    apart = [(pair.first, pair.second) for pair in pairs if pair.differs]
    better, worse = np.zeros(point.size), np.zeros(point.size)
    for i, j in apart:
        winner, loser = (i, j) if point[i] > point[j] else (j, i)
        better[loser] += 1
        worse[winner] += 1
    defined = ~np.isnan(point)
    return Comparison(
        point,
        low,
        high,
        np.where(defined, average_ranks(-point), np.nan),
        np.where(defined, 1 + better, np.nan),
        np.where(defined, defined.sum() - worse, np.nan),
        pairs,
        _groups(point, apart),
    )


def _pair(i: int, j: int, swapped: Swapped, figure: int, p_adjusted: float, difference: float) -> Pair:
    """Two judges by one of the figures that were swapped, as those are of the first less the second."""
    low, high = -float(swapped.high[figure]), -float(swapped.low[figure])
    return Pair(i, j, difference + 0.0, low + 0.0, high + 0.0, float(swapped.p[figure]), p_adjusted)


def _groups(point: Floats, told_apart: Sequence[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """Insert and absorb: split every set at each pair told apart, and drop splits within others."""
    order = [int(i) for i in np.argsort(-point, kind="stable") if not np.isnan(point[i])]
    sets = [frozenset(order)] if order else []
    for pair in told_apart:
        split: list[frozenset[int]] = []
        for both in (s for s in sets if s.issuperset(pair)):
            split += [both - {one} for one in pair]
        sets = [s for s in sets if not s.issuperset(pair)]
        for new in split:
            # A subset of another set says nothing more: its letter would stand beside that one in each judge.
            if not any(new <= s for s in sets):
                sets.append(new)
    # From the best to the worst: members within a set, and sets by their members.
    by_place = sorted(sorted(map(order.index, s)) for s in sets)
    return tuple(tuple(order[place] for place in places) for places in by_place)


def compare_variants(
    judges: Sequence[JudgeScores],
    rng: np.random.Generator,
    *,
    clusters: npt.ArrayLike | None = None,
    resamples: int = RESAMPLES,
    pairs: Iterable[tuple[Influences, Influences]] | None = None,
) -> list[tuple[Pair, ...]]:
    """Compare two or more judges by detection of each variant.

    Parameters
    ----------
    judges
        Of the same examples, variants and metrics; see `in_common` for the pairs of scores that count.
    rng
        The only source of randomness.
    clusters
        As for `dhp.stats.detection.detection`.
    resamples
        Random swaps, at least 1.
    pairs
        As for `compare`.

    Returns
    -------
    list
        For each variant every pair of judges once, in order; `p_adjusted` and the limits are those of
        `swap_together` over all of these.

    Raises
    ------
    ValueError
        If shapes differ or a parameter is out of range.
    """
    v, indices = judges[0].differences.shape[1], list(combinations(range(len(judges)), 2))
    known = pairs or _detected(in_common(judges), ["all"] * v, clusters)
    kinds = [(one.part(_KINDS), other.part(_KINDS)) for one, other in known]
    swapped = swap_together(kinds, rng, clusters, resamples=resamples)
    compared: list[tuple[Pair, ...]] = []
    for kind in range(v):
        of_kind = []
        for (i, j), each in zip(indices, swapped, strict=True):
            p_adjusted, difference = float(each.p_adjusted[kind]), -float(each.difference[kind])
            of_kind.append(_pair(i, j, each, kind, p_adjusted, difference))
        compared.append(tuple(of_kind))
    return compared
