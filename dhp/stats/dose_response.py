"""How much damage a judge needs before it notices: detection curves and their thresholds."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.combine import DEFAULT_COMBINATION, Combination, checked_weights, combined
from dhp.stats.discernment import LOG_ALPHA, discernment
from dhp.stats.effects import effect
from dhp.stats.wilcoxon.resampled import Grid, Times, draws
from dhp.stats.wilcoxon.signed_rank import signed_rank
from dhp.stats.wilcoxon.tails import log_tails

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


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
    differences: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    combination: Combination = DEFAULT_COMBINATION,
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
    combination: Combination = DEFAULT_COMBINATION,
    *,
    resamples: int = 1000,
    level: float = 0.95,
) -> ThresholdIntervals:
    """Percentile bootstrap intervals of the thresholds of `curve`, over examples (Efron 1979).

    One resample of examples serves all doses and metrics, so what they share stays shared. The ends are
    thresholds of resamples, never between two of them, so that "never" (inf) stays what it is. Resamples
    in which a threshold is undefined do not count for it.

    The tests of the resamples have the exact tail where a smooth one would be too coarse, else a saddlepoint
    approximation: see `log_tails`. Their D is that of `curve` to within 0.1, mostly to 0.001.

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
    d = np.concatenate([_resampled_d(x, times) for times in draws(n, n, resamples, rng)])
    found = np.empty((resamples, m + 1))
    for i, curves in enumerate(np.dstack([d, _combined(d, weights, combination)])):
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
    """D of the combined p-values, from D by dose and metric, shape (..., k, m); NaN where any metric is."""
    rows = None if weights is None else np.broadcast_to(checked_weights(weights, d.shape[-1]), d.shape[-2:])
    return combined(d * LOG_ALPHA, rows, combination) / LOG_ALPHA + 0.0


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


def _resampled_d(x: Floats, times: Times) -> Floats:
    """D of resamples, shape (resamples, k, m); `times` (n, resamples) says how often each example is in."""
    _, k, m = x.shape
    d = np.empty((times.shape[1], k, m))
    for dose, metric in np.ndindex(k, m):
        tests = Grid.of(x[:, dose, metric]).tests(times)
        logs = log_tails(tests.sizes, tests.positive)
        d[:, dose, metric] = np.where(tests.pairs > 0, logs / LOG_ALPHA + 0.0, np.nan)
    return d
