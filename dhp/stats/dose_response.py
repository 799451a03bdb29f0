"""Dose-response: how much damage a judge needs before it notices, and the detection threshold."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats, Ints
from dhp.stats.design import Design
from dhp.stats.discernment import discernment
from dhp.stats.psychometric import checked_doses
from dhp.stats.wilcoxon.resampled import draws


@dataclass(frozen=True, slots=True)
class DoseTests:
    """Tests at k doses of m metrics; NaN where no pair of scores is left."""

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
    where the threshold is undefined, and where the design has clusters.
    """

    metrics: Floats
    """Shape (m, 2)."""
    combined: Floats
    """Shape (2,)."""


def dose_tests(design: Design) -> DoseTests:
    """Test at each dose whether scores fell; the variants of the design are the doses."""
    tests = [[np.nan if test is None else test.log_p for test in row] for row in design.tests]
    effects = [
        [(np.nan, np.nan) if each is None else (each.rank_biserial, each.fell) for each in row]
        for row in design.effects
    ]
    size, fell = np.moveaxis(np.array(effects), -1, 0)
    pairs = (~np.isnan(design.differences)).sum(axis=0)
    return DoseTests(discernment(np.array(tests)), design.point.d[0], size, fell, pairs)


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
    x, y = checked_doses(doses), np.asarray(d, dtype=np.float64)
    if y.shape != x.shape:
        raise ValueError(f"d must have shape {x.shape}, not {y.shape}")
    return _threshold(np.log(x), y)


def threshold_interval(
    doses: npt.ArrayLike,
    design: Design,
    rng: np.random.Generator,
    *,
    resamples: int = 1000,
    level: float = 0.95,
) -> ThresholdIntervals:
    """Percentile bootstrap intervals of the thresholds of all metrics and their combination (Efron 1979).

    One resample of examples serves all doses and metrics, so what they share stays shared. The ends are
    thresholds of resamples, never between two of them, so that "never" (inf) stays what it is. Resamples
    in which a threshold is undefined do not count for it.

    The tests of the resamples have the exact tail where a smooth one would be too coarse, else a saddlepoint
    approximation: see `log_tails`. Their D is exact to within 0.1, mostly to 0.001.

    Parameters
    ----------
    doses
        As for `threshold`.
    design
        Its variants are the doses, in their order.
    rng
        The only source of randomness.
    resamples
        At least 1.
    level
        Nominal coverage, in (0, 1).

    Raises
    ------
    ValueError
        As `threshold`; if there is not one dose a variant, or `resamples` or `level` is out of range.
    """
    logs = np.log(checked_doses(doses))
    n, k, m = design.differences.shape
    if logs.size != k:
        raise ValueError(f"doses must have shape ({k},) for differences of shape {(n, k, m)}")
    if resamples < 1 or not 0 < level < 1:
        raise ValueError("resamples must be at least 1 and level between 0 and 1")
    if design.clusters is not None:
        return ThresholdIntervals(np.full((m, 2), np.nan), np.full(2, np.nan))
    parts = []
    for times in draws(n, n, resamples, rng):
        log_p, scores = design.sampled(times)
        parts.append(np.dstack([discernment(log_p), scores.d]))
    found = np.array([[_threshold(logs, column) for column in d.T] for d in np.concatenate(parts)])
    ends = [_percentiles(column[~np.isnan(column)], level) for column in found.T]
    return ThresholdIntervals(np.array(ends[:m]), np.array(ends[m]))


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
