"""Habits of a judge: use of its scale, halo, consistent samples, confused metrics, failures, error rates.

Also the agreement of several raters of the same items.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Bools, Floats, Ints, metric_row
from dhp.stats.influences import mean_influences, wilson_interval

_LENIENT = 2 / 3
_HARSH = 1 / 2
_COMPRESSED = 1 / 2
_FEWEST = 3  # texts of which a correlation is taken


@dataclass(frozen=True, slots=True)
class Spread:
    """How scores are distributed."""

    mean: float
    """Mean of the scores."""
    sd: float | None
    """Standard deviation; None for a single score."""
    low: float
    """5th percentile of the scores."""
    high: float
    """95th percentile of the scores."""
    histogram: dict[str, float]
    """Score -> its share, from the lowest; of more than 21 different scores 20 equal bins, named after their
    middle."""


def spread(scores: npt.ArrayLike) -> Spread | None:
    """The distribution of scores of any shape, NaN if there is none; None if there is none at all.

    Raises `ValueError` for an infinite score.
    """
    x = np.asarray(scores, dtype=np.float64).ravel()
    if np.isinf(x).any():
        raise ValueError("scores must be finite or NaN")
    x = x[~np.isnan(x)]
    if not x.size:
        return None
    points, counts = np.unique(x, return_counts=True)
    if points.size > 21:
        counts, edges = np.histogram(x, bins=20)
        points = (edges[:-1] + edges[1:]) / 2
    low, high = np.quantile(x, [0.05, 0.95], method="inverted_cdf")
    unit = 2.0 ** np.frexp(np.abs(x).max())[1]  # squares of very large scores overflow
    return Spread(
        mean=float((x / unit).mean() * unit),
        sd=float((x / unit).std(ddof=1) * unit) if x.size > 1 else None,
        low=float(low),
        high=float(high),
        histogram=_shares(points, counts / x.size),
    )


def _shares(points: Floats, shares: Floats) -> dict[str, float]:
    share_of: dict[str, float] = {}
    for point, share in zip(points.tolist(), shares.tolist(), strict=True):
        name = f"{point:.12g}"
        share_of[name] = share_of.get(name, 0.0) + share
    return share_of


def style_names(originals: Spread, degraded: Spread, low: float, high: float) -> tuple[str, ...]:
    """What the distributions of one metric's scores, on a scale from `low` to `high`, are called.

    `lenient`: degraded texts still have a mean in the upper third of the scale. `harsh`: originals have one
    in the lower half. `compressed`: nine in ten scores, of originals and degraded texts together, lie within
    half of the scale.
    """
    length = high - low
    names = []
    if degraded.mean >= low + _LENIENT * length:
        names.append("lenient")
    if originals.mean <= low + _HARSH * length:
        names.append("harsh")
    if max(originals.high, degraded.high) - min(originals.low, degraded.low) <= _COMPRESSED * length:
        names.append("compressed")
    return tuple(names)


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


@dataclass(frozen=True, slots=True)
class SampleConsistency:
    """What the samples of a metric show; None if there are not enough of them."""

    within: float | None
    """Mean variance over the samples of one text."""
    between: float | None
    """Variance between texts, freed of what the samples add to it; at least 0."""
    icc: float | None
    """Intraclass correlation ICC(1) of single samples (Shrout and Fleiss 1979), at most 1: the share of the
    variance of a single score that is the texts' own. None if all scores are the same."""
    identical: float | None
    """Share of the texts with several samples whose samples are all the same, in [0, 1]."""
    dominance: float
    """Share of the most common single score, in [0, 1]: G-Eval's problem of a dominant digit."""
    entropy: float
    """Entropy of the distribution of single scores, in bits; 0 if all are the same."""
    distinct: int
    """Different values among the single scores."""


def sample_consistency(scores: npt.ArrayLike) -> SampleConsistency:
    """Variance, consistency and spread of the samples of one metric.

    Parameters
    ----------
    scores : shape (texts, samples)
        NaN if a sample has no score; texts may have different numbers of samples.

    Raises
    ------
    ValueError
        If the array has another shape, holds no score at all, or an infinite one.
    """
    x = np.asarray(scores, dtype=np.float64)
    if x.ndim != 2 or np.isinf(x).any() or not (defined := ~np.isnan(x)).any():
        raise ValueError(
            f"scores must have shape (texts, samples) with a score, none infinite, not {x.shape}"
        )
    _, counts = np.unique(x[defined], return_counts=True)
    shares = counts / counts.sum()
    several = defined.sum(axis=1) > 1
    identical = None
    if several.any():
        some = x[several]
        identical = float((np.nanmax(some, axis=1) == np.nanmin(some, axis=1)).mean())
    return SampleConsistency(
        *_variances(x[defined.any(axis=1)]),
        identical=identical,
        dominance=float(shares.max()),
        entropy=float(-(shares * np.log2(shares)).sum()) + 0.0,
        distinct=int(counts.size),
    )


def _variances(x: Floats) -> tuple[float | None, float | None, float | None]:
    """Within texts, between texts, and ICC(1), from a one-way analysis of variance with unequal groups."""
    sizes = (~np.isnan(x)).sum(axis=1)
    total, texts = int(sizes.sum()), sizes.size
    if texts < 2 or total == texts:
        return None, None, None
    unit = 2.0 ** np.frexp(np.nanmax(np.abs(x)))[1]  # squares of very large scores overflow
    x = x / unit
    means = np.nansum(x, axis=1) / sizes
    grand = np.nansum(x) / total
    within = float(np.nansum((x - means[:, None]) ** 2) / (total - texts))
    among = float((sizes * (means - grand) ** 2).sum() / (texts - 1))
    typical = (total - float((sizes**2).sum()) / total) / (texts - 1)  # samples a text
    spread = among + (typical - 1) * within
    icc = (among - within) / spread if spread > 0 else None
    between = max((among - within) / typical, 0.0)
    return _finite(within, unit), _finite(between, unit), icc


def _finite(variance: float, unit: float) -> float | None:
    """A variance in squared units as it is; None if it overflows."""
    with np.errstate(over="ignore"):
        value = float(np.float64(variance) * unit * unit)
    return value if np.isfinite(value) else None


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


def failure_p(original_failed: npt.ArrayLike, degraded_failed: npt.ArrayLike) -> Floats:
    """Two-sided exact p that ratings of originals and of degraded texts fail equally often (McNemar 1947).

    Both are boolean, of one shape (n, ...); p has shape (...), 1 if no example failed on one side only.
    Raises `ValueError` if the shapes differ.
    """
    from scipy.special import bdtr

    one, other = np.asarray(original_failed, dtype=np.bool_), np.asarray(degraded_failed, dtype=np.bool_)
    if one.shape != other.shape:
        raise ValueError(f"both must have one shape, not {one.shape} and {other.shape}")
    first, second = (one & ~other).sum(axis=0), (other & ~one).sum(axis=0)
    return np.asarray(np.minimum(1.0, 2 * bdtr(np.minimum(first, second), first + second, 0.5)))


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """Both error rates of a judge as counts: texts judged rightly, of how many.

    The counts are those of independent texts that would say as much; they are no whole numbers.
    """

    sensitivity: tuple[float, float]
    """Good texts that pass, of how many."""
    specificity: tuple[float, float]
    """Bad texts that do not pass, of how many."""


def error_rates(good: Floats, bad: Floats, passes: float) -> ErrorRates | None:
    """Error rates of a judge that passes a text from a score on.

    Parameters
    ----------
    good, bad : shape (texts of an example, examples)
        Scores of good texts and of degraded ones; NaN if there is none. Texts of one example are not
        independent, so the counts are scaled to the variance of the ratio of sums over examples.
    passes
        The lowest score that passes.

    Returns
    -------
    ErrorRates or None
        None if there is no good or no bad text.
    """
    defined = [~np.isnan(side) for side in (good, bad)]
    if not all(side.any() for side in defined):
        return None
    right = [good >= passes, (bad < passes) & defined[1]]
    sensitivity, specificity = (_counts(r, t) for r, t in zip(right, defined, strict=True))
    return ErrorRates(sensitivity, specificity)


def _counts(right: Bools, present: Bools) -> tuple[float, float]:
    """Texts judged rightly, of how many, in independent texts."""
    of = present.sum(axis=0)
    chosen = of > 0
    k, n = right.sum(axis=0)[chosen], of[chosen]
    total, examples = int(n.sum()), len(n)
    share = float(k.sum() / total)
    spread = float(((k - share * n) ** 2).sum()) / total**2
    size = share * (1 - share) / spread if spread > 0 else float(examples)
    size = min(float(total), max(1.0, size))
    return share * size, size


@dataclass(frozen=True, slots=True)
class FlipRate:
    """How often a pass / fail verdict changes when a text is judged again."""

    value: float
    """Probability that two answers about one text differ, mean over texts, in [0, 1]."""
    ci: tuple[float, float]
    """95 % Wilson interval over texts, or over clusters of them."""
    n: int
    """Number of texts with several answers."""


def flip_rate(scores: Floats, passes: float, clusters: Ints) -> FlipRate | None:
    """How often the verdict on a text changes from one sample to another.

    Of a text with k of m samples that pass, two samples differ with probability 2 k (m - k) / (m (m - 1)).

    Parameters
    ----------
    scores : shape (texts, samples)
        NaN if a sample has no score.
    passes
        The lowest score that passes.
    clusters : shape (texts,)
        Integers; texts with the same one are not independent.

    Returns
    -------
    FlipRate or None
        None if fewer than two clusters have a text with several scores.
    """
    size = (~np.isnan(scores)).sum(axis=1)
    several = size > 1
    m, k = size[several], (scores[several] >= passes).sum(axis=1)
    if len(np.unique(clusters[several])) < 2:
        return None
    differ = mean_influences(2 * k * (m - k) / (m * (m - 1)))
    low, high = map(float, wilson_interval(differ, clusters[several]))
    return FlipRate(float(differ.value), (low, high), len(m))


def krippendorff_alpha(ratings: npt.ArrayLike, *, nominal: bool = False) -> float | None:
    """Krippendorff's alpha: 1 for full agreement, 0 for no more than chance.

    Parameters
    ----------
    ratings : shape (raters, items)
        NaN if a rater did not rate an item. Items with fewer than two ratings do not count.
    nominal
        Ratings are names without an order; else they are interval-scaled.

    Returns
    -------
    float or None
        At most 1. None if no two ratings can differ: no item has two, or all ratings are equal.

    Notes
    -----
    alpha = 1 - D_o / D_e, the disagreement within items over that of all ratings (Krippendorff 2011,
    "Computing Krippendorff's alpha-reliability"). Nominal ratings become points, one axis a name: then both
    distances are squared ones, whose sum over pairs is n sum |x|^2 - |sum x|^2.
    """
    table = np.asarray(ratings, dtype=np.float64)
    defined = ~np.isnan(table)
    pairable = defined.sum(axis=0) > 1
    table, defined = table[:, pairable], defined[:, pairable]
    values = np.unique(table[defined])
    if len(values) < 2:
        return None
    points = table[..., None] == values if nominal else (table - values.mean())[..., None]
    points = np.where(defined[..., None], points, 0.0)
    counts, squares, sums = defined.sum(axis=0), (points**2).sum(axis=(0, 2)), points.sum(axis=0)
    observed = ((counts * squares - (sums**2).sum(axis=1)) / (counts - 1)).sum()
    n = counts.sum()
    expected = (n * squares.sum() - (sums.sum(axis=0) ** 2).sum()) / (n - 1)
    return float(1 - observed / expected)
