"""What a judge confused: where the drop fell, beside where experts expect it."""

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats
from dhp.stats.layout import metric_row


def confusion(drops: npt.ArrayLike, weights: npt.ArrayLike) -> float:
    """The share of a drop that fell on other metrics than the experts expect.

    The total variation distance between the shares of the drop and the weights: 0 where the drop is
    distributed as expected, 1 where all of it fell on metrics without weight.

    Parameters
    ----------
    drops : shape (M,)
        Mean score of the originals minus that of the degraded texts, on scales of one length. A metric that
        rose has no share of the drop.
    weights : shape (M,)
        Non-negative, summing to 1.

    Returns
    -------
    float
        In [0, 1]; NaN where no metric fell, or a drop is NaN.

    Raises
    ------
    ValueError
        If shapes differ or the weights do not sum to 1.
    """
    fallen = np.maximum(np.atleast_1d(np.asarray(drops, dtype=np.float64)), 0.0)
    w = metric_row(weights, fallen.size)
    total = fallen.sum()
    if not total > 0:
        return float("nan")
    return float(np.abs(fallen / total - w).sum() / 2)


def contributions(log_p: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Floats:
    """How much each metric contributes to a harmonic mean p-value (Wilson 2019): w / p over its sum.

    Parameters
    ----------
    log_p : shape (M,)
        Natural logs of the p-values.
    weights : shape (M,), optional
        Non-negative, summing to 1. Default: 1/M each.

    Returns
    -------
    shape (M,)
        Shares that sum to 1. D and D_EW differ as far as the shares under equal and under expert weights do.

    Raises
    ------
    ValueError
        If shapes differ or the weights do not sum to 1.
    """
    logs = np.atleast_1d(np.asarray(log_p, dtype=np.float64))
    w = metric_row(weights, logs.size)
    with np.errstate(divide="ignore"):
        terms = np.log(w) - logs
    terms = np.exp(terms - terms.max())
    shares: Floats = terms / terms.sum()
    return shares
