"""Comparison and non-inferiority of two judges by label swaps.

If two judges are equally good, it does not matter whose answers an example has. So the labels of the two
are swapped at random, example by example or cluster by cluster, and the observed difference is held
against those that arise (Fisher 1935; Noreen 1989, approximate randomisation). Detection by one metric is
a mean over examples, and a swap turns the sign of an example's share, which is exact; for several metrics
see below. AUROC and the standardised drop are swapped by their pseudo-values (what an example adds to the
figure), which holds for large samples, also for judges with scales of their own. D is swapped after the
signed ranks within each judge.

Detection of a kind is that of the metric that sees the damage best, and which one that is depends on all
examples. So a swap of the labels of some examples moves more than their own shares. How much more is found
by some swaps after which the figures are computed anew; what the examples add is widened by as much, so
that cheap sign flips of it hold their level.
"""

from collections.abc import Iterator, Sequence
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
from dhp.stats.discernment import DEFAULT_COMBINATION, LOG_ALPHA, Combination, combined
from dhp.stats.influences import Influences, difference, student_interval, wilson_interval
from dhp.stats.wilcoxon import signed_ranks


@dataclass(frozen=True, slots=True)
class Swapped:
    """Two judges compared by K figures; NaN where undefined."""

    difference: Floats
    """The figure of the first less that of the second, shape (K,)."""
    low: Floats
    """Lower 95 % confidence limit of the difference, not from swapping; NaN where the figure has none."""
    high: Floats
    p: Floats
    """Two-sided; at least 1 / (resamples + 1) where not exact."""
    exact: bool
    """Whether every swap was counted out."""


@dataclass(frozen=True, slots=True)
class NonInferiority:
    """Whether a new judge is worse than an old one by more than a margin, for K figures."""

    difference: Floats
    """New less old, shape (K,)."""
    error: Floats
    """Standard error of the difference, shape (K,)."""
    p_inferior: Floats
    """One-sided p-value of the hypothesis that it is worse by at most the margin; small where it is worse by
    more."""
    p_noninferior: Floats
    """One-sided p-value of the hypothesis that it is worse by the margin or more; small where it is not."""


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
        Random swaps; all of them are counted out instead where they are no more.
    bounds
        Of a difference, as for `wilson_interval`; None for a figure without bounds, which has Student's.

    Raises
    ------
    ValueError
        If the shapes differ or a parameter is out of range.
    """
    apart, shares, _ = _shares(first, second, clusters)
    signs, exact = sign_flips(len(shares), resamples, rng)
    p = flip_p(np.abs(apart.value), np.abs(flipped_sums(signs, shares)), exact)
    if bounds is None:
        low, high = student_interval(apart, clusters)
    else:
        low, high = wilson_interval(apart, clusters, bounds=bounds)
    return Swapped(apart.value, low, high, p, exact)


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


def swap_discernment(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    levels: Sequence[str],
    rng: np.random.Generator,
    clusters: npt.ArrayLike | None = None,
    *,
    combination: Combination = DEFAULT_COMBINATION,
    resamples: int = 2000,
) -> Swapped:
    """Compare two judges by D_avg: signed ranks within each judge, swapped example by example.

    p-values of the swapped rank sums come from the normal distribution, with the variance given the ranks;
    the difference is that of D_avg so computed, close to that of the exact tests.

    Parameters
    ----------
    first, second : shape (n, V, M)
        Original minus degraded of the two judges, NaN where a score is missing.
    levels : V names
        The level of each variant.
    rng, clusters, resamples
        As for `swap`.
    combination
        Of the metrics' p-values, as for `combined`.

    Returns
    -------
    Swapped
        K = 1, without limits.

    Raises
    ------
    ValueError
        If the shapes differ or a parameter is out of range.
    """
    both = [checked_table(one) for one in (first, second)]
    if both[0].shape != both[1].shape:
        raise ValueError(f"the judges must have one shape, not {both[0].shape} and {both[1].shape}")
    missing = np.isnan(both[0]) | np.isnan(both[1])
    index = cluster_index(clusters, len(missing))
    ranks = [signed_ranks(np.where(missing, np.nan, one)) for one in both]
    signs, exact = sign_flips(int(index.max()) + 1, resamples, rng)
    if not exact:
        signs = np.vstack([np.ones((1, signs.shape[1]), dtype=np.int8), signs])
    by_cluster = [cluster_sums(r.reshape(len(r), -1), index) for r in ranks]
    sums = [(r, r**2) for r in by_cluster]
    _, shares = level_shares(levels, np.all(np.any(~missing, axis=0), axis=1))
    d = []
    for mine, other in (sums, sums[::-1]):
        total, squares = (
            ((a + b).sum(axis=0) + flipped_sums(signs, a - b)) / 2 for a, b in zip(mine, other, strict=True)
        )
        d.append(_d(total, squares, missing.shape[1:], combination) @ shares[-1])
    apart = (d[0] - d[1])[:, None]
    flipped, nan = np.abs(apart if exact else apart[1:]), np.full(1, np.nan)
    return Swapped(apart[0], nan, nan, flip_p(np.abs(apart[0]), flipped, exact), exact)


def _d(total: Floats, squares: Floats, shape: tuple[int, ...], combination: Combination) -> Floats:
    """D of each variant from signed rank sums and their null variances, shape (R, V * M); shape (R, V)."""
    from scipy.special import log_ndtr

    z = np.where(squares > 0, total / np.sqrt(np.where(squares > 0, squares, 1.0)), -np.inf)
    return combined(log_ndtr(-z).reshape(len(z), *shape), None, combination) / LOG_ALPHA + 0.0


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
    part = cluster_sums(apart.there.astype(np.float64), index) / np.maximum(apart.there.sum(axis=0), 1)
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
        Original minus degraded of two judges or more, NaN where one of them lacks a score.
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
    found = []
    for x in tables:
        own = detection(x, levels, clusters)
        figures = averaged_kinds(own.seen, levels, counted, each=True)
        found.append(replace(figures, value=np.append(own.average[0], own.value)))
    index = cluster_index(clusters, len(missing))
    signs, _ = sign_flips(int(index.max()) + 1, _SWAPS, np.random.default_rng(0))
    _, shares = level_shares(levels, counted)
    for (x, one), (y, other) in combinations(zip(tables, found, strict=True), 2):
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
    part = cluster_sums(apart.there.astype(np.float64), index) / np.maximum(apart.there.sum(axis=0), 1)
    flipped = ((cluster_sums(apart.influence, index) + apart.value * part) ** 2).sum(axis=0)
    varied = (swapped**2).mean(axis=0)
    wider = np.sqrt(np.where(flipped > 0, varied / np.where(flipped > 0, flipped, 1.0), 1.0))
    return replace(one, influence=one.influence * wider), replace(other, influence=other.influence * wider)


def _swapped(first: Floats, second: Floats, index: Ints, signs: npt.NDArray[np.int8]) -> Floats:
    """The difference in one kind of damage, from differences (n, M), under sign patterns (R, G); shape (R,).

    What an example is worth follows from what it says, what its cluster says and what all say; so it is
    computed once for all examples that agree in the first two.
    """
    there = ~np.isnan(first)
    pairs = there.any(axis=1)
    says = [np.where(there, np.sign(x), 0.0) for x in (first, second)]
    own = [np.hstack([cluster_sums(s, index), cluster_sums(s**2, index)]) for s in says]
    size = cluster_sums(there.astype(np.float64), index)
    rows = [np.hstack([s, there, mine[index], size[index]]) for s, mine in zip(says, own, strict=True)]
    distinct, which = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
    counts = np.zeros((2, len(size), len(distinct)))
    for judge, each in enumerate(which.reshape(2, -1)):
        np.add.at(counts[judge], (index, each), pairs.astype(np.float64))
    found = []
    most = max(1, _AT_ONCE // distinct.size)
    for start in range(0, len(signs), most):
        swaps = (signs[start : start + most] < 0).astype(np.float64)
        values = []
        for mine, other in ((0, 1), (1, 0)):
            totals = own[mine].sum(axis=0) + swaps @ (own[other] - own[mine])
            times = counts[mine].sum(axis=0) + swaps @ (counts[other] - counts[mine])
            value = (_worth(distinct, totals, size) * times).sum(axis=1) / max(int(pairs.sum()), 1)
            by_metric = _by_metric(totals, size.sum(axis=0))
            values.append(np.clip(value, by_metric.min(axis=1), by_metric.max(axis=1)))
        found.append(values[0] - values[1])
    return np.concatenate(found)


def _worth(distinct: Floats, totals: Floats, size: Floats) -> Floats:
    """The value of each distinct example (U, 5 M) under totals of signs and moves (R, 2 M); shape (R, U)."""
    m = size.shape[1]
    # With the metrics, which are few, outermost in memory this takes half as long.
    distinct, totals = np.asfortranarray(distinct), np.asfortranarray(totals)
    says, there, own, own_moved, own_size = (distinct[:, k * m : (k + 1) * m] for k in range(5))
    signs, moved = totals[:, None, :m], totals[:, None, m:]
    groups = max(int(size.any(axis=1).sum()), 1)
    weights = metric_choice(signs - own, moved - own_moved, size.sum(axis=0) - own_size, groups)
    return np.asarray(((1 + says) / 2 * normalised(weights, there > 0)).sum(axis=2))


def _by_metric(totals: Floats, size: Floats) -> Floats:
    """Detection by each metric that has a pair under totals (R, 2 M) of signs and moves; 0 without any."""
    signs = totals[:, : size.size][:, size > 0]
    return (1 + signs / size[size > 0]) / 2 if signs.size else np.zeros((len(totals), 1))
