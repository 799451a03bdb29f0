"""How much damage a judge needs before it notices: detection curves and their thresholds."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.combine import Combination, combine
from dhp.stats.discernment import LOG_ALPHA, discernment
from dhp.stats.effects import effect
from dhp.stats.null import exact_log_tail
from dhp.stats.signed_rank import signed_rank

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_NEWTON_STEPS = 100
_AT_THE_MEAN = 1e-6  # |z| below which the correction of the normal tail is 0/0, and its limit 0
_FEW = 16
_MANY = 100  # differences; above it even ties of half of them leave W+ smooth enough
_DOMINANT = 0.25  # share of the differences that are tied with one another
_DECISIVE = (0.4, 4.0)  # around D = 1; further out a few per cent of D hardly move a threshold


@dataclass(frozen=True, slots=True)
class Curve:
    """Detection by dose, for k doses and m metrics; NaN where no pair of scores is left."""

    d: Floats
    """Discernment D in [0, inf), shape (k, m); D >= 1 means p <= 0.05."""
    combined: Floats
    """D of the combined p-value of all metrics, shape (k,); NaN where a metric has no pair."""
    rank_biserial: Floats
    """Matched-pairs rank-biserial correlation in [-1, 1], positive where scores fell; shape (k, m)."""
    fell: Floats
    """Share of the pairs in which the degraded text scored lower, shape (k, m)."""
    pairs: Ints
    """Examples with both scores, shape (k, m)."""


@dataclass(frozen=True, slots=True)
class ThresholdIntervals:
    """Bootstrap intervals (low, high) of detection thresholds, in units of the dose.

    A low end at the first dose means "at most that dose", a high end of inf that no bound was found; NaN
    where the threshold is undefined.
    """

    metrics: Floats
    """Shape (m, 2)."""
    combined: Floats
    """Shape (2,)."""


def curve(
    differences: npt.ArrayLike, weights: npt.ArrayLike | None = None, combination: Combination = "hmp"
) -> Curve:
    """Test at each dose whether scores fell.

    Parameters
    ----------
    differences : shape (n, k, m)
        Original minus degraded for n examples, k doses and m metrics, NaN where a score is missing: such a
        pair is left out of that one test. Values must lie on their exact grid, as for `signed_rank`.
    weights, combination
        Of the metrics, as for `combine`.

    Raises
    ------
    ValueError
        If the shape is another, a difference is infinite, or the weights do not fit.
    """
    x = _checked(differences)
    _, k, m = x.shape
    d, rank_biserial, fell = (np.full((k, m), np.nan) for _ in range(3))
    for dose, metric in np.ndindex(k, m):
        pairs = x[:, dose, metric]
        pairs = pairs[~np.isnan(pairs)]
        if pairs.size:
            size = effect(pairs)
            d[dose, metric] = discernment(signed_rank(pairs).log_p)
            rank_biserial[dose, metric], fell[dose, metric] = size.rank_biserial, size.fell
    return Curve(d, _combined(d, weights, combination), rank_biserial, fell, (~np.isnan(x)).sum(axis=0))


def threshold(doses: npt.ArrayLike, d: npt.ArrayLike) -> float:
    """The dose at which a judge begins to notice: where D, made non-decreasing in the dose, reaches 1.

    D is fitted by isotonic regression (pool adjacent violators; Barlow et al. 1972) and interpolated
    linearly on the logarithm of the dose. Doses at which D is NaN are left out. As D grows with the number
    of examples, thresholds compare between judges only where they were found on equally many.

    Parameters
    ----------
    doses : shape (k,)
        Positive and increasing.
    d : shape (k,)
        Discernment at each dose.

    Returns
    -------
    float
        In units of the dose. The first dose where D >= 1 already there: the threshold is at most that. inf
        where D never reaches 1, NaN where it is undefined at all doses.

    Raises
    ------
    ValueError
        If shapes differ, or the doses are not positive and increasing.
    """
    x, y = _checked_doses(doses), np.asarray(d, dtype=np.float64)
    if y.shape != x.shape:
        raise ValueError(f"d must have shape {x.shape}, not {y.shape}")
    return _threshold(np.log(x), y)


def threshold_interval(
    doses: npt.ArrayLike,
    differences: npt.ArrayLike,
    rng: np.random.Generator,
    weights: npt.ArrayLike | None = None,
    combination: Combination = "hmp",
    *,
    resamples: int = 1000,
    level: float = 0.95,
) -> ThresholdIntervals:
    """Percentile bootstrap intervals of the thresholds of `curve`, over examples (Efron 1979).

    One resample of examples serves all doses and metrics, so what they share stays shared. The ends are
    thresholds of resamples, never between two of them, so that "never" (inf) stays what it is. Resamples
    in which a threshold is undefined do not count for it.

    The tests of the resamples have the exact tail where a smooth one would be too coarse, else a saddlepoint
    approximation. Their D is that of `curve` to within 0.1 or 8 %, whichever is more, mostly to 0.01.

    Parameters
    ----------
    doses, differences, weights, combination
        As for `threshold` and `curve`.
    rng
        The only source of randomness.
    resamples
        At least 1.
    level
        Nominal coverage, in (0, 1).

    Raises
    ------
    ValueError
        As `threshold` and `curve`; if `resamples` or `level` is out of range.
    """
    logs, x = np.log(_checked_doses(doses)), _checked(differences)
    n, k, m = x.shape
    if logs.size != k:
        raise ValueError(f"doses must have shape ({k},) for differences of shape {x.shape}")
    if resamples < 1 or not 0 < level < 1:
        raise ValueError("resamples must be at least 1 and level between 0 and 1")
    drawn = rng.integers(n, size=(resamples, n)) + n * np.arange(resamples)[:, None]
    times = np.bincount(drawn.ravel(), minlength=resamples * n).reshape(resamples, n)
    d = np.empty((resamples, k, m))
    for dose, metric in np.ndindex(k, m):
        d[:, dose, metric] = _resampled_d(x[:, dose, metric], times)
    found = np.empty((resamples, m + 1))
    for i, one in enumerate(d):
        curves = np.column_stack([one, _combined(one, weights, combination)])
        found[i] = [_threshold(logs, column) for column in curves.T]
    ends = [_percentiles(column[~np.isnan(column)], level) for column in found.T]
    return ThresholdIntervals(np.array(ends[:m]), np.array(ends[m]))


def _checked(differences: npt.ArrayLike) -> Floats:
    x = np.asarray(differences, dtype=np.float64)
    if x.ndim != 3 or x.size == 0 or np.isinf(x).any():
        raise ValueError(
            f"differences must have shape (n, k, m), none 0, and be finite or NaN, not {x.shape}"
        )
    return x


def _checked_doses(doses: npt.ArrayLike) -> Floats:
    x = np.asarray(doses, dtype=np.float64)
    if x.ndim != 1 or x.size == 0 or not (np.isfinite(x).all() and x[0] > 0 and (np.diff(x) > 0).all()):
        raise ValueError("doses must have shape (k,) with k >= 1, and be positive and increasing")
    return x


def _combined(d: Floats, weights: npt.ArrayLike | None, combination: Combination) -> Floats:
    """D of the combined p-values, from D by dose and metric."""
    return np.array(
        [
            np.nan if np.isnan(row).any() else discernment(combine(row * LOG_ALPHA, weights, combination))
            for row in d
        ]
    )


def _threshold(log_doses: Floats, d: Floats) -> float:
    from scipy.optimize import isotonic_regression

    defined = ~np.isnan(d)
    if not defined.any():
        return float("nan")
    x, fitted = log_doses[defined], isotonic_regression(d[defined]).x
    above = int(np.searchsorted(fitted, 1.0))
    if above == fitted.size:
        return float("inf")
    if above == 0:
        return float(np.exp(x[0]))
    share = (1 - fitted[above - 1]) / (fitted[above] - fitted[above - 1])
    return float(np.exp(x[above - 1] + share * (x[above] - x[above - 1])))


def _percentiles(values: Floats, level: float) -> tuple[float, float]:
    if not values.size:
        return float("nan"), float("nan")
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
    return float(low), float(high)


def _resampled_d(differences: Floats, times: Ints) -> Floats:
    """D of resamples of one test, shape (resamples,); `times` (resamples, n) says how often each pair is in.

    Equal differences stay equal in a resample, so its tie groups are those of the data in other sizes.
    """
    there = ~np.isnan(differences)
    nonzero = there & (differences != 0)
    undefined = times @ there == 0
    if not nonzero.any():
        return np.where(undefined, np.nan, 0.0)
    magnitudes, group = np.unique(np.abs(differences[nonzero]), return_inverse=True)
    member = (group[:, None] == np.arange(magnitudes.size)).astype(np.float64)
    drawn = times[:, nonzero].astype(np.float64)
    sizes = drawn @ member
    positive = drawn @ (member * (differences[nonzero] > 0)[:, None])
    return np.where(undefined, np.nan, log_tails(sizes, positive) / LOG_ALPHA + 0.0)


def log_tails(sizes: Floats, positive: Floats) -> Floats:
    """log P(W+ >= observed) of many signed-rank tests, the exact tail of `signed_rank` or close to it.

    Parameters
    ----------
    sizes, positive : shape (tests, groups)
        How many differences of each magnitude, in increasing order, each test has, and how many of them are
        positive. Whole numbers; a group may be empty.

    Returns
    -------
    shape (tests,)
        Exact where differences are few, or D is near 1 and one magnitude dominates, so that W+ moves in
        leaps that no smooth tail follows; else `saddlepoint_log_tails`.
    """
    ranks = np.where(sizes > 0, 2 * np.cumsum(sizes, axis=1) - sizes + 1, 0).astype(np.int64)
    w = (ranks * positive).sum(axis=1)
    logs = saddlepoint_log_tails(ranks, sizes, w)
    m = sizes.sum(axis=1)
    near = (logs < _DECISIVE[0] * LOG_ALPHA) & (logs > _DECISIVE[1] * LOG_ALPHA)
    dominated = sizes.max(axis=1) > _DOMINANT * m
    exact = (m <= _FEW) | ((m <= _MANY) & dominated & near)
    distinct, first, which = np.unique(
        np.column_stack([sizes, w])[exact], axis=0, return_index=True, return_inverse=True
    )
    chosen = np.flatnonzero(exact)[first]
    tails = np.empty(len(distinct))
    for i, test in enumerate(chosen):
        there = sizes[test] > 0
        tails[i] = exact_log_tail(ranks[test, there], sizes[test, there].astype(np.int64), int(w[test]))
    logs[exact] = np.minimum(tails, 0.0)[which]
    return logs


def saddlepoint_log_tails(ranks: Ints, sizes: Floats, w: Floats) -> Floats:
    """log P(W >= w), approximately (Lugannani and Rice 1980), for doubled ranks as in `dhp.stats.null`.

    `ranks` (0 where a group is empty) and `sizes` have shape (tests, groups), `w` and the result (tests,).
    With the continuity correction for a lattice (Daniels 1987), whose step is the greatest common divisor of
    the ranks. Exact where all differences are positive.
    """
    from scipy.special import log_ndtr

    step = np.maximum(np.gcd.reduce(ranks, axis=1), 1)
    r = ranks / step[:, None]
    total = (ranks * sizes).sum(axis=1)
    # The distance from the mean in steps, less half a step. The distribution is symmetric.
    distance = (w - total / 2) / step - 0.5
    tilt = _saddlepoints(r, sizes, np.abs(distance))
    half = tilt[:, None] * r / 2
    cumulant = (sizes * (np.logaddexp(half, -half) - np.log(2))).sum(axis=1)
    variance = (sizes * r * r / 4 * (1 - np.tanh(half) ** 2)).sum(axis=1)
    z = np.sqrt(np.maximum(2 * (tilt * np.abs(distance) - cumulant), 0))
    u = 2 * np.sinh(tilt / 2) * np.sqrt(variance)
    off = z > _AT_THE_MEAN
    correction = np.where(off, 1 / np.where(off, u, 1) - 1 / np.where(off, z, 1), 0)
    tails = log_ndtr(-z)
    tails += np.log1p(correction * np.exp(-z * z / 2 - tails) / np.sqrt(2 * np.pi))
    below = distance < 0
    tails[below] = np.log1p(-np.exp(np.minimum(tails[below], -np.log(2))))
    tails = np.where(w == total, -sizes.sum(axis=1) * np.log(2), tails)
    return np.minimum(np.where(w == 0, 0.0, tails), 0.0)


def _saddlepoints(r: Floats, sizes: Floats, distance: Floats) -> Floats:
    """The tilt >= 0 under which the mean of W, in steps from its centre, is `distance`, by Newton steps.

    The mean is concave in a tilt >= 0, so Newton's steps from 0 go up to the root and never past it.
    """
    tilt = np.zeros(distance.size)
    open_ = np.flatnonzero(distance < (r * sizes).sum(axis=1) / 2)
    for _ in range(_NEWTON_STEPS):
        tanh = np.tanh(tilt[open_, None] * r[open_] / 2)
        weighted = sizes[open_] * r[open_] / 2
        lacking = distance[open_] - (weighted * tanh).sum(axis=1)
        move = lacking / (weighted * r[open_] / 2 * (1 - tanh * tanh)).sum(axis=1)
        tilt[open_] += move
        open_ = open_[np.abs(move) > 1e-9 * tilt[open_]]
        if not open_.size:
            break
    return tilt
