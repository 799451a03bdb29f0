"""Influences of examples on figures, and confidence intervals from them.

Detection, AUROC and the standardised drop of every test, their weighted means over metrics, variants and
levels, and differences of two judges are all means over examples, exactly or to first order. So one object
carries the figures and each example's influence on them, and the dependence of the tests within an example or
a cluster needs no further thought.

First `Influences` and its arithmetic (`weighted`, `difference`, `added`), then two intervals of any figure.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Bools, Floats, cluster_index, cluster_sums
from dhp.stats.student import quantile

_PRIOR = 0.5
"""Weight of the assumed design effect, in examples that are not at an end of the scale; chosen."""
_CORRELATION = 0.25
"""Assumed between tests of one example, and between examples of one cluster, if none can be seen; chosen."""


@dataclass(frozen=True, slots=True)
class Influences:
    """Figures of one shape (...), from n examples; NaN if undefined."""

    value: Floats
    """Estimated values, shape (...)."""
    influence: Floats
    """Contribution of each example to the figure, shape (n, ...): 0 if it has no pair, with a sum of 0."""
    defined: Bools
    """Which examples have a part in the figure, shape (n, ...)."""
    tests: Floats
    """Number of equally weighted tests of an example that are averaged (Kish 1965), shape (...)."""

    def variance(self, clusters: npt.ArrayLike | None = None) -> tuple[Floats, Floats]:
        """Variance of the figures, and number of clusters in each; both of shape (...).

        The sum of the squared influences of clusters, times G / (G - 1); NaN with fewer than two clusters.
        """
        index = cluster_index(clusters, len(self.influence))
        groups = (cluster_sums(self.defined.astype(np.float64), index) > 0).sum(axis=0).astype(np.float64)
        squares = (cluster_sums(self.influence, index) ** 2).sum(axis=0)
        scale = np.where(groups > 1, groups / np.maximum(groups - 1, 1), np.nan)
        return squares * scale, groups

    def part(self, places: slice) -> "Influences":
        """Some of the figures, of those of shape (K,)."""
        return Influences(
            self.value[places], self.influence[:, places], self.defined[:, places], self.tests[places]
        )


def mean_influences(values: npt.ArrayLike) -> Influences:
    """The mean of all values of all examples, with each example's influence on it, of shape ().

    `values` has shape (n, ...), NaN if there is none; the values of an example may depend on each other.
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
    present = influences.defined.reshape(n, -1).astype(np.float64) @ (flat.T != 0)
    defined = present > 0
    tests = np.abs(flat).sum(axis=1) ** 2 / (flat**2).sum(axis=1)
    # Tests of different examples are not several tests of one example.
    of_example = present.sum(axis=0) / np.maximum(defined.sum(axis=0), 1)
    return Influences(parts.sum(axis=1), influence, defined, np.clip(of_example, 1, np.maximum(tests, 1)))


def difference(first: Influences, second: Influences) -> Influences:
    """The figures of the first less those of the second, of the same examples and shape."""
    return Influences(
        first.value - second.value,
        first.influence - second.influence,
        first.defined | second.defined,
        first.tests,
    )


def added(first: Influences, second: Influences) -> Influences:
    """The sum of two figures of the same examples and shape."""
    return Influences(
        first.value + second.value,
        first.influence + second.influence,
        first.defined | second.defined,
        first.tests + second.tests,
    )


def student_interval(
    influences: Influences, clusters: npt.ArrayLike | None = None, level: npt.ArrayLike = 0.95
) -> tuple[Floats, Floats]:
    """Value -+ t standard errors, t with one degree of freedom less than there are clusters.

    Parameters and result as for `wilson_interval`. The width is 0 if no example pulls.
    """
    variance, groups = influences.variance(clusters)
    half = quantile(groups, level) * np.sqrt(variance)
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

    If nearly every example is at a bound, the ratio cannot be seen. It is therefore shrunk towards the
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
        NaN if the figure is undefined or comes from fewer than two clusters.

    Raises
    ------
    ValueError
        If `clusters` do not fit or a level is out of range.
    """
    scale = bounds[1] - bounds[0]
    p = np.clip((influences.value - bounds[0]) / scale, 0.0, 1.0)
    n = influences.defined.sum(axis=0).astype(np.float64)
    variance, groups = influences.variance(clusters)
    k, size = influences.tests, cluster_size(influences.defined, clusters)
    assumed = (1 + (k - 1) * _CORRELATION) / k * (1 + (size - 1) * _CORRELATION)
    seen = 4 * n * n * variance / scale**2
    effective = n * (4 * n * p * (1 - p) + _PRIOR) / (seen + _PRIOR * assumed)
    with np.errstate(invalid="ignore", divide="ignore"):
        t2 = quantile(groups, level) ** 2 / effective
        centre = (p + t2 / 2) / (1 + t2)
        half = np.sqrt(t2 * (p * (1 - p) + t2 / 4)) / (1 + t2)
    return bounds[0] + scale * (centre - half), bounds[0] + scale * (centre + half)


def cluster_size(present: Bools, clusters: npt.ArrayLike | None) -> Floats:
    """The mean size of the cluster that an example is in, shape (...), from `present` of shape (n, ...)."""
    if clusters is None:
        return np.ones(present.shape[1:])
    sizes = cluster_sums(present.astype(np.float64), cluster_index(clusters, len(present)))
    return np.asarray((sizes**2).sum(axis=0) / np.maximum(sizes.sum(axis=0), 1))
