"""How the metrics of a judge hang together: correlated scores, drops on the wrong metric."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats, metric_row

_FEWEST = 3
"""Texts from which on a correlation is taken: of two it is always 1 or -1."""


def correlations(columns: npt.ArrayLike, method: Literal["pearson", "spearman"]) -> Floats:
    """Correlation of every two columns over the rows that both have, of values or of ranks.

    Parameters
    ----------
    columns : shape (n, k)
        NaN if a value is missing.
    method
        `pearson` or `spearman`.

    Returns
    -------
    shape (k, k)
        In [-1, 1]; NaN if a column is constant or fewer than three rows are shared.
    """
    import pandas as pd

    x = np.asarray(columns, dtype=np.float64)
    if x.ndim != 2:
        raise ValueError(f"columns must have shape (n, k), not {x.shape}")
    table: Floats = pd.DataFrame(x).corr(method=method, min_periods=_FEWEST).to_numpy()
    return np.clip(table, -1.0, 1.0)


def confusion(drops: npt.ArrayLike, weights: npt.ArrayLike) -> float:
    """The share of a drop that fell on other metrics than the experts expect.

    The total variation distance between the shares of the drop and the weights: 0 if the drop is
    distributed as expected, 1 if all of it fell on metrics without weight.

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
        In [0, 1]; NaN if no metric fell, or a drop is NaN.

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
