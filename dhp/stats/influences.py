"""Influences of examples on figures, and confidence intervals from them.

Detection, AUROC and the standardised drop of every test, their weighted means over metrics, variants and
levels, and differences of two judges are all means over examples, exactly or to first order. So one object
carries the figures and each example's influence on them, and the dependence of the tests within an example or
a cluster needs no further thought.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Bools, Floats, cluster_index, cluster_sums

_PRIOR = 0.5
"""Weight of the assumed design effect, in examples that are not at an end of the scale."""
_CORRELATION = 0.25
"""Assumed between tests of one example, and between examples of one cluster, where nothing can be seen."""


@dataclass(frozen=True, slots=True)
class Influences:
    """Figures of one shape (...), from n examples; NaN where undefined."""

    value: Floats
    """Estimated values, shape (...)."""
    influence: Floats
    """Contribution of each example to the figure, shape (n, ...): 0 where it has no pair, with a sum of 0."""
    there: Bools
    """Which examples have a part in the figure, shape (n, ...)."""
    tests: Floats
    """Number of equally weighted tests that the figure is the mean of (Kish 1965), shape (...)."""

    def variance(self, clusters: npt.ArrayLike | None = None) -> tuple[Floats, Floats]:
        """Variance of the figures, and number of clusters in each; both of shape (...).

        The sum of the squared influences of clusters, times G / (G - 1); NaN with fewer than two clusters.
        """
        index = cluster_index(clusters, len(self.influence))
        groups = (cluster_sums(self.there.astype(np.float64), index) > 0).sum(axis=0).astype(np.float64)
        squares = (cluster_sums(self.influence, index) ** 2).sum(axis=0)
        scale = np.where(groups > 1, groups / np.maximum(groups - 1, 1), np.nan)
        return squares * scale, groups


def mean_influences(values: npt.ArrayLike) -> Influences:
    """The mean of all values of all examples, with each example's influence on it, of shape ().

    `values` has shape (n, ...), NaN where there is none; the values of an example may depend on each other.
    """
    x = np.asarray(values, dtype=np.float64)
    x = x.reshape(len(x), -1)
    present = ~np.isnan(x)
    sizes, sums = present.sum(axis=1), np.nansum(x, axis=1)
    total = sizes.sum()
    value = sums.sum() / total if total else np.nan
    influence = (sums - value * sizes) / total if total else np.zeros(len(x))
    tests = max(1, int(present.any(axis=0).sum()))
    return Influences(np.asarray(value), influence, sizes > 0, np.asarray(float(tests)))


def weighted(influences: Influences, coefficients: npt.ArrayLike) -> Influences:
    """Weighted sums of figures.

    Parameters
    ----------
    influences
        Of shape (V, M).
    coefficients : shape (K, V, M)
        Of each sum; with rows that sum to 1 these are means. A figure with coefficient 0 does not matter,
        even if it is undefined.

    Returns
    -------
    Influences
        Of shape (K,).

    Raises
    ------
    ValueError
        If the shapes do not fit.
    """
    c = np.asarray(coefficients, dtype=np.float64)
    if c.ndim != 3 or c.shape[1:] != influences.value.shape:
        raise ValueError(f"coefficients must have shape (K, *{influences.value.shape}), not {c.shape}")
    flat = c.reshape(len(c), influences.value.size)
    n = len(influences.influence)
    parts = np.where(flat != 0, flat * influences.value.ravel(), 0.0)
    influence = influences.influence.reshape(n, -1) @ flat.T
    there = influences.there.reshape(n, -1).astype(np.float64) @ (flat.T != 0) > 0
    tests = np.abs(flat).sum(axis=1) ** 2 / (flat**2).sum(axis=1)
    return Influences(parts.sum(axis=1), influence, there, tests)


def difference(first: Influences, second: Influences) -> Influences:
    """The figures of the first less those of the second, of the same examples and shape."""
    return Influences(
        first.value - second.value,
        first.influence - second.influence,
        first.there | second.there,
        first.tests,
    )


def student_interval(
    influences: Influences, clusters: npt.ArrayLike | None = None, level: npt.ArrayLike = 0.95
) -> tuple[Floats, Floats]:
    """Value -+ t standard errors, t with one degree of freedom less than there are clusters.

    Parameters and result as for `wilson_interval`. The width is 0 where no example pulls.
    """
    variance, groups = influences.variance(clusters)
    half = _quantile(groups, level) * np.sqrt(variance)
    return influences.value - half, influences.value + half


def wilson_interval(
    influences: Influences,
    clusters: npt.ArrayLike | None = None,
    level: npt.ArrayLike = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> tuple[Floats, Floats]:
    """Wilson's interval with an effective number of examples, for figures between two bounds.

    A figure p in [0, 1] that is a mean over n examples has a variance of p (1 - p) / n at most. The ratio of
    its variance to this, the design effect, gives the number of examples n / ratio that a share with the same
    uncertainty would have, and this goes into Wilson's (1927) interval, with Student's t instead of z. So
    ties, weights, dependent metrics and clusters are respected, the limits stay within the bounds, and the
    width is never 0. (Korn and Graubard 1998 do the same for Clopper and Pearson's interval.)

    Where nearly every example is at a bound, the ratio cannot be seen. It is therefore shrunk towards the
    one of tests (and examples of a cluster) that correlate by 0.25, which weighs as much as half an example
    that is not at a bound.

    Parameters
    ----------
    influences
        Of shape (...).
    clusters : shape (n,), optional
        Integers; examples with the same one belong together.
    level
        Nominal coverage, in (0, 1); a number or one for each figure.
    bounds
        Smallest and largest possible value; those of a difference of two shares are -1 and 1.

    Returns
    -------
    low, high : shape (...)
        NaN where the figure is undefined or comes from fewer than two clusters.

    Raises
    ------
    ValueError
        If `clusters` do not fit or a level is out of range.
    """
    scale = bounds[1] - bounds[0]
    p = np.clip((influences.value - bounds[0]) / scale, 0.0, 1.0)
    n = influences.there.sum(axis=0).astype(np.float64)
    variance, groups = influences.variance(clusters)
    k, size = influences.tests, _cluster_size(influences.there, clusters)
    assumed = (1 + (k - 1) * _CORRELATION) / k * (1 + (size - 1) * _CORRELATION)
    seen = 4 * n * n * variance / scale**2
    effective = n * (4 * n * p * (1 - p) + _PRIOR) / (seen + _PRIOR * assumed)
    with np.errstate(invalid="ignore", divide="ignore"):
        t2 = _quantile(groups, level) ** 2 / effective
        centre = (p + t2 / 2) / (1 + t2)
        half = np.sqrt(t2 * (p * (1 - p) + t2 / 4)) / (1 + t2)
    return bounds[0] + scale * (centre - half), bounds[0] + scale * (centre + half)


def bonett_price_interval(
    influences: Influences,
    clusters: npt.ArrayLike | None = None,
    level: npt.ArrayLike = 0.95,
    added: float = 1.0,
) -> tuple[Floats, Floats]:
    """Bonett and Price's (2012) adjusted interval for one paired test with outcomes 0, 1/2 and 1.

    One example that fell and one that rose are added to the data; then value -+ z standard errors, cut to
    [0, 1]. In their notation for the difference of two paired proportions, here the net share that fell.
    With clusters the number of examples is divided by the design effect, shrunk as in `wilson_interval`,
    and z becomes Student's t. Parameters, result and errors as for `wilson_interval`; `added` is how many
    examples are added each way, above 0.
    """
    n = influences.there.sum(axis=0).astype(np.float64)
    squares = (influences.influence**2).sum(axis=0)
    variance, groups = influences.variance(clusters)
    degrees, size = np.where(groups > 1, np.inf, 0.0), n
    if clusters is not None:
        assumed = 1 + (_cluster_size(influences.there, clusters) - 1) * _CORRELATION
        size = n * (4 * n * n * squares + _PRIOR) / (4 * n * n * variance + _PRIOR * assumed)
        degrees = groups
    value = (size * influences.value + added) / (size + 2 * added)
    second = (size * (n * squares + influences.value**2) + added) / (size + 2 * added)
    half = _quantile(degrees, level) * np.sqrt(np.maximum(second - value**2, 0.0) / (size + 2 * added))
    return np.maximum(value - half, 0.0), np.minimum(value + half, 1.0)


def _cluster_size(present: Bools, clusters: npt.ArrayLike | None) -> Floats:
    """The mean size of the cluster that an example is in, shape (...), from `present` of shape (n, ...)."""
    if clusters is None:
        return np.ones(present.shape[1:])
    sizes = cluster_sums(present.astype(np.float64), cluster_index(clusters, len(present)))
    return np.asarray((sizes**2).sum(axis=0) / np.maximum(sizes.sum(axis=0), 1))


def _quantile(groups: Floats, level: npt.ArrayLike) -> Floats:
    """The quantile of Student's t with `groups` - 1 degrees of freedom that bounds an interval of this level.

    NaN below one degree.
    """
    from scipy.special import stdtrit

    levels = np.asarray(level, dtype=np.float64)
    if not ((levels > 0) & (levels < 1)).all():
        raise ValueError(f"level must be between 0 and 1, not {levels}")
    return np.where(groups > 1, stdtrit(np.maximum(groups - 1, 1), (1 + levels) / 2), np.nan)
