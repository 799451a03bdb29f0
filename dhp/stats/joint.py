"""One joint p-value for all metrics of a variant by sign flips, exact under any dependence.

If damage changes nothing, the scores of an original and of its copy may be swapped, those of all metrics and
of all examples of a cluster together. The statistic is the harmonic mean of the metrics' p-values (Wilson
2019), by the normal distribution of their signed rank sums; its distribution is that of the swaps themselves,
so that no assumption on how metrics or examples depend is needed (Pesarin and Salmaso 2010).
"""

import math

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import (
    Floats,
    checked_table,
    cluster_index,
    cluster_sums,
    flip_p,
    flipped_sums,
    sign_flips,
)
from dhp.stats.defaults import RESAMPLES
from dhp.stats.discernment import combined
from dhp.stats.swap import signed_ranks


def joint_log_p(
    differences: npt.ArrayLike,
    rng: np.random.Generator,
    clusters: npt.ArrayLike | None = None,
    weights: Floats | None = None,
    *,
    tail: Floats | None = None,
    resamples: int = RESAMPLES,
) -> Floats:
    """Natural logs of one-sided p-values of V variants: did scores fall?

    Parameters
    ----------
    differences : shape (n, V, M)
        Original minus degraded, NaN where a score is missing.
    rng
        The only source of randomness.
    clusters : shape (n,), optional
        Integers; examples with the same one are swapped together.
    weights : shape (V, M), optional
        Of the metrics, as for `combined`; a row of NaN means none for that variant.
    tail : shape (V,), optional
        Natural logs of the p-values to take where no random pattern reaches the data. Default: of the
        harmonic mean of these p-values by the Landau distribution (Wilson 2019, eq. 4).
    resamples
        Random sign patterns, at least 1; all are counted out instead where they are no more.

    Returns
    -------
    shape (V,)
        At most 0. NaN where a metric has no pair. Where no random pattern reaches the data, at most
        1 / (resamples + 1).

    Raises
    ------
    ValueError
        If the shape is another, a difference is infinite or `resamples` is below 1.
    """
    from scipy.special import log_ndtr

    x = checked_table(differences)
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, not {resamples}")
    index = cluster_index(clusters, len(x))
    shares = cluster_sums(signed_ranks(x).reshape(len(x), -1), index)
    scale = np.sqrt((shares**2).sum(axis=0))
    signs, exact = sign_flips(len(shares), resamples, rng)
    sums = np.vstack([shares.sum(axis=0), flipped_sums(signs, shares)])
    z = np.where(scale > 0, sums / np.where(scale > 0, scale, 1.0), -np.inf)
    logs = log_ndtr(-z).reshape(len(z), *x.shape[1:])
    statistic = -combined(logs, weights, "hmp")
    undefined = np.any(np.all(np.isnan(x), axis=0), axis=1)
    p = np.log(flip_p(np.where(undefined, np.nan, statistic[0]), statistic[1:], exact))
    beyond = ~exact & (p <= -math.log(resamples + 1) + 1e-9)
    if tail is None:
        tail = combined(logs[:1], weights, "hmp-asymptotic")[0]
    return np.asarray(np.where(beyond, np.minimum(p, tail), p))
