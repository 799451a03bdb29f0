"""Detection, the share of pairs in which the degraded text scores lower.

Of a pair of scores the degraded one fell, tied or rose; detection is P(fell) + P(tied) / 2: 50 % is blind,
100 % sees every case, below 50 % prefers the damage. It is the probability of superiority of paired data
(Vargha and Delaney 2000). The detection of a kind of damage is that of the metric that sees it best.

**Value.** The largest of several estimates is too large. So each example is read by a metric that the
other examples choose: its outcome under each metric is weighted by exp(-1.5 g^2), where g is how many
standard errors the metric lies behind the best one on all other examples (with clusters: on all other
clusters). A weight does not depend on the outcome it weighs, so the value of a judge whose metrics see
equally much is unbiased. If metrics differ by about a standard error it is too low by a part of that.

**Limits.** The plain 95 % interval of a mean of outcomes in [0, 1] (`dhp.stats.bounds`). That of a kind is
the one of its value; its upper limit is the one of the metric that is best on the data, if that is larger,
as the value may be too low. How many kinds are judged does not matter to an interval: that is the business of
tests.

Outcomes of examples (1, 1/2, 0) are read by weights of the metrics, (n, V, M), which `metric_choice` makes of
sums over the other clusters. What comes out are `Influences`: a mean, and what each example adds to it. The
limits (`Bounds`) and the mean over levels (`averaged_kinds`) follow from these.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Bools, Floats, Ints, checked_table, cluster_index, cluster_sums, level_shares
from dhp.stats.bounds import Bounds
from dhp.stats.influences import Influences, weighted

FEWEST_PAIRS = 5
"""Pairs that a kind of damage needs to be judged, and to enter an average. With fewer no test can be
significant at 5 %: of four pairs that all fell p is 1/16."""
_DECISION = 1.5
"""How sharply the metric is chosen: the weight of one that is g standard errors behind is exp(-1.5 g^2).
Chosen."""


@dataclass(frozen=True, slots=True)
class Detection:
    """Detection of V kinds of damage by M metrics, and of the whole run; NaN if undefined."""

    fell: Floats
    """Share of the pairs in which the degraded text scored lower, shape (V, M)."""
    tied: Floats
    """Share of the pairs with equal scores, shape (V, M)."""
    rose: Floats
    """Share of the pairs in which the degraded text scored higher, shape (V, M)."""
    pairs: Ints
    """Examples with both scores, shape (V, M)."""
    metric_value: Floats
    """Detection by each metric, shape (V, M)."""
    metric_low: Floats
    """Its lower 95 % confidence limit."""
    metric_high: Floats
    """Its upper limit."""
    value: Floats
    """Detection of each kind of damage by the metric that sees it best, shape (V,)."""
    low: Floats
    """Its lower 95 % confidence limit, shape (V,)."""
    high: Floats
    """Its upper limit, shape (V,)."""
    seen: Influences
    """`value` before it is cut to the figures of the metrics, with what each example adds, shape (V, 1)."""
    bounds: Bounds
    """Of `seen`, shape (V, 1)."""
    metric_bounds: Bounds
    """Of `metric_value`, shape (V, M)."""
    clusters: Ints | None
    """The cluster of each example, shape (n,); None if each is one of its own."""
    average: tuple[float, float, float]
    """The mean over levels of the mean over the kinds of a level, and its limits."""
    lowest: int
    """The kind with the lowest value; -1 without any."""

    def log_p_above(self, line: float) -> Floats:
        """Natural logs of the p-values that detection is `line` or less, in [0, 1]; shape (V,)."""
        return self.bounds.log_p_above(line)[:, 0]

    def at_least(self, error: float) -> Floats:
        """One-sided lower limits of detection that are too high with a chance of `error`; shape (V,).

        Above a line exactly if `log_p_above` it is at most the log of `error`.
        """
        return self.bounds.low(1 - 2 * error)[:, 0]

    def log_p_below(self, line: float) -> Floats:
        """Natural logs of the p-values that detection by any metric is `line` or more; shape (V,)."""
        by_metric = self.metric_bounds.log_p_below(line)
        return np.maximum(self.bounds.log_p_below(line)[:, 0], np.fmax.reduce(by_metric, axis=1))


def detection(
    differences: npt.ArrayLike,
    levels: Sequence[str],
    clusters: npt.ArrayLike | None = None,
) -> Detection:
    """Detection of each kind of damage with its interval, computed as the module says.

    Parameters
    ----------
    differences : shape (n, V, M)
        Original minus degraded, NaN if a score is missing: such a pair is left out of that one test.
        Equal scores must differ by exactly 0.
    levels : V names
        The level of each kind.
    clusters : shape (n,), optional
        Integers; examples with the same one belong together.

    Raises
    ------
    ValueError
        If shapes do not fit or a difference is infinite.
    """
    x = checked_table(differences)
    tests = detection_influences(x)
    fell, tied, rose, pairs = outcome_shares(x)
    counted = pairs.max(axis=1) >= FEWEST_PAIRS
    chosen = _metric_weights(x, cluster_index(clusters, len(x)))
    seen, by_best = _of_kinds(x, chosen), _of_kinds(x, _of_best(x))
    bounds, metric_bounds = Bounds(seen, clusters), Bounds(tests, clusters)
    value, low, high = _kinds(tests.value, seen.value, bounds, Bounds(by_best, clusters).high())
    return Detection(
        fell,
        tied,
        rose,
        pairs,
        metric_value=tests.value,
        metric_low=metric_bounds.low(),
        metric_high=metric_bounds.high(),
        value=value,
        low=low,
        high=high,
        seen=seen,
        bounds=bounds,
        metric_bounds=metric_bounds,
        clusters=None if clusters is None else np.asarray(clusters),
        average=_average(value, seen, by_best, levels, counted, clusters),
        lowest=int(np.where(counted, value, np.inf).argmin()) if counted.any() else -1,
    )


def outcome_shares(differences: Floats) -> tuple[Floats, Floats, Floats, Ints]:
    """Shares that fell, tied and rose over the first axis, NaN without a pair, and the number of pairs."""
    pairs = (~np.isnan(differences)).sum(axis=0)
    of = np.where(pairs > 0, pairs, np.nan)
    fell = (differences > 0).sum(axis=0) / of
    tied = (differences == 0).sum(axis=0) / of
    rose = (differences < 0).sum(axis=0) / of
    return fell, tied, rose, pairs


def detection_influences(differences: Floats) -> Influences:
    """Detection of each test with the influence of each example, from differences (n, ...)."""
    return _figures(_outcomes(differences))


def averaged_kinds(
    seen: Influences, levels: Sequence[str], counted: Bools, *, each: bool = False
) -> Influences:
    """The mean over levels of the mean over the counted kinds of a level, NaN without any; shape (1,).

    From figures of shape (V, 1). With `each` the kinds follow, counted or not: shape (1 + V,).
    """
    _, shares = level_shares(levels, counted)
    coefficients = np.concatenate([shares[-1:], np.eye(len(seen.value))]) if each else shares[-1:]
    return weighted(seen, coefficients[:, :, None])


def _of_kinds(differences: Floats, weights: Floats) -> Influences:
    """Detection of each kind, shape (V, 1), by weights (n, V, M) of the metrics."""
    by_example = _read(_outcomes(differences), weights)
    return _figures(by_example[:, :, None])


def _outcomes(differences: Floats) -> Floats:
    """1 for a score that fell, 1/2 for a tie, 0 for one that rose; NaN without a pair."""
    return np.asarray((1 + np.sign(differences)) / 2)


def _figures(outcomes: Floats) -> Influences:
    """Means of outcomes over the first axis, NaN without any."""
    defined = ~np.isnan(outcomes)
    pairs = np.where(defined.any(axis=0), defined.sum(axis=0), np.nan)
    value = np.where(defined, outcomes, 0.0).sum(axis=0) / pairs
    influence = np.where(defined, (outcomes - value) / pairs, 0.0)
    return Influences(value, influence, defined, tests=np.ones(value.shape))


def _kinds(by_metric: Floats, seen: Floats, bounds: Bounds, highest: Floats) -> tuple[Floats, Floats, Floats]:
    """The figure of each kind, kept between those of the metrics and within its limits, and these."""
    low, high = bounds.low()[:, 0], np.fmax(bounds.high(), highest)[:, 0]
    between = np.clip(seen[:, 0], np.fmin.reduce(by_metric, axis=1), np.fmax.reduce(by_metric, axis=1))
    return np.clip(between, np.fmax(low, 0), np.fmin(high, 1)), low, high


def outcomes_by_best(differences: npt.ArrayLike, clusters: npt.ArrayLike | None = None) -> Floats:
    """1 for a score that fell, 1/2 for a tie, 0 for one that rose, by example and kind; NaN without a pair.

    From shape (n, V, M); each example is read by the metrics that see all kinds together best on the others.
    Shape (n, V).
    """
    x = checked_table(differences)
    index = cluster_index(clusters, len(x))
    defined = ~np.isnan(x)
    signs = np.where(defined, np.sign(x), 0.0)
    # The kinds together choose, so they are summed first.
    sums = cluster_sums(signs.sum(axis=1, keepdims=True), index)
    squares = cluster_sums((signs**2).sum(axis=1, keepdims=True), index)
    counts = cluster_sums(defined.astype(np.float64).sum(axis=1, keepdims=True), index)
    weights = _choice(sums, squares, counts)[index]
    return _read(_outcomes(x), normalised(np.broadcast_to(weights, x.shape), defined))


def _metric_weights(differences: Floats, index: Ints) -> Floats:
    """How much each example counts under each metric, chosen by the other clusters' examples.

    Shape (n, V, M). A row sums to 1 over the metrics under which the example has a pair, and is 0 for others.
    """
    defined = ~np.isnan(differences)
    if differences.shape[2] == 1:
        return defined.astype(np.float64)
    signs = np.where(defined, np.sign(differences), 0.0)
    sums = cluster_sums(signs, index)
    squares = cluster_sums(signs**2, index)
    counts = cluster_sums(defined.astype(np.float64), index)
    return normalised(_choice(sums, squares, counts)[index], defined)


def _choice(sums: Floats, squares: Floats, counts: Floats) -> Floats:
    """Weights of the metrics for each cluster, not yet normalised, from sums over clusters (G, V, M)."""
    groups = np.maximum((counts.sum(axis=2) > 0).sum(axis=0), 1)[:, None]
    return metric_choice(
        others=sums.sum(axis=0) - sums,
        moved=squares.sum(axis=0) - squares,
        size=counts.sum(axis=0) - counts,
        groups=groups,
    )


def metric_choice(others: Floats, moved: Floats, size: Floats, groups: npt.ArrayLike) -> Floats:
    """Weights of metrics, not yet normalised, shape (..., M).

    Parameters
    ----------
    others, moved, size : shape (..., M)
        Of all examples but those of one cluster: the sum of the signs of their differences, how many are not
        0, and how many there are.
    groups
        Clusters with a pair, at least 1.
    """
    # Bonett and Price's two pseudo-examples keep the standard error above 0 if no score moved.
    variance = np.where(size > 0, (moved + 2) / (size + 2) - (others / (size + 2)) ** 2, 0.0)
    defined = np.maximum((size > 0).sum(axis=-1, keepdims=True), 1)
    error = np.sqrt(variance.sum(axis=-1, keepdims=True) / defined)
    figure = np.where(size > 0, others / np.maximum(size, 1), -np.inf)
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = (figure.max(axis=-1, keepdims=True) - figure) * np.sqrt(groups) / error
    return np.exp(-_DECISION * np.where(np.isnan(gap), 0.0, gap) ** 2)


def normalised(weights: Floats, present: Bools) -> Floats:
    """Weights of the metrics that are there, summing to 1; equal ones if none of these has weight."""
    some = np.where(present, weights, 0.0)
    without_weight = (some.sum(axis=-1, keepdims=True) <= 0) & present
    some = np.where(without_weight, 1.0, some)
    return np.asarray(some / np.maximum(some.sum(axis=-1, keepdims=True), 1e-300))


def _read(outcomes: Floats, weights: Floats) -> Floats:
    """Each example's outcome (n, ..., M) by its weights, shape (n, ...); NaN without a pair."""
    defined = ~np.isnan(outcomes)
    read = np.where(defined, outcomes * weights, 0.0).sum(axis=-1)
    return np.where(defined.any(axis=-1), read, np.nan)


def _average(
    value: Floats,
    seen: Influences,
    by_best: Influences,
    levels: Sequence[str],
    counted: Bools,
    clusters: npt.ArrayLike | None,
) -> tuple[float, float, float]:
    """The mean over levels, its lower limit by `seen`, whose expectation is never above the true figure.

    The upper limit is by the metrics that are best on the data, whose expectation is never below it.
    """
    _, shares = level_shares(levels, counted)  # refuses levels that do not fit, also if no kind counts
    if not counted.any():
        return math.nan, math.nan, math.nan
    share = shares[-1]  # of each kind in the mean over levels
    lower = Bounds(averaged_kinds(seen, levels, counted), clusters, _mean_square(seen, share))
    upper = Bounds(averaged_kinds(by_best, levels, counted), clusters, _mean_square(by_best, share))
    average = np.where(counted, share * value, 0.0).sum()
    return float(average), float(lower.low()[0]), float(upper.high()[0])


def _mean_square(kinds: Influences, shares: Floats) -> Floats:
    """The mean square of an outcome of one kind, shape (1,), from figures of shape (V, 1)."""
    squares = kinds.defined.sum(axis=0) * (kinds.influence**2).sum(axis=0) + kinds.value**2
    return np.asarray([np.where(shares > 0, shares * squares[:, 0], 0.0).sum()])


def _of_best(differences: Floats) -> Floats:
    """Weights (n, V, M) by which the metrics with the highest detection count, and no other."""
    defined = ~np.isnan(differences)
    value = detection_influences(differences).value
    highest = np.max(value, axis=1, keepdims=True, initial=-np.inf, where=defined.any(axis=0))
    chosen = defined & (value >= highest - 1e-12)
    return np.asarray(chosen / np.maximum(chosen.sum(axis=2, keepdims=True), 1))
