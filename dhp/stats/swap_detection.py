"""Contribution of each example to the detection of two judges that are compared.

Detection is that of the metric that sees the damage best, and which one that is depends on all examples. So a
swap of the labels of some examples moves more than their own shares. How much more is found by some swaps
after which the figures are computed anew; what the examples add is widened by as much, so that cheap sign
flips of it (`dhp.stats.swap`) hold their level.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats, Ints
from dhp.stats.clusters import cluster_index, cluster_sums, sign_flips
from dhp.stats.detection import FEWEST_PAIRS, averaged_kinds, detection, metric_choice, normalised
from dhp.stats.influences import Influences, difference
from dhp.stats.layout import checked_table, level_shares

_SWAPS = 256
"""After which the figures are computed anew, always the same: their standard deviation is known to 4 %."""
_AT_ONCE = 1 << 15
"""Weights of metrics, few enough for the cache of a processor."""


def detection_pair(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    levels: Sequence[str],
    clusters: npt.ArrayLike | None = None,
) -> tuple[Influences, Influences]:
    """Detection of two judges over all kinds of damage, then of each kind: 1 + V figures.

    Parameters
    ----------
    first, second : shape (n, V, M)
        Original minus degraded of the two judges, NaN where one of them lacks a score.
    levels : V names
        The level of each kind of damage; those with five pairs or more count in the mean.
    clusters : shape (n,), optional
        Integers; examples with the same one belong together.

    Returns
    -------
    Of each judge, shape (1 + V,), with influences that are widened as said above.

    Raises
    ------
    ValueError
        If the shapes differ, or a judge has a score that the other lacks.
    """
    both = [checked_table(one) for one in (first, second)]
    if both[0].shape != both[1].shape or (np.isnan(both[0]) != np.isnan(both[1])).any():
        raise ValueError("the judges must have differences of one shape that are NaN in the same places")
    found = [detection(x, levels, clusters) for x in both]
    counted = np.asarray(found[0].pairs.max(axis=1) >= FEWEST_PAIRS)
    one, other = (
        replace(
            averaged_kinds(each.seen, levels, counted, each=True),
            value=np.concatenate([each.average.value[None], each.kinds.value]),
        )
        for each in found
    )
    if both[0].shape[2] == 1:
        return one, other
    index = cluster_index(clusters, len(both[0]))
    signs, _ = sign_flips(int(index.max()) + 1, _SWAPS, np.random.default_rng(0))
    kinds = np.stack(
        [_swapped(both[0][:, v], both[1][:, v], index, signs) for v in range(counted.size)], axis=1
    )
    _, shares = level_shares(levels, counted)
    overall = np.where(counted, kinds * shares[-1], 0.0).sum(axis=1, keepdims=True)
    swapped = (np.concatenate([overall, kinds], axis=1) ** 2).mean(axis=0)
    apart = difference(one, other)
    part = cluster_sums(apart.there.astype(np.float64), index) / np.maximum(apart.there.sum(axis=0), 1)
    flipped = ((cluster_sums(apart.influence, index) + apart.value * part) ** 2).sum(axis=0)
    wider = np.sqrt(np.where(flipped > 0, swapped / np.where(flipped > 0, flipped, 1.0), 1.0))
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
    says, there, own, own_moved, own_size = (distinct[:, k * m : (k + 1) * m] for k in range(5))
    signs, moved = totals[:, None, :m], totals[:, None, m:]
    groups = max(int(size.any(axis=1).sum()), 1)
    weights = metric_choice(signs - own, moved - own_moved, size.sum(axis=0) - own_size, groups)
    return np.asarray(((1 + says) / 2 * normalised(weights, there > 0)).sum(axis=2))


def _by_metric(totals: Floats, size: Floats) -> Floats:
    """Detection by each metric that has a pair under totals (R, 2 M) of signs and moves; 0 without any."""
    signs = totals[:, : size.size][:, size > 0]
    return (1 + signs / size[size > 0]) / 2 if signs.size else np.zeros((len(totals), 1))
