"""What is tested and how: the differences of all variants and metrics, and the scores of samples of them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import get_args

import numpy as np
import numpy.typing as npt

from dhp.stats.combine import COMBINATIONS, DEFAULT_COMBINATION, Combination, combined
from dhp.stats.discernment import discernment, level_average, minimum
from dhp.stats.effects import Effect, effect
from dhp.stats.joint import joint_log_p
from dhp.stats.layout import checked_table, metric_weights
from dhp.stats.wilcoxon.resampled import Grid, Times
from dhp.stats.wilcoxon.signed_rank import Alternative, Method, SignedRank, signed_rank

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of t samples of the same examples, for V variants and M metrics; NaN where undefined.

    The averages and minima are over the variants that the data define; a sample in which one of these is
    undefined has none, as it would be another quantity.
    """

    d: Floats
    """Discernment of each variant, shape (t, V); NaN where a metric has no pair."""
    d_ew: Floats
    """With the weights of the metrics; equals `d` where there are none."""
    d_avg: Floats
    """Mean over levels of the mean within each level, shape (t,)."""
    d_min: Floats
    d_avg_ew: Floats
    d_min_ew: Floats
    effects: Floats
    """Rank-biserial correlations in [-1, 1], positive where scores fell; shape (t, V, M)."""
    effect: Floats
    """Of each variant, shape (t, V): the mean over metrics, each counting the same."""
    effect_ew: Floats
    """The mean with the weights of the metrics."""
    effect_avg: Floats
    """Mean over levels of the mean `effect` within each level, shape (t,)."""
    effect_avg_ew: Floats

    @classmethod
    def joined(cls, parts: "Sequence[Scores]") -> "Scores":
        """Scores of further and further samples as one."""
        names = [field.name for field in fields(cls)]
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


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
    clusters: npt.NDArray[np.int64] | None

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
        clusters: npt.NDArray[np.int64] | None = None,
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
            Of the metrics for each variant, each row as for `combine`; a row of NaN means none for that
            variant.
        method, alternative
            As for `signed_rank`. Under `greater` D is high where scores fell. Samples are always tested so.
        combination
            As for `combine`. By `joint` the data are tested by sign flips of all metrics together (10,000
            patterns that are always the same), where no pattern reaches them and under `two-sided` by
            `hmp-asymptotic`; samples are tested by `hmp-asymptotic`.
        clusters : shape (n,), optional
            Integers; under `joint`, examples with the same one are flipped together.

        Raises
        ------
        ValueError
            If shapes do not fit, a difference is infinite, a row of weights does not sum to 1, or a name is
            unknown. What the data leave undefined is NaN in the scores.
        """
        x = checked_table(differences)
        _, v, m = x.shape
        if isinstance(levels, str) or len(levels) != v:
            raise ValueError(f"levels must be {v} names, one a variant")
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

    def part(self, examples: npt.NDArray[np.bool_], variant: int) -> "Design":
        """Of one variant and the examples chosen, shape (n,)."""
        weights = None if self.weights is None else self.weights[[variant]]
        chosen = self.differences[examples][:, [variant]]
        groups = None if self.clusters is None else self.clusters[examples]
        levels = self.levels[variant : variant + 1]
        return replace(self, differences=chosen, levels=levels, weights=weights, clusters=groups)

    @cached_property
    def tests(self) -> tuple[tuple[SignedRank | None, ...], ...]:
        """The test of each variant and metric; None without a pair."""
        return tuple(
            tuple(signed_rank(x, self.method, self.alternative) if x.size else None for x in row)
            for row in self._pairs
        )

    @cached_property
    def effects(self) -> tuple[tuple[Effect | None, ...], ...]:
        """The effect of each variant on each metric; None without a pair."""
        return tuple(tuple(effect(x) if x.size else None for x in row) for row in self._pairs)

    @cached_property
    def point(self) -> Scores:
        """The scores of the data, t = 1."""
        log_p = [[np.nan if test is None else test.log_p for test in row] for row in self.tests]
        sizes = [[np.nan if each is None else each.rank_biserial for each in row] for row in self.effects]
        if self.combination != "joint" or self.alternative != "greater":
            return self.scores(np.array([log_p]), np.array([sizes]))
        d, d_ew = (self._joint(np.array(log_p), w) for w in (None, self.weights))
        return self._with_d(d, d_ew, np.array([sizes]))

    def sampled(self, times: Times) -> Scores:
        """Of samples in which the examples are `times`, shape (n, t)."""
        return self.scores(*self.outcomes(times))

    def outcomes(self, times: Times) -> tuple[Floats, Floats]:
        """Natural logs of p and rank-biserial correlations of samples, both of shape (t, V, M).

        p is that of `log_tails` (or scipy's), close to that of `signed_rank`.
        """
        found = [[grid.tests(times).outcomes(self.method) for grid in row] for row in self._grids]
        return _stacked(found)

    def without_each(self) -> Scores:
        """Of the examples without each in turn, t = n (the jackknife)."""
        return self.scores(*_stacked([[grid.left_out(self.method) for grid in row] for row in self._grids]))

    def scores(self, log_p: Floats, effects: Floats) -> Scores:
        """Of log p and rank-biserial correlations, shape (t, V, M)."""
        d, d_ew = (discernment(combined(log_p, w, self.combination)) for w in (None, self.weights))
        return self._with_d(d, d_ew, effects)

    def _joint(self, log_p: Floats, weights: Floats | None) -> Floats:
        """D of the data by sign flips of all metrics, and of all examples of a cluster, together."""
        tail = combined(log_p, weights, "hmp-asymptotic")
        if log_p.shape[1] == 1 and self.clusters is None:
            return discernment(tail)[None]  # the exact test of the one metric is of these sign flips
        rng = np.random.default_rng(0)
        own = None if self.clusters is not None else tail
        found = joint_log_p(self.differences, rng, self.clusters, weights, tail=own)
        return discernment(found)[None]

    def _with_d(self, d: Floats, d_ew: Floats, effects: Floats) -> Scores:
        """Of discernment by variant, shape (t, V), and effects (t, V, M)."""
        rows = (metric_weights(w, *effects.shape[1:]) for w in (None, self.weights))
        effect, effect_ew = ((effects * row).sum(axis=2) for row in rows)
        return Scores(
            d=d,
            d_ew=d_ew,
            d_avg=self._average(d),
            d_min=self._minimum(d),
            d_avg_ew=self._average(d_ew),
            d_min_ew=self._minimum(d_ew),
            effects=effects,
            effect=effect,
            effect_ew=effect_ew,
            effect_avg=self._average(effect),
            effect_avg_ew=self._average(effect_ew),
        )

    @cached_property
    def _pairs(self) -> list[list[Floats]]:
        """The differences that are there, of each variant and metric."""
        table = np.moveaxis(self.differences, 0, -1)
        return [[x[~np.isnan(x)] for x in row] for row in table]

    @cached_property
    def _grids(self) -> list[list[Grid]]:
        return [[Grid.of(x) for x in row] for row in np.moveaxis(self.differences, 0, -1)]

    @cached_property
    def _defined(self) -> list[int]:
        """Variants of which every metric has a pair."""
        return [v for v, row in enumerate(self._pairs) if all(x.size for x in row)]

    def _average(self, values: Floats) -> Floats:
        if not self._defined:
            return np.full(len(values), np.nan)
        return level_average(values[:, self._defined], [self.levels[v] for v in self._defined])

    def _minimum(self, values: Floats) -> Floats:
        return minimum(values[:, self._defined])[0] if self._defined else np.full(len(values), np.nan)


def _stacked(found: Sequence[Sequence[tuple[Floats, Floats]]]) -> tuple[Floats, Floats]:
    """Two results (t,) of each variant and metric, as two arrays (t, V, M)."""
    first, second = (np.array([[pair[i] for pair in row] for row in found]) for i in (0, 1))
    return np.moveaxis(first, -1, 0), np.moveaxis(second, -1, 0)
