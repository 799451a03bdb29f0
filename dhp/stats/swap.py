"""Comparison and non-inferiority of two judges by label swaps.

If two judges are equally good, it does not matter whose answers an example has. So the labels of the two
are swapped at random, example by example or cluster by cluster, and the observed difference is held
against those that arise (Fisher 1935; Noreen 1989, approximate randomisation). Detection by one metric is
a mean over examples, and a swap turns the sign of an example's share, which is exact; for several metrics
see below. AUROC and the standardised drop are swapped by their pseudo-values (what an example adds to the
figure), which holds for large samples, also for judges with scales of their own.

Detection of a kind is that of the metric that sees the damage best, and which one that is depends on all
examples. So a swap of the labels of some examples moves more than their own shares. How much more is found
by some swaps after which the figures are computed anew; what the examples add is widened by as much, so
that cheap sign flips of it hold their level.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import (
    Floats,
    Ints,
    checked_table,
    cluster_index,
    cluster_sums,
    flip_p,
    flipped_sums,
    level_shares,
    sign_flips,
)
from dhp.stats.defaults import RESAMPLES
from dhp.stats.detection import FEWEST_PAIRS, averaged_kinds, detection, metric_choice, normalised
from dhp.stats.influences import Influences, difference, student_interval, wilson_interval

ALPHA = 0.05
"""Error of comparisons, of all figures that are read together."""


@dataclass(frozen=True, slots=True)
class Swapped:
    """Two judges compared by K figures; NaN if undefined."""

    difference: Floats
    """The figure of the first less that of the second, shape (K,)."""
    low: Floats
    """Lower confidence limit of the difference; all figures compared together hold at 95 %."""
    high: Floats
    """Upper confidence limit."""
    p: Floats
    """Two-sided; at least 1 / (resamples + 1) if not exact."""
    exact: bool
    """Whether every swap was counted out."""
    p_adjusted: Floats
    """`p`, adjusted over all figures that were compared together; the interval excludes 0 if it is 0.05 or
    less, and nowhere else."""


@dataclass(frozen=True, slots=True)
class NonInferiority:
    """Whether a new judge is worse than an old one by more than a margin, for K figures."""

    difference: Floats
    """New less old, shape (K,)."""
    error: Floats
    """Standard error of the difference, shape (K,)."""
    p_inferior: Floats
    """One-sided p-value of the hypothesis that it is worse by at most the margin; small if it is worse by
    more."""
    p_noninferior: Floats
    """One-sided p-value of the hypothesis that it is worse by the margin or more; small if it is not."""


def swap(
    first: Influences,
    second: Influences,
    rng: np.random.Generator,
    clusters: npt.ArrayLike | None = None,
    *,
    resamples: int = RESAMPLES,
    bounds: tuple[float, float] | None = (-1.0, 1.0),
) -> Swapped:
    """Compare two judges by figures of the same examples, against either direction.

    Parameters
    ----------
    first, second : of shape (K,)
        Figures of the two judges on the same pairs of scores: a pair that one lacks must be NaN for both.
    rng
        The only source of randomness.
    clusters : shape (n,), optional
        Integers; examples with the same one are swapped together.
    resamples
        Random swaps; all of them are counted out instead if they are no more.
    bounds
        Of a difference, as for `wilson_interval`; None for a figure without bounds, which has Student's.

    Raises
    ------
    ValueError
        If the shapes differ or a parameter is out of range.
    """
    (swapped,) = swap_together([(first, second)], rng, clusters, resamples=resamples, bounds=bounds)
    return swapped


def swap_together(
    judges: Iterable[tuple[Influences, Influences]],
    rng: np.random.Generator,
    clusters: npt.ArrayLike | None = None,
    *,
    resamples: int = RESAMPLES,
    bounds: tuple[float, float] | None = (-1.0, 1.0),
) -> list[Swapped]:
    """Compare pairs of judges by figures that are read together.

    The labels of all pairs are swapped in the same examples. A swapped difference is taken in units of its
    standard deviation under swaps, and p is adjusted by the largest of all figures and pairs (Westfall and
    Young 1993, single step): at most 5 % of runs of equal judges have any figure at 0.05 or less. The
    intervals have the error that each figure has at that largest value, so that they hold together, and end
    at 0 if interval and test would not agree. Parameters and errors as for `swap`.
    """
    compared = [_shares(first, second, clusters)[:2] for first, second in judges]
    signs, exact = sign_flips(len(compared[0][1]), resamples, rng)
    sizes = [np.abs(_in_units(shares.sum(axis=0, keepdims=True), shares))[0] for _, shares in compared]
    largest, p = np.zeros(len(signs)), []
    for (_, shares), size in zip(compared, sizes, strict=True):
        flipped = np.abs(_in_units(flipped_sums(signs, shares), shares))
        p.append(flip_p(size, flipped, exact))
        largest = np.fmax(largest, np.nan_to_num(flipped).max(axis=1))
    adjusted = [flip_p(size, largest[:, None], exact) for size in sizes]
    error = _error_of_each([shares for _, shares in compared], signs, largest)
    return [
        _with_limits(apart, each, together, error, clusters, bounds, exact=exact)
        for (apart, _), each, together in zip(compared, p, adjusted, strict=True)
    ]


def _in_units(sums: Floats, shares: Floats) -> Floats:
    """Sums of signed shares (R, K) in standard deviations under swaps; 0 if no swap changes anything."""
    unit = np.sqrt((shares**2).sum(axis=0))
    return np.asarray(np.where(unit > 0, sums / np.where(unit > 0, unit, 1.0), 0.0))


def _error_of_each(shares: Sequence[Floats], signs: npt.NDArray[np.int8], largest: Floats) -> float:
    """How often a single figure lies, under swaps, beyond what the largest of all exceeds in 5 % of them."""
    line = np.quantile(largest, 1 - ALPHA)
    beyond = [np.abs(_in_units(flipped_sums(signs, each), each)) > line for each in shares]
    some = [(each**2).sum(axis=0) > 0 for each in shares]
    counted = np.concatenate(
        [each[:, counts].mean(axis=0) for each, counts in zip(beyond, some, strict=True)]
    )
    return min(max(float(counted.mean()), 1 / (len(signs) + 1)), ALPHA) if counted.size else ALPHA


def _with_limits(
    apart: Influences,
    p: Floats,
    adjusted: Floats,
    error: float,
    clusters: npt.ArrayLike | None,
    bounds: tuple[float, float] | None,
    *,
    exact: bool,
) -> Swapped:
    if bounds is None:
        low, high = student_interval(apart, clusters, 1 - error)
    else:
        low, high = wilson_interval(apart, clusters, 1 - error, bounds=bounds)
    p, adjusted = (np.where(np.isnan(apart.value), np.nan, each) for each in (p, adjusted))
    differs, up = adjusted <= ALPHA, apart.value > 0
    low = np.where(differs & up, np.fmax(low, 0.0), np.where(differs, low, np.fmin(low, 0.0)))
    high = np.where(differs & ~up, np.fmin(high, 0.0), np.where(differs, high, np.fmax(high, 0.0)))
    low, high = (np.where(np.isnan(apart.value), np.nan, each) for each in (low, high))
    return Swapped(apart.value, low, high, p, exact, adjusted)


def noninferiority(
    new: Influences,
    old: Influences,
    margin: float,
    rng: np.random.Generator,
    clusters: npt.ArrayLike | None = None,
    *,
    resamples: int = RESAMPLES,
) -> NonInferiority:
    """Test by sign flips whether a new judge is worse than an old one by more than a margin.

    At the edge of the hypothesis the differences of examples plus the margin are symmetric around 0, so
    their signs are flipped. Parameters and errors as for `swap`; the margin is at least 0, in units of the
    figure: 0.05 for five points of detection.
    """
    if not margin >= 0:
        raise ValueError(f"margin must be at least 0, not {margin}")
    apart, shares, part = _shares(new, old, clusters)
    signs, exact = sign_flips(len(shares), resamples, rng)
    above = shares + margin * part
    flipped = flipped_sums(signs, above)
    observed = np.where(np.isnan(apart.value), np.nan, above.sum(axis=0))
    error = np.sqrt(apart.variance(clusters)[0])
    worse, no_worse = flip_p(-observed, -flipped, exact), flip_p(observed, flipped, exact)
    return NonInferiority(apart.value, error, worse, no_worse)


def _shares(
    first: Influences, second: Influences, clusters: npt.ArrayLike | None
) -> tuple[Influences, Floats, Floats]:
    """The difference, what each cluster adds to it, and the share of the examples that each is."""
    if first.value.ndim != 1 or first.influence.shape != second.influence.shape:
        raise ValueError(
            "the judges must have figures of one shape (K,) on the same examples, "
            f"not {first.influence.shape} and {second.influence.shape}"
        )
    apart = difference(first, second)
    index = cluster_index(clusters, len(apart.influence))
    part = cluster_sums(apart.defined.astype(np.float64), index) / np.maximum(apart.defined.sum(axis=0), 1)
    return apart, cluster_sums(apart.influence, index) + np.nan_to_num(apart.value) * part, part


_SWAPS = 256
"""After which the figures are computed anew, always the same: their standard deviation is known to 4 %."""
_AT_ONCE = 1 << 17
"""Weights of metrics, few enough for the cache of a processor."""


def detection_pairs(
    judges: Sequence[npt.ArrayLike],
    levels: Sequence[str],
    clusters: npt.ArrayLike | None = None,
) -> Iterator[tuple[Influences, Influences]]:
    """Detection of every pair of judges over all kinds of damage, then of each kind: 1 + V figures.

    Parameters
    ----------
    judges : each of shape (n, V, M)
        Original minus degraded of two judges or more, NaN if one of them lacks a score.
    levels : V names
        The level of each kind of damage; those with five pairs or more count in the mean.
    clusters : shape (n,), optional
        Integers; examples with the same one belong together.

    Yields
    ------
    Of each judge of a pair, shape (1 + V,), with influences that are widened as said above; pairs in order.

    Raises
    ------
    ValueError
        If the shapes differ, or a judge has a score that the other lacks.
    """
    tables = [checked_table(judge) for judge in judges]
    missing = np.isnan(tables[0])
    if any(x.shape != missing.shape or (np.isnan(x) != missing).any() for x in tables):
        raise ValueError("the judges must have differences of one shape that are NaN in the same places")
    counted = np.asarray((~missing).sum(axis=0).max(axis=1) >= FEWEST_PAIRS)
    detections = []
    for x in tables:
        detected = detection(x, levels, clusters)
        figures = averaged_kinds(detected.seen, levels, counted, each=True)
        detections.append(replace(figures, value=np.append(detected.average[0], detected.value)))
    index = cluster_index(clusters, len(missing))
    signs, _ = sign_flips(int(index.max()) + 1, _SWAPS, np.random.default_rng(0))
    _, shares = level_shares(levels, counted)
    for (x, one), (y, other) in combinations(zip(tables, detections, strict=True), 2):
        if missing.shape[2] == 1:
            yield one, other
            continue
        kinds = np.stack([_swapped(x[:, v], y[:, v], index, signs) for v in range(counted.size)], axis=1)
        overall = np.where(counted, kinds * shares[-1], 0.0).sum(axis=1, keepdims=True)
        yield _widened(one, other, np.concatenate([overall, kinds], axis=1), index)


def _widened(
    one: Influences, other: Influences, swapped: Floats, index: Ints
) -> tuple[Influences, Influences]:
    """Two judges whose influences vary as much as their difference under swaps, shape (R, 1 + V)."""
    apart = difference(one, other)
    part = cluster_sums(apart.defined.astype(np.float64), index) / np.maximum(apart.defined.sum(axis=0), 1)
    flipped = ((cluster_sums(apart.influence, index) + apart.value * part) ** 2).sum(axis=0)
    varied = (swapped**2).mean(axis=0)
    wider = np.sqrt(np.where(flipped > 0, varied / np.where(flipped > 0, flipped, 1.0), 1.0))
    return replace(one, influence=one.influence * wider), replace(other, influence=other.influence * wider)


def _swapped(first: Floats, second: Floats, index: Ints, signs: npt.NDArray[np.int8]) -> Floats:
    """The difference in one kind of damage, from differences (n, M), under sign patterns (R, G); shape (R,).

    What an example is worth follows from what it says, what its cluster says and what all say; so it is
    computed once for all examples that agree in the first two.
    """
    defined = ~np.isnan(first)
    pairs = defined.any(axis=1)
    says = [np.where(defined, np.sign(x), 0.0) for x in (first, second)]
    sums = [np.hstack([cluster_sums(s, index), cluster_sums(s**2, index)]) for s in says]
    size = cluster_sums(defined.astype(np.float64), index)
    rows = [np.hstack([s, defined, mine[index], size[index]]) for s, mine in zip(says, sums, strict=True)]
    distinct, which = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
    counts = np.zeros((2, len(size), len(distinct)))
    for judge, each in enumerate(which.reshape(2, -1)):
        np.add.at(counts[judge], (index, each), pairs.astype(np.float64))
    swapped_values = []
    most = max(1, _AT_ONCE // distinct.size)
    for start in range(0, len(signs), most):
        swaps = (signs[start : start + most] < 0).astype(np.float64)
        values = []
        for mine, other in ((0, 1), (1, 0)):
            totals = sums[mine].sum(axis=0) + swaps @ (sums[other] - sums[mine])
            times = counts[mine].sum(axis=0) + swaps @ (counts[other] - counts[mine])
            value = (_worth(distinct, totals, size) * times).sum(axis=1) / max(int(pairs.sum()), 1)
            by_metric = _by_metric(totals, size.sum(axis=0))
            values.append(np.clip(value, by_metric.min(axis=1), by_metric.max(axis=1)))
        swapped_values.append(values[0] - values[1])
    return np.concatenate(swapped_values)


def _worth(distinct: Floats, totals: Floats, size: Floats) -> Floats:
    """The value of each distinct example (U, 5 M) under totals of signs and moves (R, 2 M); shape (R, U)."""
    m = size.shape[1]
    # With the metrics, which are few, outermost in memory this takes half as long.
    distinct, totals = np.asfortranarray(distinct), np.asfortranarray(totals)
    says, defined, sums, own_moved, own_size = (distinct[:, k * m : (k + 1) * m] for k in range(5))
    signs, moved = totals[:, None, :m], totals[:, None, m:]
    groups = max(int(size.any(axis=1).sum()), 1)
    weights = metric_choice(signs - sums, moved - own_moved, size.sum(axis=0) - own_size, groups)
    return np.asarray(((1 + says) / 2 * normalised(weights, defined > 0)).sum(axis=2))


def _by_metric(totals: Floats, size: Floats) -> Floats:
    """Detection by each metric that has a pair under totals (R, 2 M) of signs and moves; 0 without any."""
    signs = totals[:, : size.size][:, size > 0]
    return (1 + signs / size[size > 0]) / 2 if signs.size else np.zeros((len(totals), 1))
