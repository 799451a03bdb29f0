"""Correlations of a judge's scores with human ones at three levels, with bootstrap intervals over sources.

Each level (`_AT`) takes the scores and a row of weights for the sources as they are and for each resample,
and gives one value a row: a resample is a change of weights, so nothing is drawn again.

All coefficients are one (Daniels 1944): the cosine of how every two points differ on both sides, by their
values (Pearson), their ranks (Spearman) or the sign alone (Kendall).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from dhp.stats.arrays import Floats

Level = Literal["per_source", "pooled", "system"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""The mean over sources of the correlation within a source (sample or document level in the literature); over
all items together (dataset level); of the means of the systems (system level)."""
Coefficient = Literal["pearson", "spearman", "kendall", "kendall-c"]
COEFFICIENTS: tuple[Coefficient, ...] = get_args(Coefficient)
"""Kendall is tau-b; `kendall-c` is Stuart's tau-c."""
RESAMPLES = 1000
"""Resamples of the sources, for intervals and tests. Chosen."""
_CONFIDENCE = 0.95
"""Coverage of the intervals."""
FEWEST = 3
"""Points below which there is no correlation to speak of: over two it is always 1 or -1."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """One coefficient at one level."""

    level: Level
    """Over what it is taken."""
    coefficient: Coefficient
    """Name of the correlation coefficient."""
    value: float | None
    """Correlation in [-1, 1]; None if it is undefined: fewer than three points, or constant scores."""
    ci: tuple[float, float] | None
    """Bootstrap percentiles over sources; None if undefined."""
    n: int
    """Sources, items or systems that it rests on."""
    left_out: int
    """Sources with constant scores or fewer than three scored systems; 0 at the other levels."""


def correlations(
    human: Floats,
    judge: Floats,
    *,
    coefficients: Sequence[Coefficient] = ("pearson", "spearman", "kendall"),
    levels: Sequence[Level] = LEVELS,
    resamples: int = RESAMPLES,
    rng: np.random.Generator | None = None,
) -> list[Correlation]:
    """Correlations of two scores of the same items.

    Scores have the shape (sources, systems), NaN if an item is not scored; an item that lacks either is
    left out. Intervals come from resampled sources, by default of a generator seeded with 0; 0 resamples give
    no interval. The result has one for each level and coefficient, in that order.
    """
    both = ~(np.isnan(human) | np.isnan(judge))
    x, y = np.where(both, human, np.nan), np.where(both, judge, np.nan)
    rng = rng or np.random.default_rng(0)

    # A resample is how often each source was drawn; all levels and coefficients see the same resamples.
    counts = rng.multinomial(len(x), np.full(len(x), 1 / len(x)), size=resamples)
    weights = np.vstack([np.ones(len(x)), counts])  # the sources as they are, then each resample
    by_level = []
    for level in levels:
        for coefficient in coefficients:
            # The first row of weights has each source once, and gives the value itself.
            (value, *draws), n, left_out = _AT[level](x, y, coefficient, weights)
            number = None if np.isnan(value) else float(value)
            ci = None if number is None else percentiles(draws)
            by_level.append(Correlation(level, coefficient, number, ci, n, left_out))
    return by_level


def percentiles(draws: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % bootstrap percentile interval; None unless most of the draws are defined."""
    # A resample may hold constant scores alone, and then has no correlation.
    defined = [value for value in draws if not np.isnan(value)]
    if not defined or len(defined) <= len(draws) / 2:
        return None
    low, high = np.quantile(defined, [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2])
    return float(low), float(high)


def row_correlations(x: Floats, y: Floats, coefficient: Coefficient) -> Floats:
    """The correlation of each row of `x` with that of `y`.

    NaN, in both alike, is where there is no point; the result is NaN for a row with fewer than three points
    or with constant values.
    """
    a, b = _differences(x, coefficient), _differences(y, coefficient)
    # Sums over every two points of a row: what the cosine is made of.
    pairs = (-2, -1)
    cross, aa, bb = (a * b).sum(axis=pairs), (a * a).sum(axis=pairs), (b * b).sum(axis=pairs)
    n = (~np.isnan(x)).sum(axis=-1)
    if coefficient == "kendall-c":
        value = _tau_c(cross, n, np.minimum(_distinct(x), _distinct(y)))
    else:
        value = _cosine(cross, aa, bb)
    return np.where(n < FEWEST, np.nan, value)


def _differences(x: Floats, coefficient: Coefficient) -> Floats:
    """How every two points of a row differ, shape (..., n, n); 0 where one is missing."""
    points = x
    if coefficient == "spearman":
        from scipy.stats import rankdata

        points = rankdata(x, axis=-1, nan_policy="omit")
    apart = np.nan_to_num(points[..., :, None] - points[..., None, :])
    # Means over a resample that are equal may differ by rounding.
    apart[np.abs(apart) < 1e-12 * np.nanmax(np.abs(x), initial=0.0)] = 0.0
    return np.sign(apart) if coefficient.startswith("kendall") else apart


def _cosine(cross: Floats, aa: Floats, bb: Floats) -> Floats:
    """The cosine from the sums of products and of squares; NaN for a side that does not vary."""
    varied = (aa > 0) & (bb > 0)
    # The inner `where` keeps the division quiet in rows whose result is not taken.
    return np.where(varied, np.clip(cross / np.sqrt(np.where(varied, aa * bb, 1)), -1, 1), np.nan)


def _distinct(x: Floats) -> Floats:
    """The number of distinct values in each row."""
    return np.array([len(set(row[~np.isnan(row)])) for row in x], dtype=float)


def _tau_c(score: Floats, n: Floats, fewest: Floats) -> Floats:
    """Stuart's tau-c from twice the number of concordant less discordant pairs."""
    varied = (fewest > 1) & (n > 0)
    return np.where(varied, score * fewest / np.where(varied, n**2 * (fewest - 1), 1), np.nan)


def _per_source(x: Floats, y: Floats, coefficient: Coefficient, weights: Floats) -> tuple[Floats, int, int]:
    """The mean of the correlations within sources."""
    each = row_correlations(x, y, coefficient)
    defined = ~np.isnan(each)
    return _mean(weights[:, defined], each[defined]), int(defined.sum()), int((~defined).sum())


def _system(x: Floats, y: Floats, coefficient: Coefficient, weights: Floats) -> tuple[Floats, int, int]:
    """The correlation of the means of the systems."""
    defined = ~np.isnan(x)
    a, b = _system_means(x, weights), _system_means(y, weights)
    return row_correlations(a, b, coefficient), int(defined.any(axis=0).sum()), 0


def _system_means(scores: Floats, weights: Floats) -> Floats:
    """The mean score of each system (column) by each row of weights."""
    means = []
    for of_system in scores.T:
        defined = ~np.isnan(of_system)
        means.append(_mean(weights[:, defined], of_system[defined]))
    return np.column_stack(means)


def _mean(weights: Floats, values: Floats) -> Floats:
    """Weighted means, one for each row of weights; NaN if nothing has weight."""
    total = weights.sum(axis=1)
    # `where` leaves the NaN of `out` if no source of a resample has a value.
    means: Floats = np.divide(weights @ values, total, out=np.full(len(weights), np.nan), where=total > 0)
    return means


def _pooled(x: Floats, y: Floats, coefficient: Coefficient, weights: Floats) -> tuple[Floats, int, int]:
    """The correlation over all items; an item of a source that was drawn twice counts twice."""
    defined = ~np.isnan(x)
    a, b = x[defined], y[defined]
    source = np.nonzero(defined)[0]
    n = len(a)
    if n < FEWEST:
        return np.full(len(weights), np.nan), n, 0
    # Scores repeat: what counts is how often each pair of them occurs in each source.
    points, which = np.unique(np.column_stack([a, b]), axis=0, return_inverse=True)
    of_source = np.zeros((len(x), len(points)))
    # `ravel`: numpy 2.0 gives the inverse along an axis a second dimension.
    np.add.at(of_source, (source, which.ravel()), 1)
    if coefficient == "spearman":  # ranks change with each resample
        return _weighted_spearman(points[:, 0], points[:, 1], weights @ of_source), n, 0

    def sums(product: Floats) -> Floats:
        """A product of differences, summed over every two items of each resample."""
        # First over the points of every two sources, so that a resample is a quadratic form of its weights.
        of_two_sources = of_source @ product @ of_source.T
        total: Floats = ((weights @ of_two_sources) * weights).sum(axis=1)
        return total

    a_apart = _differences(points[:, 0], coefficient)
    b_apart = _differences(points[:, 1], coefficient)
    cross, aa, bb = sums(a_apart * b_apart), sums(a_apart * a_apart), sums(b_apart * b_apart)
    if coefficient == "kendall-c":
        fewest = np.full(len(weights), float(min(len(set(a)), len(set(b)))))
        return _tau_c(cross, weights @ of_source.sum(axis=1), fewest), n, 0
    return _cosine(cross, aa, bb), n, 0


def _weighted_spearman(a: Floats, b: Floats, weights: Floats) -> Floats:
    """By the ranks that the points have if each counts as often as a row of weights says."""
    a_rank, b_rank = _weighted_ranks(a, weights), _weighted_ranks(b, weights)
    cross = (weights * (a_rank * b_rank)).sum(axis=1)
    aa = (weights * a_rank**2).sum(axis=1)
    bb = (weights * b_rank**2).sum(axis=1)
    return _cosine(cross, aa, bb)


def _weighted_ranks(values: Floats, weights: Floats) -> Floats:
    """Ranks less their mean, a row for each row of weights: the weight below a value and half of the tied."""
    mean_rank = weights.sum(axis=1, keepdims=True) / 2
    below, tied = values[:, None] < values, values[:, None] == values
    ranks: Floats = weights @ (below + 0.5 * tied) - mean_rank
    return ranks


_AT: dict[Level, Callable[[Floats, Floats, Coefficient, Floats], tuple[Floats, int, int]]] = {
    "per_source": _per_source,
    "pooled": _pooled,
    "system": _system,
}
