"""Detection: how often a judge scores the degraded text lower, the headline that does not depend on N.

Of a pair of scores the degraded one fell, tied or rose; detection is P(fell) + P(tied) / 2: 50 % is blind,
100 % sees every case, below 50 % prefers the damage. It is the area under the ROC curve of the paired choice,
and the probability of superiority of paired data (Vargha and Delaney 2000).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats, Ints
from dhp.stats.influences import Influences, bonett_price_interval, weighted, wilson_interval
from dhp.stats.layout import checked_table, level_shares, metric_weights
from dhp.stats.selection import Selected, largest, smallest


@dataclass(frozen=True, slots=True)
class Estimate:
    """Figures in [0, 1] with confidence limits, of one shape; NaN where undefined."""

    value: Floats
    low: Floats
    high: Floats

    def only(self) -> "Estimate":
        """The first of a row of figures."""
        return Estimate(self.value[0], self.low[0], self.high[0])


@dataclass(frozen=True, slots=True)
class Detection:
    """Detection of V variants by M metrics, of each variant, each level and the whole run.

    NaN where undefined: a test without a pair, a variant in which a metric with weight has none, limits
    from fewer than two clusters.
    """

    fell: Floats
    """Share of the pairs in which the degraded text scored lower, shape (V, M)."""
    tied: Floats
    rose: Floats
    pairs: Ints
    """Examples with both scores, shape (V, M)."""
    metrics: Estimate
    """Of each test, shape (V, M)."""
    variants: Estimate
    """Of each variant, shape (V,): the mean over metrics by their weights."""
    best_metric: Selected
    """The metric with the highest detection, shape (V,), its limits corrected for the choice."""
    level_names: tuple[str, ...]
    levels: Estimate
    """Of each level, shape (L,): the mean over its variants."""
    average: Estimate
    """The mean over levels, shape ()."""
    minimum: Selected
    """The variant with the lowest detection, shape (), its limits corrected for the choice."""


def detection(
    differences: npt.ArrayLike,
    levels: Sequence[str],
    weights: npt.ArrayLike | None = None,
    clusters: npt.ArrayLike | None = None,
    level: float = 0.95,
    fewest: int = 1,
) -> Detection:
    """Detection with confidence intervals, all in closed form.

    One test has Bonett and Price's interval, a mean over several tests Wilson's with an effective number of
    examples, which respects the dependence of the tests within an example.

    Parameters
    ----------
    differences : shape (n, V, M)
        Original minus degraded, NaN where a score is missing: such a pair is left out of that one test.
        Equal scores must differ by exactly 0.
    levels : V names
        The level of each variant.
    weights : shape (V, M), optional
        How much each metric should fall, each row non-negative with sum 1; a row of NaN means equal weights.
    clusters : shape (n,), optional
        Integers; examples with the same one belong together.
    level
        Nominal coverage of the intervals, in (0, 1).
    fewest
        Pairs that a variant needs in some metric to be the minimum.

    Raises
    ------
    ValueError
        If shapes do not fit, a difference is infinite, or a row of weights does not sum to 1.
    """
    x = checked_table(differences)
    _, v, m = x.shape
    rows = metric_weights(weights, v, m)
    tests = detection_influences(x)
    each = weighted(tests, np.eye(v)[:, :, None] * rows)
    names, shares = level_shares(levels, ~np.isnan(each.value))
    fell, tied, rose, pairs = outcome_shares(x)
    counted = np.where(pairs.max(axis=1) >= fewest, each.value, np.nan)
    return Detection(
        fell,
        tied,
        rose,
        pairs,
        metrics=estimated(tests, clusters, level),
        variants=estimated(each, clusters, level),
        best_metric=largest(tests.value, lambda at: detection_limits(tests, clusters, at), level),
        level_names=names,
        levels=estimated(weighted(tests, shares[:-1, :, None] * rows), clusters, level),
        average=estimated(weighted(tests, shares[-1:, :, None] * rows), clusters, level).only(),
        minimum=smallest(counted, lambda at: detection_limits(each, clusters, at), level),
    )


def outcome_shares(differences: Floats) -> tuple[Floats, Floats, Floats, Ints]:
    """Shares that fell, tied and rose over the first axis, NaN without a pair, and the number of pairs."""
    pairs = (~np.isnan(differences)).sum(axis=0)
    counts = np.stack([(differences > 0).sum(axis=0), (differences == 0).sum(axis=0)])
    fell, tied = counts / np.where(pairs > 0, pairs, np.nan)
    return fell, tied, np.where(pairs > 0, 1 - fell - tied, np.nan), pairs


def detection_influences(differences: Floats) -> Influences:
    """Detection of each test with the influence of each example, from differences (n, ...)."""
    there = ~np.isnan(differences)
    scores = np.where(there, (1 + np.sign(differences)) / 2, 0.0)
    pairs = np.where(there.any(axis=0), there.sum(axis=0), np.nan)
    value = scores.sum(axis=0) / pairs
    influence = np.where(there, (scores - value) / pairs, 0.0)
    return Influences(value, influence, there, np.ones(value.shape))


def detection_limits(
    influences: Influences, clusters: npt.ArrayLike | None, level: npt.ArrayLike
) -> tuple[Floats, Floats]:
    """The interval of `detection` for figures of any shape."""
    single = influences.tests == 1
    one = bonett_price_interval(influences, clusters, level)
    several = wilson_interval(influences, clusters, level)
    return np.where(single, one[0], several[0]), np.where(single, one[1], several[1])


def estimated(influences: Influences, clusters: npt.ArrayLike | None = None, level: float = 0.95) -> Estimate:
    """Detection with the limits of `detection_limits`."""
    return Estimate(influences.value, *detection_limits(influences, clusters, level))
