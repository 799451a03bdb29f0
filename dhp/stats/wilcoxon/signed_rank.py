"""The signed-rank test, on data and on resamples (Wilcoxon 1945)."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Bools, Floats, Ints, cluster_index, cluster_sums
from dhp.stats.wilcoxon.null import (
    doubled_ranks,
    exact_log_tail,
    exact_log_tails,
    flip_log_tail,
    log_tails,
    tilted_log_tail,
)

Method = Literal["exact", "scipy", "sign-flip"]
Alternative = Literal["greater", "two-sided"]
EXACT_UP_TO = 200
"""Non-zero differences up to which the exact null distribution is enumerated."""


@dataclass(frozen=True, slots=True)
class SignedRank:
    """Outcome of one test."""

    log_p: float
    """Natural log of the p-value; 0.0 (p = 1) where all differences are zero."""
    n: int
    """Number of pairs, zeros included."""
    n_nonzero: int
    statistic: float
    """W+, the sum of the ranks (under `sign-flip` of the values) of the positive differences; with clusters
    the sum of the positive sums of signed ranks."""

    @property
    def p(self) -> float:
        """The p-value; may underflow to 0 where `log_p` does not."""
        return math.exp(self.log_p)


def checked_differences(differences: npt.ArrayLike) -> Floats:
    """`differences` as a float array of shape (n,), n >= 1, all finite; else `ValueError`."""
    d = np.asarray(differences, dtype=np.float64)
    if d.ndim != 1 or d.size == 0:
        raise ValueError(f"differences must have shape (n,) with n >= 1, not {d.shape}")
    if not np.isfinite(d).all():
        raise ValueError("differences must be finite")
    return d


def average_ranks(values: Floats) -> Floats:
    """The rank of each value, from 1 on; equal ones share their mean rank."""
    _, group, sizes = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((sizes.cumsum() - (sizes - 1) / 2)[group])


def signed_rank(
    differences: npt.ArrayLike,
    method: Method = "exact",
    alternative: Alternative = "greater",
    clusters: npt.ArrayLike | None = None,
) -> SignedRank:
    """Test whether paired differences tend to be positive, or to be anything but zero (Wilcoxon 1945).

    Parameters
    ----------
    differences : shape (n,)
        Original minus degraded. Equal magnitudes are ties, so values must lie on their exact grid: pass
        integer sums or those of `dhp.stats.arrays`, not differences of floating-point means.
    method
        `exact`: the null distribution given the observed ties, zeros dropped; enumerated up to 200 non-zero
        differences, beyond that computed by inversion of its characteristic function.
        `scipy`: what `scipy.stats.wilcoxon` does at its defaults, a normal approximation without
        continuity correction in most cases.
        `sign-flip`: as `exact`, with the differences themselves in the place of their ranks (Fisher 1935);
        they must be multiples of 1/2, as two-order scores of pairwise verdicts are.
    alternative
        `greater`: a small p says that the differences are positive. `two-sided`: that they are positive or
        negative; p is twice the smaller tail, at most 1.
    clusters : shape (n,), optional
        Integers; examples with the same one change their sign together, so that nothing is assumed of how
        they depend (signed ranks summed by cluster: Rosner, Glynn and Lee 2006). Not under `scipy`, which
        takes all pairs for independent.

    Returns
    -------
    SignedRank
        All differences zero gives p = 1. The statistic is W+ under either alternative.

    Raises
    ------
    ValueError
        If the array is empty, not one-dimensional or not finite; under `sign-flip` for other values; if
        `clusters` do not fit.
    """
    d = checked_differences(differences)
    nonzero = d[d != 0]
    n, m = d.size, nonzero.size
    if m == 0:
        return SignedRank(0.0, n, 0, 0.0)
    signed = _signed_ranks(nonzero, method)
    clustered = clusters is not None and method != "scipy"
    if clustered:
        index = cluster_index(cluster_index(clusters, n)[d != 0], m)
        signed = cluster_sums(signed.astype(np.float64), index).astype(np.int64)
    doubled, sizes = np.unique(np.abs(signed[signed != 0]), return_counts=True)
    statistic = reached = int(signed[signed > 0].sum())
    if alternative == "two-sided":  # the null distribution is symmetric
        reached = max(statistic, int(doubled @ sizes) - statistic)
    if clustered:
        log_p = flip_log_tail(doubled, sizes, reached)
    else:
        log_p = _log_tail(doubled, sizes, reached, n, method)
    log_p += math.log(2) * (alternative == "two-sided")
    return SignedRank(min(log_p, 0.0), n, m, statistic / 2)


def _signed_ranks(nonzero: Floats, method: Method) -> Ints:
    """Twice the average ranks, or under `sign-flip` the values, with the signs of the differences."""
    values, group, sizes = np.unique(np.abs(nonzero), return_inverse=True, return_counts=True)
    doubled = 2 * np.cumsum(sizes) - sizes + 1  # integers
    if method == "sign-flip":
        doubled = np.rint(2 * values).astype(np.int64)
        if not np.array_equal(doubled, 2 * values):
            raise ValueError("differences must be multiples of 1/2")
    return np.asarray(np.where(nonzero > 0, 1, -1) * doubled[group])


def _log_tail(doubled: Ints, sizes: Ints, statistic: int, n: int, method: Method) -> float:
    """log P(W >= `statistic`), which is on the scale of the doubled ranks; `n` counts zeros."""
    m = int(sizes.sum())
    if method == "scipy" and _scipy_approximates(n, m, sizes):
        return _normal_log_tail(statistic / 2, m, sizes)
    if m <= EXACT_UP_TO:
        return exact_log_tail(doubled, sizes, statistic)
    return tilted_log_tail(doubled, sizes, statistic)


def _scipy_approximates(n: int, nonzero: int, sizes: Ints) -> bool:
    """The choice of scipy's `method="auto"`, whose n counts zeros."""
    if n > 50:
        return True
    ties_or_zeros = nonzero < n or bool((sizes > 1).any())
    return ties_or_zeros and n > 13


def _normal_log_tail(statistic: float, n: int, sizes: Ints) -> float:
    """log P(Z >= z) for the tie-corrected z of W+, without continuity correction."""
    ties = float((sizes.astype(np.float64) ** 3 - sizes).sum())
    variance = (n * (n + 1) * (2 * n + 1) - ties / 2) / 24
    return log_normal_tail((statistic - n * (n + 1) / 4) / math.sqrt(variance))


def log_normal_tail(z: float) -> float:
    """log P(Z >= z) of the standard normal, accurate however far out."""
    if z < 25:
        return math.log(0.5 * math.erfc(z / math.sqrt(2)))
    # Asymptotic series of Mills' ratio; its error at z = 25 is below 1e-14.
    ratio = 1 - 1 / z**2 + 3 / z**4 - 15 / z**6 + 105 / z**8 - 945 / z**10 + 10395 / z**12
    return -z * z / 2 - math.log(z * math.sqrt(2 * math.pi)) + math.log(ratio)


Times = npt.NDArray[np.int32]
_AT_ONCE = 1 << 20  # draws


def draws(n: int, size: int, resamples: int, rng: np.random.Generator) -> Iterator[Times]:
    """How often each of n examples is in each resample of `size` with replacement (Efron 1979).

    Yields arrays of shape (n, r), the r adding up to `resamples`.
    """
    most = max(1, _AT_ONCE // max(n, size))
    for start in range(0, resamples, most):
        r = min(most, resamples - start)
        drawn = rng.integers(n, size=(r, size)) * r + np.arange(r)[:, None]
        yield np.bincount(drawn.ravel(), minlength=n * r).astype(np.int32).reshape(n, r)


@dataclass(frozen=True, slots=True)
class Tests:
    """Many tests of one metric of one variant; differences of equal magnitude are one group."""

    sizes: Ints
    """Differences of each magnitude, increasing, zeros left out; shape (tests, groups)."""
    positive: Ints
    """Number of positive differences in each group; same shape."""
    pairs: Ints
    """Differences, zeros included; shape (tests,)."""
    magnitudes: Floats
    """Magnitudes of the groups, increasing; shape (groups,) or that of `sizes`."""

    def log_p(self, method: Method) -> Floats:
        """Natural logs of p, shape (tests,); NaN where no pair is.

        p is that of `signed_rank`, one-sided: under `scipy` to rounding, under `exact` its tail or one close
        to it, see `log_tails`.
        """
        ranks, m = doubled_ranks(self.sizes), self.sizes.sum(axis=1)
        w = (ranks * self.positive).sum(axis=1)
        if method == "sign-flip":
            values = np.where(self.sizes > 0, np.rint(2 * self.magnitudes).astype(np.int64), 0)
            logs = log_tails(values, self.sizes, (values * self.positive).sum(axis=1))
        else:
            logs = log_tails(ranks, self.sizes, w) if method == "exact" else self._scipy(ranks, m, w)
        return np.where(self.pairs > 0, logs, np.nan)

    def _scipy(self, ranks: Ints, m: Ints, w: Ints) -> Floats:
        from scipy.special import log_ndtr

        s, f = self.sizes.astype(np.float64), m.astype(np.float64)
        variance = (f * (f + 1) * (2 * f + 1) - (s * s * s - s).sum(axis=1) / 2) / 24
        z = (w / 2 - f * (f + 1) / 4) / np.sqrt(np.where(m > 0, variance, 1))
        logs: Floats = np.where(m > 0, log_ndtr(-z), 0.0)
        small = np.flatnonzero(self.pairs <= 50)  # there scipy is exact for up to 13, or where all differ
        uneven = (m[small] < self.pairs[small]) | (self.sizes[small] > 1).any(axis=1)
        exact = small[~uneven | (self.pairs[small] <= 13)]
        logs[exact] = exact_log_tails(ranks[exact], self.sizes[exact], w[exact])
        return logs


@dataclass(frozen=True, slots=True)
class Grid:
    """The differences of one test, sorted into their distinct values."""

    there: Bools
    """Whether each example has a pair, shape (n,)."""
    order: Ints
    """The examples with a non-zero difference, equal ones together."""
    starts: Ints
    """Start of each distinct value in `order`."""
    group: Ints
    """The group of magnitude of each distinct value, increasing."""
    rises: Bools
    """Whether the distinct value is positive."""
    magnitudes: Floats
    """Magnitudes of the groups."""

    @classmethod
    def of(cls, differences: Floats) -> "Grid":
        """The grid of differences of shape (n,), NaN where a score is missing."""
        there = ~np.isnan(differences)
        nonzero = np.flatnonzero(there & (differences != 0))
        magnitudes, group = np.unique(np.abs(differences[nonzero]), return_inverse=True)
        key = 2 * group + (differences[nonzero] > 0)
        sorted_ = np.argsort(key, kind="stable")
        values, starts = np.unique(key[sorted_], return_index=True)
        return cls(there, nonzero[sorted_], starts, values // 2, values % 2 == 1, magnitudes)

    def tests(self, times: Times) -> Tests:
        """The tests of the resamples in which the examples are `times`, shape (n, tests)."""
        pairs = times.sum(axis=0) if self.there.all() else times[self.there].sum(axis=0)
        counts = np.empty((0, times.shape[1]), dtype=np.int64)
        if self.order.size:
            counts = np.add.reduceat(times[self.order], self.starts, axis=0)
        # The tests lie along memory, which makes sums over groups fast.
        positive = np.zeros((int(self.group.max(initial=0)) + 1, counts.shape[1]), dtype=np.int64)
        sizes = positive.copy()
        positive[self.group[self.rises]] = counts[self.rises]
        sizes[self.group[~self.rises]] = counts[~self.rises]
        sizes += positive
        # Without a difference there is one group, which is empty.
        magnitudes = self.magnitudes if self.magnitudes.size else np.zeros(1)
        return Tests(sizes.T, positive.T, pairs, magnitudes)
