"""Confusion of metrics: where scores fell, against the expert weights."""

import numpy as np
import numpy.typing as npt

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
