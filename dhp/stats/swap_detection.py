"""Detection of pairs of judges under swaps of their labels.

Each kind is read by the metric that sees it best, which depends on all examples. So swapping the labels of an
example changes more than its own share. `_swapped` computes the figures anew after some swaps, and `_widened`
widens the influences of the examples so that they vary as much as these figures.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats, Ints, checked_table, cluster_index, cluster_sums, level_shares
from dhp.stats.detection import FEWEST_PAIRS, averaged_kinds, detection, metric_choice, normalised
from dhp.stats.influences import Influences, difference
from dhp.stats.sign_flips import sign_flips

_SWAPS = 256
"""Swaps after which the figures are computed anew, always the same ones: their standard deviation is known to
4 %."""
_AT_ONCE = 1 << 17
"""Weights of metrics that are computed at a time, few enough for the cache of a processor."""


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
    for x in tables:
        if x.shape != missing.shape or (np.isnan(x) != missing).any():
            raise ValueError("the judges must have differences of one shape that are NaN in the same places")
    counted = np.asarray((~missing).sum(axis=0).max(axis=1) >= FEWEST_PAIRS)
    detections = []
    for x in tables:
        detected = detection(x, levels, clusters)
        figures = averaged_kinds(detected.seen, levels, counted, each=True)
        detections.append(replace(figures, value=np.append(detected.average[0], detected.value)))
    index = cluster_index(clusters, len(missing))
    patterns, _ = sign_flips(int(index.max()) + 1, _SWAPS, np.random.default_rng(0))
    signs = patterns.rows()
    _, shares = level_shares(levels, counted)
    for (x, one), (y, other) in combinations(zip(tables, detections, strict=True), 2):
        if missing.shape[2] == 1:  # with one metric nothing is chosen
            yield one, other
            continue
        kinds = np.empty((len(signs), counted.size))
        for v in range(counted.size):
            kinds[:, v] = _swapped(x[:, v], y[:, v], index, signs)
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
    size = cluster_sums(defined.astype(np.float64), index)
    sums: list[Floats] = []  # of each judge: signs and moves by cluster, shape (G, 2 M)
    rows: list[Floats] = []  # of each judge: all that the worth of an example hangs on, shape (n, 5 M)
    for x in (first, second):
        says = np.where(defined, np.sign(x), 0.0)
        of_clusters = np.hstack([cluster_sums(says, index), cluster_sums(says**2, index)])
        sums.append(of_clusters)
        rows.append(np.hstack([says, defined, of_clusters[index], size[index]]))
    distinct, which = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
    # How many examples of each cluster are like each distinct one, of each judge.
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
            # The weights leave out the example itself, so the mean may lie outside the range of the metrics.
            values.append(np.clip(value, by_metric.min(axis=1), by_metric.max(axis=1)))
        swapped_values.append(values[0] - values[1])
    return np.concatenate(swapped_values)


def _worth(distinct: Floats, totals: Floats, size: Floats) -> Floats:
    """The value of each distinct example (U, 5 M) under totals of signs and moves (R, 2 M); shape (R, U)."""
    m = size.shape[1]
    # With the metrics, which are few, outermost in memory this takes half as long.
    distinct, totals = np.asfortranarray(distinct), np.asfortranarray(totals)
    says, defined = distinct[:, :m], distinct[:, m : 2 * m]
    # Of the example's own cluster, which does not choose the metric for it.
    own_signs, own_moved, own_size = np.split(distinct[:, 2 * m :], 3, axis=1)
    signs, moved = totals[:, None, :m], totals[:, None, m:]
    groups = max(int(size.any(axis=1).sum()), 1)
    weights = metric_choice(signs - own_signs, moved - own_moved, size.sum(axis=0) - own_size, groups)
    return np.asarray(((1 + says) / 2 * normalised(weights, defined > 0)).sum(axis=2))


def _by_metric(totals: Floats, size: Floats) -> Floats:
    """Detection by each metric that has a pair under totals (R, 2 M) of signs and moves; 0 without any."""
    signs = totals[:, : size.size][:, size > 0]
    return (1 + signs / size[size > 0]) / 2 if signs.size else np.zeros((len(totals), 1))
