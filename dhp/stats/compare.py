"""Comparison of judges on the same examples, overall and by variant, by label swaps.

Two judges that rated the same texts would be alike if their labels could be swapped text by text: p is the
share of random swaps that set them as far apart.

`compare` gives one `Comparison` a quantity: figures of the judges with their limits, every pair of judges
swapped, and groups that do not differ. `compare_variants` swaps the pairs in each kind of damage. Both first
leave out what one of the judges lacks (`in_common`).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats, checked_table, level_shares
from dhp.stats.bounds import mean_interval
from dhp.stats.defaults import RESAMPLES
from dhp.stats.detection import FEWEST_PAIRS, detection
from dhp.stats.discernment import holm
from dhp.stats.influences import Influences, student_interval, weighted, wilson_interval
from dhp.stats.swap import ALPHA, Swapped, swap, swap_together
from dhp.stats.swap_detection import detection_pairs
from dhp.stats.unpaired import auroc_influences, standardised_drop_influences
from dhp.stats.wilcoxon import average_ranks

_OVERALL, _KINDS = slice(1), slice(1, None)
"""Places of the figures of `detection_pairs`: over all kinds of damage, then of each kind."""
QUANTITIES = ("detection", "auroc", "standardised_drop")
SWAPS_PER_PAIR = 40
"""Random swaps that are needed for each pair of judges, so that any can differ: p is at least
1 / (resamples + 1), Holm multiplies it by the number of pairs, and 1 / 40 is below 0.05."""


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
        if not self.differs:
            return 0
        return 1 if self.difference > 0 else -1


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

    A pair counts if it has a difference; that is 0 if the judge left a text of the pair unread.
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
        Figures of the same examples, as `dhp.stats.pass_mark.shares_at_mark` makes them: a text that one
        judge lacks is NaN for all.
    rng, clusters, resamples
        As for `compare`.
    bounds
        Smallest and largest possible difference.

    Raises
    ------
    ValueError
        If the shapes differ or a parameter is out of range.
    """
    figures = []
    for judge in judges:
        low, high = mean_interval(judge, clusters)
        figures.append([judge.value[0], low[0], high[0]])
    swapped = []
    for one, other in combinations(judges, 2):
        swapped.append(swap(one, other, rng, clusters, resamples=resamples, bounds=bounds))
    return _compared(np.array(figures), swapped)


def _detected(
    judges: Sequence[JudgeScores], levels: Sequence[str], clusters: npt.ArrayLike | None
) -> Iterator[tuple[Influences, Influences]]:
    """Detection of every pair of judges, as `detection_pairs`."""
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
    for one, other in pairs or _detected(judges, levels, clusters):
        swapped.append(swap(one.part(_OVERALL), other.part(_OVERALL), rng, clusters, resamples=resamples))
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
    averages: list[Influences] = []
    figures = []
    for judge in judges:
        counted = ~np.isnan(judge.differences)
        if quantity == "auroc":
            average = _averaged(auroc_influences(judge.original, judge.degraded, counted), levels)
            low, high = wilson_interval(average, clusters)
        else:
            average = _averaged(standardised_drop_influences(judge.original, judge.degraded, counted), levels)
            low, high = student_interval(average, clusters)
        averages.append(average)
        figures.append([average.value[0], low[0], high[0]])
    bounds = (-1.0, 1.0) if quantity == "auroc" else None
    swapped = []
    for one, other in combinations(averages, 2):
        swapped.append(swap(one, other, rng, clusters, resamples=resamples, bounds=bounds))
        on_pair()
    return _compared(np.array(figures), swapped)


def _averaged(tests: Influences, levels: Sequence[str]) -> Influences:
    """The mean over levels, of the variants in which every metric has a pair; shape (1,)."""
    _, shares = level_shares(levels, np.all(tests.defined.any(axis=0), axis=1))
    metrics = tests.value.shape[1]
    return weighted(tests, np.repeat(shares[-1:, :, None], metrics, axis=2) / metrics)


def in_common(judges: Sequence[JudgeScores]) -> list[JudgeScores]:
    """The scores without pairs that some judge lacks, and without variants that have fewer than five left."""
    lacking = np.any([np.isnan(checked_table(judge.differences)) for judge in judges], axis=0)
    few = (~lacking).sum(axis=0).max(axis=1) < FEWEST_PAIRS
    lacking |= few[:, None]  # NaN all over: such a variant takes no part in any mean
    common = []
    for judge in judges:
        degraded = np.where(lacking, np.nan, judge.degraded)
        differences = np.where(lacking, np.nan, judge.differences)
        common.append(JudgeScores(judge.original, degraded, differences))
    return common


def _compared(figures: Floats, swapped: Sequence[Swapped]) -> Comparison:
    """Comparison from figures with their limits, shape (K, 3), and the swaps of all pairs."""
    point, low, high = figures.T
    indices = combinations(range(point.size), 2)
    log_p = np.log(np.array([float(each.p[0]) for each in swapped]))
    pairs: list[Pair] = []
    for (i, j), each, adjusted in zip(indices, swapped, np.exp(holm(log_p)), strict=True):
        pairs.append(_pair(i, j, each, 0, float(adjusted), float(point[j] - point[i])))
    apart: list[tuple[int, int]] = []
    better, worse = np.zeros(point.size), np.zeros(point.size)  # how many judges are, of each
    for pair in pairs:
        if not pair.differs:
            continue
        apart.append((pair.first, pair.second))
        winner, loser = pair.second, pair.first
        if point[pair.first] > point[pair.second]:
            winner, loser = pair.first, pair.second
        better[loser] += 1
        worse[winner] += 1
    defined = ~np.isnan(point)
    return Comparison(
        point=point,
        low=low,
        high=high,
        rank=np.where(defined, average_ranks(-point), np.nan),
        rank_low=np.where(defined, 1 + better, np.nan),
        rank_high=np.where(defined, defined.sum() - worse, np.nan),
        pairs=tuple(pairs),
        groups=_groups(point, apart),
    )


def _pair(i: int, j: int, swapped: Swapped, figure: int, p_adjusted: float, difference: float) -> Pair:
    """Two judges by one of the figures that were swapped.

    A `Swapped` is of the first judge less the second, and a `Pair` of the second less the first: the limits
    change their sign and their places. Adding 0.0 makes 0.0 of -0.0.
    """
    low, high = -float(swapped.high[figure]), -float(swapped.low[figure])
    return Pair(i, j, difference + 0.0, low + 0.0, high + 0.0, float(swapped.p[figure]), p_adjusted)


def _groups(point: Floats, told_apart: Sequence[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """The largest sets of judges of which no two are told apart, by inserting and absorbing (Piepho 2004).

    Begin with one set of all. At each pair that is told apart, split every set that holds both, and drop
    what lies within another set.
    """
    order: list[int] = []  # the best first
    for i in np.argsort(-point, kind="stable"):
        if not np.isnan(point[i]):
            order.append(int(i))
    sets = [frozenset(order)] if order else []
    for pair in told_apart:
        kept: list[frozenset[int]] = []
        split: list[frozenset[int]] = []
        for members in sets:
            if members.issuperset(pair):
                split += [members - {pair[0]}, members - {pair[1]}]
            else:
                kept.append(members)
        sets = kept
        for new in split:
            # A subset of another set says nothing more: its letter would stand beside that one in each judge.
            if not any(new <= other for other in sets):
                sets.append(new)
    # From the best to the worst: members within a set, and sets by their members.
    groups = sorted(sorted(map(order.index, members)) for members in sets)
    return tuple(tuple(order[place] for place in places) for places in groups)


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
    v = judges[0].differences.shape[1]
    known = pairs or _detected(in_common(judges), ["all"] * v, clusters)
    kinds = [(one.part(_KINDS), other.part(_KINDS)) for one, other in known]
    swapped = swap_together(kinds, rng, clusters, resamples=resamples)
    indices = list(combinations(range(len(judges)), 2))
    compared: list[tuple[Pair, ...]] = []
    for kind in range(v):
        of_kind = []
        for (i, j), each in zip(indices, swapped, strict=True):
            p_adjusted, difference = float(each.p_adjusted[kind]), -float(each.difference[kind])
            of_kind.append(_pair(i, j, each, kind, p_adjusted, difference))
        compared.append(tuple(of_kind))
    return compared
