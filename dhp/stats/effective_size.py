"""How many independent outcomes leave a mean as uncertain as it is.

Outcomes that depend on each other tell less than as many independent ones: the tests of one example, and the
examples of one cluster. The number of independent ones goes into a limit in place of the number of examples
(Korn and Graubard 1998). It is the one effective size of detection, of shares that pass a mark, and of the
mean over kinds.
"""

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats
from dhp.stats.student import quantile

WEIGHT = 1.0
"""Weight of the assumed correlations, in outcomes of 0 or 1 near the middle: a single event does not undo
them. This and the two below are chosen; `scripts/limits.py` measures how often the limits hold with them."""
OF_TESTS = 0.7
"""Assumed correlation of the tests of one example."""
OF_CLUSTERS = 0.25
"""Assumed correlation of the examples of one cluster."""


def effective_size(
    n: npt.ArrayLike,
    single: npt.ArrayLike,
    variance: npt.ArrayLike,
    groups: npt.ArrayLike,
    tests: npt.ArrayLike = 1.0,
    cluster_size: npt.ArrayLike = 1.0,
) -> Floats:
    """The effective size: the variance of one outcome over that of the mean. All have one shape (...).

    If nearly all outcomes are equal, neither variance can be seen. So the design effect, the ratio of the
    variance to that of independent examples, is shrunk to the one of the assumed correlations. The size is
    also lowered by as much as Student's t is wider than the normal distribution.

    Parameters
    ----------
    n
        Examples with an outcome.
    single
        Variance of one outcome of one test, in [0, 1/4].
    variance
        Of the mean, estimated between clusters.
    groups
        Clusters with an outcome; without clusters each example is one of its own.
    tests
        Number of tests that an example's outcome is the mean of.
    cluster_size
        Mean size of the cluster that an example is in.

    Returns
    -------
    shape (...)
        At most n * tests, and exactly n for one test of independent examples; NaN with fewer than two groups
        of dependent ones.
    """
    n = np.asarray(n, dtype=np.float64)
    tests = np.asarray(tests, dtype=np.float64)
    cluster_size = np.asarray(cluster_size, dtype=np.float64)
    assumed = (1 + (tests - 1) * OF_TESTS) / tests * (1 + (cluster_size - 1) * OF_CLUSTERS)
    seen = 4 * n * n * np.asarray(variance)
    size = n * (4 * n * np.asarray(single) + WEIGHT) / (seen + WEIGHT * assumed)
    wider = quantile(np.asarray(groups, dtype=np.float64), 0.95) / quantile(np.array(np.inf), 0.95)
    independent = (tests <= 1) & (cluster_size <= 1)
    return np.where(independent, n, np.minimum(size, n * tests) / wider**2)
