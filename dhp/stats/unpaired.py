"""AUROC and the standardised drop: originals against degraded texts of any example.

Detection compares the two texts of one pair. AUROC is what a threshold on this judge's score could do in use.
The standardised drop counts points in units of the judge's own spread, so that judges with different scales
compare. Both are `Influences`: figures with what each example adds to them.
"""

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Bools, Floats
from dhp.stats.influences import Influences

_CELLS = 2_000_000
"""Scores whose intermediate results are in memory at a time."""


def auroc_influences(
    original: npt.ArrayLike, degraded: npt.ArrayLike, counted: npt.ArrayLike | None = None
) -> Influences:
    """The area under the ROC curve of originals against degraded texts, unpaired, of each test.

    The chance that the score of an original is higher than that of a degraded text of any example, ties
    counting half: Mann and Whitney's U over the number of pairs. The influence of an example is its
    structural component by DeLong et al. (1988), that of its original and that of its degraded text together,
    so that the dependence of the two is respected (with clusters: Obuchowski 1997). `wilson_interval` of it
    is the interval.

    Parameters
    ----------
    original : shape (n, M)
        Scores of n examples by M metrics, NaN if missing.
    degraded : shape (n, V, M)
        Of V variants.
    counted : shape (n, V, M), optional
        The pairs that count in each test: by default those with both scores. A text without a score in a
        pair that counts is tied with every other, as nobody said how good it is.

    Returns
    -------
    Influences
        Of shape (V, M); values in [0, 1], 1/2 if the judge sees nothing.

    Raises
    ------
    ValueError
        If the shapes do not fit or a score is infinite.
    """
    x, y, scored = _pairs(original, degraded)
    defined = scored if counted is None else np.asarray(counted, dtype=np.bool_)
    _, v, m = y.shape
    value, influence = np.full((v, m), np.nan), np.zeros(y.shape)
    for at in np.ndindex(v, m):
        mine = defined[:, *at]
        if mine.any():
            above, below = x[mine, at[1]], y[mine, *at]
            wins, losses = _placement(above, below), 1 - _placement(below, above)
            value[at] = wins.mean()
            influence[mine, *at] = (wins + losses - 2 * value[at]) / mine.sum()
    return Influences(value, influence, defined, np.ones((v, m)))


def standardised_drop_influences(
    original: npt.ArrayLike, degraded: npt.ArrayLike, counted: npt.ArrayLike | None = None
) -> Influences:
    """The mean drop in standard deviations: d = mean(x - y) / sqrt((var x + var y) / 2).

    Cohen's d with the average variance of the two sets of scores, x of originals and y of degraded texts, as
    for independent groups (Cumming 2012, d_av). `student_interval` of it is the interval. A pair that counts
    without both scores has a drop of 0, and no part in the variances. Parameters, result and errors else as
    for `auroc_influences`; undefined, NaN, if no score varies or there are fewer than two.
    """
    x, y, scored = _pairs(original, degraded)
    defined = scored if counted is None else np.asarray(counted, dtype=np.bool_)
    scored = scored & defined
    _, v, m = y.shape
    value, influence = np.empty((v, m)), np.empty(y.shape)
    some = max(1, _CELLS // (len(x) * m))
    for start in range(0, v, some):
        block = slice(start, start + some)
        value[block], influence[:, block] = _standardised(x, y[:, block], scored[:, block])
    n = np.maximum(defined.sum(axis=0), 1)
    # A share of the pairs with both scores times the drop of these: both are means over the examples.
    share = scored.sum(axis=0) / n
    of_share = np.where(defined & ~np.isnan(value), np.nan_to_num(value) * (scored - share) / n, 0.0)
    return Influences(share * value, share * influence + of_share, defined, np.ones((v, m)))


def _standardised(x: Floats, y: Floats, present: Bools) -> tuple[Floats, Floats]:
    """Standardised drops of some variants and their influences (by the delta method)."""
    x = np.where(present, x[:, None, :], 0.0)
    y = np.where(present, y, 0.0)
    largest = np.maximum(np.abs(x), np.abs(y)).max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)  # squares of very large scores would overflow
    x, y = x / unit, y / unit
    n = present.sum(axis=0).astype(np.float64)
    count = np.where(n > 1, n, np.nan)
    of_x = np.where(present, x - x.sum(axis=0) / count, 0.0)
    of_y = np.where(present, y - y.sum(axis=0) / count, 0.0)
    squares = (of_x**2 + of_y**2) / 2
    variance = squares.sum(axis=0) / (count - 1)
    spread = np.where(variance > 1e-12, np.sqrt(variance), np.nan)
    value = (x - y).sum(axis=0) / count / spread
    of_spread = squares * count / (count - 1) / spread**2 - 1
    pull = (of_x - of_y) / spread - value / 2 * of_spread
    return value, np.where(present & ~np.isnan(value), pull / count, 0.0)


def _pairs(original: npt.ArrayLike, degraded: npt.ArrayLike) -> tuple[Floats, Floats, Bools]:
    """Both as arrays, and which pairs have both scores."""
    x, y = np.asarray(original, dtype=np.float64), np.asarray(degraded, dtype=np.float64)
    if x.ndim != 2 or y.ndim != 3 or y.size == 0 or x.shape != (y.shape[0], y.shape[2]):
        raise ValueError(
            f"original must have shape (n, M) and degraded (n, V, M), none 0, not {x.shape} and {y.shape}"
        )
    if np.isinf(x).any() or np.isinf(y).any():
        raise ValueError("scores must be finite or NaN")
    return x, y, ~np.isnan(x)[:, None, :] & ~np.isnan(y)


def _placement(values: Floats, others: Floats) -> Floats:
    """The share of the others that lie below each value, ties counting half; NaN is tied with all."""
    ordered = np.sort(others[~np.isnan(others)])
    ends = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    tied = others.size - ordered.size
    return np.where(np.isnan(values), 0.5, (ends + tied) / (2 * others.size))
