"""How the answers of a judge agree when it is asked again."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats, Ints
from dhp.stats.influences import mean_influences, wilson_interval


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
    defined = ~np.isnan(x)
    if x.ndim != 2 or np.isinf(x).any() or not defined.any():
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
    # Squares of very large scores overflow. A power of 2 as the unit changes no digit of the others.
    unit = 2.0 ** np.frexp(np.nanmax(np.abs(x)))[1]
    x = x / unit
    means = np.nansum(x, axis=1) / sizes
    grand = np.nansum(x) / total
    within = float(np.nansum((x - means[:, None]) ** 2) / (total - texts))
    among = float((sizes * (means - grand) ** 2).sum() / (texts - 1))
    typical = (total - float((sizes**2).sum()) / total) / (texts - 1)  # samples a text
    spread = among + (typical - 1) * within
    icc = (among - within) / spread if spread > 0 else None
    between = max((among - within) / typical, 0.0)
    return _in_points(within, unit), _in_points(between, unit), icc


def _in_points(variance: float, unit: float) -> float | None:
    """A variance in squared units as it is; None if it overflows."""
    with np.errstate(over="ignore"):
        value = float(np.float64(variance) * unit * unit)
    return value if np.isfinite(value) else None


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
    low, high = wilson_interval(differ, clusters[several])
    return FlipRate(float(differ.value), (float(low), float(high)), len(m))
