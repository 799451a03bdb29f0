"""Design of the tests, and their scores on the data and on resamples.

The joint test gives one p-value for all metrics of a variant by sign flips, exact under any dependence. If
damage changes nothing, the scores of an original and of its copy may be swapped, those of all metrics and of
all examples of a cluster together. The statistic is the harmonic mean of the metrics' p-values (Wilson 2019),
by the normal distribution of their signed rank sums. Its distribution is that of the swaps themselves: no
assumption on how metrics or examples depend is needed (Pesarin and Salmaso 2010).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import (
    Floats,
    Ints,
    checked_table,
    cluster_index,
    cluster_sums,
    flip_p,
    flipped_sums,
    metric_weights,
    sign_flips,
)
from dhp.stats.defaults import RESAMPLES
from dhp.stats.discernment import (
    COMBINATIONS,
    DEFAULT_COMBINATION,
    Combination,
    combined,
    discernment,
    level_average,
    minimum,
)
from dhp.stats.swap import signed_ranks
from dhp.stats.wilcoxon.signed_rank import Alternative, Grid, Method, SignedRank, Times, signed_rank


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of t samples of the same examples, for V variants and M metrics; NaN where undefined.

    The averages and minima are over the variants that the data define; a sample in which one of these is
    undefined has none, as it would be another quantity.
    """

    d: Floats
    """Discernment of each variant, shape (t, V); NaN where a metric has no pair."""
    d_ew: Floats
    """D with the weights of the metrics; equals `d` where there are none."""
    d_avg: Floats
    """Mean over levels of the mean within each level, shape (t,)."""
    d_min: Floats
    d_avg_ew: Floats
    d_min_ew: Floats


@dataclass(frozen=True, eq=False)
class Design:
    """Differences of n examples, V variants and M metrics, and how they are tested and combined.

    Made by `Design.of`, which checks it. What follows from the data is computed once, when first asked for.
    """

    differences: Floats
    levels: tuple[str, ...]
    weights: Floats | None
    method: Method
    combination: Combination
    alternative: Alternative
    clusters: Ints | None

    @classmethod
    def of(
        cls,
        differences: npt.ArrayLike,
        levels: Sequence[str],
        weights: npt.ArrayLike | None = None,
        *,
        method: Method = "exact",
        combination: Combination = DEFAULT_COMBINATION,
        alternative: Alternative = "greater",
        clusters: Ints | None = None,
    ) -> "Design":
        """A design that fits together.

        Parameters
        ----------
        differences : shape (n, V, M)
            Original minus degraded, NaN where a score is missing: such a pair is left out of that one test.
            Values must lie on their exact grid, as for `signed_rank`.
        levels : V names
            The level of each variant.
        weights : shape (V, M), optional
            Of the metrics for each variant, each row as for `combined`; a row of NaN means none for that
            variant.
        method, alternative
            As for `signed_rank`. Under `greater` D is high where scores fell. Samples are always tested so.
        combination
            As for `combined`. By `joint` the data are tested by sign flips of all metrics together (10,000
            patterns that are always the same), where no pattern reaches them and under `two-sided` by
            `hmp-asymptotic`; samples are tested by `hmp-asymptotic`.
        clusters : shape (n,), optional
            Integers; the tests of the data are by sign flips in which examples with the same one keep
            together, but under `scipy`. Samples are tested as if all examples were independent.

        Raises
        ------
        ValueError
            If shapes do not fit, a difference is infinite, a row of weights does not sum to 1, or a name is
            unknown. What the data leave undefined is NaN in the scores.
        """
        x = checked_table(differences)
        _, v, m = x.shape
        if isinstance(levels, str) or len(levels) != v:
            raise ValueError(f"levels must be {v} names, one per variant")
        for kind, name, allowed in (
            ("method", method, get_args(Method)),
            ("combination", combination, COMBINATIONS),
            ("alternative", alternative, get_args(Alternative)),
        ):
            if name not in allowed:
                raise ValueError(f"unknown {kind} '{name}'; allowed: {', '.join(allowed)}")
        metric_weights(weights, v, m)
        w = None if weights is None else np.asarray(weights, dtype=np.float64)
        return cls(x, tuple(levels), w, method, combination, alternative, clusters)

    @property
    def n(self) -> int:
        """Examples."""
        return len(self.differences)

    @cached_property
    def tests(self) -> tuple[tuple[SignedRank | None, ...], ...]:
        """The test of each variant and metric; None without a pair."""

        def tested(x: Floats) -> SignedRank | None:
            there = ~np.isnan(x)
            groups = None if self.clusters is None else self.clusters[there]
            return signed_rank(x[there], self.method, self.alternative, groups) if there.any() else None

        return tuple(tuple(tested(x) for x in row) for row in np.moveaxis(self.differences, 0, -1))

    @cached_property
    def point(self) -> Scores:
        """The scores of the data, t = 1."""
        log_p = np.array([[np.nan if test is None else test.log_p for test in row] for row in self.tests])
        if self.combination != "joint" or self.alternative != "greater":
            return self.scores(log_p[None])
        return self._with_d(*(self._joint(log_p, w) for w in (None, self.weights)))

    def sampled(self, times: Times) -> tuple[Floats, Scores]:
        """Natural logs of p (t, V, M), and scores, of samples in which the examples are `times` (n, t).

        p is that of `log_tails` (or scipy's), close to that of `signed_rank`.
        """
        found = [[grid.tests(times).log_p(self.method) for grid in row] for row in self._grids]
        log_p = np.moveaxis(np.array(found), -1, 0)
        return log_p, self.scores(log_p)

    def scores(self, log_p: Floats) -> Scores:
        """Scores from log p of the tests, shape (t, V, M)."""
        d, d_ew = (discernment(combined(log_p, w, self.combination)) for w in (None, self.weights))
        return self._with_d(d, d_ew)

    def _joint(self, log_p: Floats, weights: Floats | None) -> Floats:
        """D of the data by sign flips of all metrics, and of all examples of a cluster, together."""
        tail = combined(log_p, weights, "hmp-asymptotic")
        if log_p.shape[1] == 1:
            return discernment(tail)[None]  # the exact test of the one metric is of these sign flips
        rng = np.random.default_rng(0)
        return discernment(joint_log_p(self.differences, rng, self.clusters, weights, tail=tail))[None]

    def _with_d(self, d: Floats, d_ew: Floats) -> Scores:
        """Scores from discernment by variant, shape (t, V)."""
        return Scores(
            d=d,
            d_ew=d_ew,
            d_avg=self._average(d),
            d_min=self._minimum(d),
            d_avg_ew=self._average(d_ew),
            d_min_ew=self._minimum(d_ew),
        )

    @cached_property
    def _grids(self) -> list[list[Grid]]:
        return [[Grid.of(x) for x in row] for row in np.moveaxis(self.differences, 0, -1)]

    @cached_property
    def _defined(self) -> list[int]:
        """Variants of which every metric has a pair."""
        there = ~np.isnan(self.differences)
        return [v for v in range(there.shape[1]) if there[:, v].any(axis=0).all()]

    def _average(self, values: Floats) -> Floats:
        if not self._defined:
            return np.full(len(values), np.nan)
        return level_average(values[:, self._defined], [self.levels[v] for v in self._defined])

    def _minimum(self, values: Floats) -> Floats:
        return minimum(values[:, self._defined])[0] if self._defined else np.full(len(values), np.nan)


def joint_log_p(
    differences: npt.ArrayLike,
    rng: np.random.Generator,
    clusters: npt.ArrayLike | None = None,
    weights: Floats | None = None,
    *,
    tail: Floats | None = None,
    resamples: int = RESAMPLES,
) -> Floats:
    """Natural logs of one-sided p-values of V variants: did scores fall?

    Parameters
    ----------
    differences : shape (n, V, M)
        Original minus degraded, NaN where a score is missing.
    rng
        The only source of randomness.
    clusters : shape (n,), optional
        Integers; examples with the same one are swapped together.
    weights : shape (V, M), optional
        Of the metrics, as for `combined`; a row of NaN means none for that variant.
    tail : shape (V,), optional
        Natural logs of the p-values to take where no random pattern reaches the data. Default: of the
        harmonic mean of these p-values by the Landau distribution (Wilson 2019, eq. 4).
    resamples
        Random sign patterns, at least 1; all are counted out instead where they are no more.

    Returns
    -------
    shape (V,)
        At most 0. NaN where a metric has no pair. Where no random pattern reaches the data, at most
        1 / (resamples + 1).

    Raises
    ------
    ValueError
        If the shape is another, a difference is infinite or `resamples` is below 1.
    """
    from scipy.special import log_ndtr

    x = checked_table(differences)
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, not {resamples}")
    index = cluster_index(clusters, len(x))
    shares = cluster_sums(signed_ranks(x).reshape(len(x), -1), index)
    scale = np.sqrt((shares**2).sum(axis=0))
    signs, exact = sign_flips(len(shares), resamples, rng)
    sums = np.vstack([shares.sum(axis=0), flipped_sums(signs, shares)])
    z = np.where(scale > 0, sums / np.where(scale > 0, scale, 1.0), -np.inf)
    logs = log_ndtr(-z).reshape(len(z), *x.shape[1:])
    statistic = -combined(logs, weights, "hmp")
    undefined = np.any(np.all(np.isnan(x), axis=0), axis=1)
    p = np.log(flip_p(np.where(undefined, np.nan, statistic[0]), statistic[1:], exact))
    beyond = ~exact & (p <= -math.log(resamples + 1) + 1e-9)
    if tail is None:
        tail = combined(logs[:1], weights, "hmp-asymptotic")[0]
    return np.asarray(np.where(beyond, np.minimum(p, tail), p))
