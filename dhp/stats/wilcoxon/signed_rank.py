"""Wilcoxon signed-rank test with a p-value that is accurate far out in the tail."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats, Ints
from dhp.stats.clusters import cluster_index, cluster_sums
from dhp.stats.wilcoxon.null import exact_log_tail, flip_log_tail, tilted_log_tail

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
        integer sums or those of `dhp.stats.ties`, not differences of floating-point means.
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
