"""Psychometric curves and T75.

Detection rises with the dose from 50 % to one less the lapse rate. It is that of the metric that sees the
damage best over all doses, each example being read by the metrics that the others choose
(`dhp.stats.detection`). In the terms of signal detection theory (Green and Swets 1966) the judge's d' is a
power of the dose, and detection, a choice between two texts, is Phi(d' / sqrt 2); lapses as in Wichmann and
Hill (2001), up to those of a judge that sees no dose. T75, the dose at which detection is 75 %, does not
depend on the number of examples; a judge with many lapses never reaches it.

`psychometric` sums the outcomes by dose, of the data and of bootstrap samples (`_resampled`), fits a curve to
each (`fit`, on a grid) and reads T75 off it. A fit that only has to rise (`monotone`) says whether 75 % is
reached at all (`crossing`).
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats, Ints, cluster_draws, cluster_index
from dhp.stats.detection import outcomes_by_best

TARGET = 0.75
"""Detection that defines T75."""
GUESS = 0.5
"""Detection at dose 0: the copy is like the text that it is compared with."""
UNDEFINED = (math.nan, math.nan, math.nan)
"""T75 and its limits if it is undefined."""
# The grid is chosen; `scripts/coverage.py` measures what the intervals hold.
_STEPS = 6
"""Thresholds of the grid per octave of the dose."""
_BEYOND = 3
"""Octaves by which the grid goes beyond the doses."""
_POWERS = np.exp(np.linspace(math.log(0.4), math.log(4), 9))
"""Powers of the grid, evenly on a log scale."""
_LAPSES = np.array([0, 0.03, 0.07, 0.12, 0.18, 0.24, 0.26, 0.32, 0.4, 0.5])
"""Lapse rates of the grid. None is .25, at which a curve ends just at the target."""
_LEAST = 1e-4
"""Least probability of any outcome: a single slip rules out no curve."""
_AT_ONCE = 1 << 21
"""Likelihoods that are in memory at a time."""


@dataclass(frozen=True, slots=True)
class Psychometric:
    """Detection by dose, for k doses, and the curve through it.

    T75 is in units of the dose: 0 says below the smallest dose, inf not reached, as nothing is extrapolated;
    NaN if undefined.
    """

    detection: Floats
    """Detection at each dose, shape (k,); NaN if no pair is left."""
    pairs: Ints
    """Examples with all scores, shape (k,)."""
    power: float
    """Exponent of the dose to which d' is proportional; NaN, as the lapse rate, if T75 is undefined."""
    lapse: float
    """Lapse rate: 1 minus the detection of the largest damage, in [0, 0.5]."""
    fitted: tuple[float, float, float]
    """T75 of the curve of maximum likelihood, and its limits; inf, also for a resample, if that or
    isotonic regression, which assumes no form of the curve, stays below 75 % at every dose."""


def psychometric(
    doses: npt.ArrayLike,
    differences: npt.ArrayLike,
    rng: np.random.Generator,
    *,
    clusters: npt.ArrayLike | None = None,
    resamples: int = 1000,
    level: float = 0.95,
) -> Psychometric:
    """Fit a psychometric curve, and find T75 with an interval by bootstrap over examples.

    Parameters
    ----------
    doses : shape (k,)
        Positive and increasing.
    differences : shape (n, k, M)
        Harmlessly edited copy minus degraded one of n examples at each dose by M metrics, or original minus
        degraded; NaN if a score is missing.
    rng : the only source of randomness.
    clusters : shape (n,), optional
        Integers; examples with the same one are drawn together.
    resamples, level
        At least 1, and in (0, 1): of percentiles expanded for the number of examples (Hesterberg 2015).

    Returns
    -------
    Psychometric
        T75 is undefined (NaN) if no score moves at any dose or fewer than two doses have a pair; its
        limits too if there are fewer than two clusters.

    Raises
    ------
    ValueError
        If shapes do not fit or a parameter is out of range.
    """
    x, scores = checked_doses(doses), outcomes_by_best(differences, clusters)
    if x.size != scores.shape[1]:
        raise ValueError(f"doses must have shape ({scores.shape[1]},), not {x.shape}")
    if resamples < 1 or not 0 < level < 1:
        raise ValueError("resamples must be at least 1 and level in (0, 1)")
    defined = ~np.isnan(scores)
    kept = defined.any(axis=0)  # doses with a pair
    x, index = x[kept], cluster_index(clusters, len(scores))
    sums, pairs = _resampled(scores[:, kept], index, resamples, rng)
    detection = np.full(kept.size, np.nan)
    detection[kept] = sums[0] / pairs[0]
    something_moves = (scores[defined] != 0.5).any()
    if x.size < 2 or not something_moves:
        return Psychometric(detection, defined.sum(axis=0), math.nan, math.nan, UNDEFINED)
    thresholds, powers, lapses = fit(x, sums, pairs)
    never = np.isinf(crossing(x, monotone(sums, pairs)))
    thresholds = np.where(never, np.inf, thresholds)
    fitted = _threshold(thresholds, x, int(index.max()) + 1, level)
    return Psychometric(detection, defined.sum(axis=0), float(powers[0]), float(lapses[0]), fitted)


def curve(
    doses: npt.ArrayLike, threshold: npt.ArrayLike, power: npt.ArrayLike, lapse: npt.ArrayLike
) -> Floats:
    """Detection at doses above 0, in [0.5, 1 - lapse]; all parameters may be arrays.

    The threshold is T75; of a curve that ends at 75 % or below, the dose at half of its rise.
    """
    from scipy.special import ndtr, ndtri

    top = np.maximum(1 - GUESS - np.asarray(lapse, dtype=np.float64), 0.0)
    reaches = top > TARGET - GUESS
    share = np.where(reaches, (TARGET - GUESS) / np.where(reaches, top, 1.0), 0.5)
    relative = np.asarray(doses, dtype=np.float64) / np.asarray(threshold, dtype=np.float64)
    detected: Floats = GUESS + top * (2 * ndtr(ndtri((1 + share) / 2) * relative ** np.asarray(power)) - 1)
    return detected


def fit(doses: Floats, sums: Floats, pairs: Floats) -> tuple[Floats, Floats, Floats]:
    """T75, power and lapse rate of maximum likelihood, of many data sets at once.

    Parameters
    ----------
    doses : shape (k,)
    sums : shape (R, k)
        Pairs that fell and half of those that tied.
    pairs : shape (R, k)

    Returns
    -------
    t75, power, lapse : shape (R,)
        On a grid; T75 between its points by a parabola through the profile likelihood, inf if the curve
        ends at 75 % or below.
    """
    t, power, lapse = threshold_grid(doses), _POWERS, _LAPSES
    p = curve(doses[:, None, None, None], t[:, None, None], power[:, None], lapse)
    p = np.clip(p, _LEAST, 1 - _LEAST).reshape(doses.size, -1)
    hit, miss = np.log(p), np.log1p(-p)
    reaches = lapse < 1 - TARGET
    fitted = np.empty((3, len(sums)))
    most = max(1, _AT_ONCE // p.shape[1])
    for start in range(0, len(sums), most):
        rows = slice(start, start + most)
        likelihood = sums[rows] @ hit + (pairs[rows] - sums[rows]) @ miss
        at, power_at, lapse_at = np.unravel_index(likelihood.argmax(axis=1), (t.size, power.size, lapse.size))
        by_lapse = likelihood.reshape(len(at), t.size, power.size, lapse.size)
        # A curve with a lapse rate of 25 % or more never reaches the target, so it has no threshold.
        profile = by_lapse[..., reaches].max(axis=(2, 3))
        t75 = np.where(reaches[lapse_at], _between(t, profile, at), np.inf)
        fitted[:, rows] = t75, power[power_at], lapse[lapse_at]
    return fitted[0], fitted[1], fitted[2]


def threshold_grid(doses: Floats) -> Floats:
    """Thresholds to consider, evenly on a log scale, from well below the smallest dose to well above."""
    low, high = np.log2(doses[0]) - _BEYOND, np.log2(doses[-1]) + _BEYOND
    return np.asarray(2 ** np.linspace(low, high, math.ceil(round((high - low) * _STEPS, 6)) + 1))


def _between(t: Floats, profile: Floats, at: npt.NDArray[np.intp]) -> Floats:
    """The maximum of a parabola through the largest point of each row of a profile and its neighbours."""
    rows, inner = np.arange(len(at)), np.clip(at, 1, t.size - 2)
    less, same, more = profile[rows, inner - 1], profile[rows, inner], profile[rows, inner + 1]
    bend = less - 2 * same + more
    usable = (inner == at) & (bend < -1e-12)
    shift = np.where(usable, (less - more) / (2 * np.where(usable, bend, 1.0)), 0.0)
    return np.asarray(t[at] * (t[1] / t[0]) ** np.clip(shift, -0.5, 0.5))


def monotone(sums: Floats, pairs: Floats) -> Floats:
    """Detection by dose made non-decreasing and at least 50 %, of many data sets of shape (R, k).

    Isotonic regression weighted by the pairs, by its max-min formula (Barlow et al. 1972): the largest over
    the starts of the smallest over the ends of all means of doses from start to end.
    """
    before_first = ((0, 0), (1, 0))  # a column of 0 before the cumulated sums
    total = np.pad(sums.cumsum(axis=1), before_first)
    count = np.pad(pairs.cumsum(axis=1), before_first)
    fitted = np.full(sums.shape, GUESS)
    for i in range(sums.shape[1]):
        size = count[:, i + 1 :] - count[:, i : i + 1]
        means = (total[:, i + 1 :] - total[:, i : i + 1]) / np.where(size > 0, size, np.nan)
        # The smallest mean over this end and all later ones: cumulated from the last end backwards.
        means = np.where(size > 0, means, np.inf)[:, ::-1]
        least = np.minimum.accumulate(means, axis=1)[:, ::-1]
        fitted[:, i:] = np.maximum(fitted[:, i:], np.where(np.isfinite(least), least, GUESS))
    return fitted


def crossing(doses: Floats, detection: Floats) -> Floats:
    """The dose at which non-decreasing detection, shape (R, k), reaches 75 %, linear in its logarithm.

    0 if it is at least that at the first dose, inf if it never is.
    """
    above = detection >= TARGET
    at = np.where(above.any(axis=1), above.argmax(axis=1), 0)
    rows, before = np.arange(len(detection)), np.maximum(at - 1, 0)
    rise = np.where(at > 0, detection[rows, at] - detection[rows, before], 1.0)
    share = (TARGET - detection[rows, before]) / rise
    between = doses[before] * (doses[at] / doses[before]) ** share
    return np.where(above.any(axis=1), np.where(at > 0, between, 0.0), np.inf)


def checked_doses(doses: npt.ArrayLike) -> Floats:
    """Doses of shape (k,), positive and increasing; else `ValueError`."""
    x = np.asarray(doses, dtype=np.float64)
    if x.ndim != 1 or x.size == 0 or not (np.isfinite(x).all() and x[0] > 0 and (np.diff(x) > 0).all()):
        raise ValueError("doses must have shape (k,) with k >= 1, and be positive and increasing")
    return x


def _resampled(
    scores: Floats, index: Ints, resamples: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Sums of the scores and numbers of pairs by dose: of the data, then of resamples; (1 + resamples, k)."""
    times = np.vstack([np.ones(len(scores)), cluster_draws(index, resamples, rng).T])
    return times @ np.nan_to_num(scores), times @ (~np.isnan(scores)).astype(np.float64)


def _threshold(thresholds: Floats, doses: Floats, clusters: int, level: float) -> tuple[float, float, float]:
    """The first of the thresholds found; percentiles of the others, by rank (Davison and Hinkley 1997)."""
    within = np.where(thresholds < doses[0], 0.0, np.where(thresholds > doses[-1], np.inf, thresholds))
    if clusters < 2:
        return float(within[0]), math.nan, math.nan
    from scipy.special import ndtr, stdtrit

    deviate = stdtrit(clusters - 1, (1 + level) / 2) * math.sqrt(clusters / (clusters - 1))
    drawn = np.sort(within[1:])
    rank = max(1, math.floor(float(ndtr(-deviate)) * (drawn.size + 1)))
    return float(within[0]), float(drawn[rank - 1]), float(drawn[-rank])
