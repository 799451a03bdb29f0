"""Discernment of damage: tests of the metrics, combined, and the mean over levels (Wang et al. 2025).

The joint test gives one p-value for all metrics of a variant by sign flips, exact under any dependence. If
damage changes nothing, the scores of an original and of its copy may be swapped, those of all metrics and of
all examples of a cluster together. The statistic is the harmonic mean of the metrics' p-values (Wilson 2019),
by the normal distribution of their signed rank sums. Its distribution is that of the swaps themselves: no
assumption on how metrics or examples depend is needed (Pesarin and Salmaso 2010).

`discern` tests each metric of each variant (`_tested`), combines the p-values (`combination.combined`, or
`joint_log_p`) and turns them into D (`discernment`). `level_average` and `minimum` make the figures of a run
of these, `holm` corrects for many tests. All p-values are natural logarithms, so that none becomes 0.
"""

import math
from collections.abc import Sequence
from typing import get_args, overload

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import (
    Floats,
    Ints,
    checked_table,
    cluster_index,
    cluster_sums,
    level_shares,
    metric_weights,
)
from dhp.stats.combination import combined
from dhp.stats.defaults import DEFAULT_COMBINATION, RESAMPLES, Combination
from dhp.stats.sign_flips import flip_p, flipped_sums, sign_flips
from dhp.stats.wilcoxon import Alternative, Method, signed_rank, signed_ranks

LOG_ALPHA = math.log(0.05)
"""The unit of D."""
_ROUNDING = 1e-9
"""Scores that differ by a smaller part are equal."""


@overload
def discernment(log_p: float) -> float: ...
@overload
def discernment(log_p: Floats) -> Floats: ...
def discernment(log_p: float | Floats) -> float | Floats:
    """D = log base 0.05 of combined p-values, given as natural logs; D >= 1 means p <= 0.05. In [0, inf).

    Of any shape; NaN (undefined) stays NaN. Raises `ValueError` for a log p above 0.
    """
    if np.any(np.asarray(log_p) > 0):
        raise ValueError(f"log_p must be at most 0, not {np.nanmax(log_p)}")
    return log_p / LOG_ALPHA + 0.0


def level_average(scores: npt.ArrayLike, levels: Sequence[str]) -> float:
    """D_avg: the mean over levels of the mean within each level. Degrees count as variants of their own.

    Parameters
    ----------
    scores : shape (V,)
        Of V variants; those that are NaN do not count.
    levels : V names
        The level of each variant.

    Returns
    -------
    float
        NaN if no variant counts.
    """
    x = np.asarray(scores, dtype=np.float64)
    defined = ~np.isnan(x)
    _, shares = level_shares(levels, defined)
    return float(x[defined] @ shares[-1, defined]) if defined.any() else math.nan


def minimum(scores: npt.ArrayLike) -> tuple[float, int]:
    """D_min of the scores of variants, shape (V,), V >= 1, and the index of the variant that gives it.

    The first on a tie; scores that differ by rounding are tied. NaN if any score is.
    """
    x = np.asarray(scores, dtype=np.float64)
    lowest = float(x.min())
    # Not above, instead of at or below: a NaN is neither, and comes first as the lowest is NaN, too.
    tied = ~(x > lowest + _ROUNDING * max(abs(lowest), 1))
    return lowest, int(tied.argmax())


def discern(
    differences: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    *,
    method: Method = "exact",
    combination: Combination = DEFAULT_COMBINATION,
    alternative: Alternative = "greater",
    clusters: npt.ArrayLike | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Test V variants by M metrics, and combine the tests of each variant.

    Parameters
    ----------
    differences : shape (n, V, M)
        Original minus degraded, NaN if a score is missing: such a pair is left out of that one test.
        Values must lie on their exact grid, as for `signed_rank`.
    weights : shape (V, M), optional
        Of the metrics for each variant, each row as for `combined`; a row of NaN means none for that variant.
    method, alternative
        As for `signed_rank`. Under `greater` D is high if scores fell.
    combination
        As for `combined`. By `joint` the metrics are tested by sign flips of all together (10,000 patterns
        that are always the same), if no pattern reaches the data and under `two-sided` by
        `hmp-asymptotic`.
    clusters : shape (n,), optional
        Integers; tests are by sign flips in which examples with the same one keep together, but under
        `scipy`.

    Returns
    -------
    log_p : shape (V, M)
        Natural logs of the p-values of the metrics; NaN without a pair.
    d, d_ew : shape (V,)
        D with equal weights of the metrics and with the given ones; NaN if a metric has no pair.

    Raises
    ------
    ValueError
        If shapes do not fit, a difference is infinite, a row of weights does not sum to 1, or a name is
        unknown.
    """
    x = checked_table(differences)
    _, v, m = x.shape
    if method not in get_args(Method):
        raise ValueError(f"unknown method '{method}'; allowed: {', '.join(get_args(Method))}")
    if alternative not in get_args(Alternative):
        raise ValueError(f"unknown alternative '{alternative}'; allowed: {', '.join(get_args(Alternative))}")
    metric_weights(weights, v, m)  # refuses what does not fit
    log_p = _tested(x, method, alternative, None if clusters is None else cluster_index(clusters, len(x)))

    def d_of(of_metrics: Floats | None) -> Floats:
        logs = combined(log_p, of_metrics, combination)
        # Of one metric the exact test is that of these sign flips already.
        if combination == "joint" and alternative == "greater" and m > 1:
            logs = joint_log_p(x, np.random.default_rng(0), clusters, of_metrics, tail=logs)
        return discernment(logs)

    return log_p, d_of(None), d_of(None if weights is None else np.asarray(weights, dtype=np.float64))


def _tested(differences: Floats, method: Method, alternative: Alternative, clusters: Ints | None) -> Floats:
    """Natural logs of the p-values of all variants and metrics, shape (V, M)."""
    log_p = np.full(differences.shape[1:], math.nan)
    for v, m in np.ndindex(log_p.shape):
        defined = ~np.isnan(differences[:, v, m])
        if defined.any():
            groups = None if clusters is None else clusters[defined]
            log_p[v, m] = signed_rank(differences[defined, v, m], method, alternative, groups)
    return log_p


def joint_log_p(
    differences: npt.ArrayLike,
    rng: np.random.Generator,
    clusters: npt.ArrayLike | None = None,
    weights: Floats | None = None,
    *,
    tail: Floats,
    resamples: int = RESAMPLES,
) -> Floats:
    """Natural logs of one-sided p-values of V variants: did scores fall?

    Parameters
    ----------
    differences : shape (n, V, M)
        Original minus degraded, NaN if a score is missing.
    rng
        The only source of randomness.
    clusters : shape (n,), optional
        Integers; examples with the same one are swapped together.
    weights : shape (V, M), optional
        Of the metrics, as for `combined`; a row of NaN means none for that variant.
    tail : shape (V,)
        Natural logs of the p-values to take if no random pattern reaches the data.
    resamples
        Random sign patterns, at least 1; all are counted out instead if they are no more.

    Returns
    -------
    shape (V,)
        At most 0. NaN if a metric has no pair. If no random pattern reaches the data, at most
        1 / (resamples + 1).

    Raises
    ------
    ValueError
        If the shape is another, a difference is infinite or `resamples` is below 1.
    """
    from scipy.special import log_ndtr

    x = checked_table(differences)
    index = cluster_index(clusters, len(x))
    shares = cluster_sums(signed_ranks(x).reshape(len(x), -1), index)
    scale = np.sqrt((shares**2).sum(axis=0))
    signs, exact = sign_flips(len(shares), resamples, rng)
    sums = np.vstack([shares.sum(axis=0), flipped_sums(signs, shares)])
    z = np.where(scale > 0, sums / np.where(scale > 0, scale, 1.0), -np.inf)  # nothing moved: p = 1
    logs = log_ndtr(-z).reshape(len(z), *x.shape[1:])
    statistic = -combined(logs, weights, "hmp")
    undefined = np.any(np.all(np.isnan(x), axis=0), axis=1)
    p = np.log(flip_p(np.where(undefined, np.nan, statistic[0]), statistic[1:], exact))
    beyond = ~exact & (p <= -math.log(resamples + 1) + 1e-9)
    return np.asarray(np.where(beyond, np.minimum(p, tail), p))


def holm(log_p: npt.ArrayLike) -> Floats:
    """Step-down adjustment; bounds the chance of any false rejection, whatever the dependence (Holm 1979).

    Parameters
    ----------
    log_p : shape (k,)
        Natural logs of p-values, each <= 0; NaN if a test is undefined: it stays NaN and does not count.

    Returns
    -------
    shape (k,)
        Natural logs of the adjusted p-values, <= 0: a test is rejected at level a if its own is <= log a.

    Raises
    ------
    ValueError
        If the shape is another or a log p is positive.
    """
    logs = np.asarray(log_p, dtype=np.float64)
    if logs.ndim != 1 or (logs > 0).any():
        raise ValueError("log_p must have shape (k,) and no value above 0")
    defined = int((~np.isnan(logs)).sum())
    order = np.argsort(logs, kind="stable")[:defined]  # NaN is sorted last
    raised = logs[order] + np.log(np.arange(defined, 0, -1))
    adjusted = np.full(logs.shape, np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(raised), 0.0)
    return adjusted
