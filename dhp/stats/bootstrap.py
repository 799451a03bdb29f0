"""How sure a discernment score is: the paired bootstrap over examples.

One resample of the examples serves all variants, metrics and models, so that what they share stays shared.
Sources: Efron 1979 (bootstrap), Efron 1987 (BCa), Davison and Hinkley 1997, Bickel, Goetze and van Zwet 1997
(draws of another size than the sample).
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from dhp.stats.combine import DEFAULT_COMBINATION, Combination, combined
from dhp.stats.discernment import LOG_ALPHA
from dhp.stats.wilcoxon.resampled import Grid, Times, draws, subsets
from dhp.stats.wilcoxon.signed_rank import Method, signed_rank

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Kind = Literal["percentile", "bca", "centred"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_CONSTANT = 1e-12


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


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Scores of the data, of resamples of its examples, and without each example in turn."""

    resamples: Scores
    """t = resamples; their p-values are those of `log_tails` (or scipy's), close to the exact ones."""
    point: Scores
    """t = 1: the data themselves, with the p-values of `signed_rank`."""
    left_out: Scores
    """t = n, example by example (the jackknife)."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval of each entry of a quantity, in the quantity's shape without the samples."""

    low: Floats
    """NaN, as `high`, where no interval is defined: with fewer than two pairs of scores in some test."""
    high: Floats
    bca: Bools
    """Whether the ends are BCa; else plain percentiles."""


@dataclass(frozen=True, slots=True)
class Design:
    """What stays the same over all samples."""

    grids: tuple[tuple[Grid, ...], ...]
    """Of each variant and metric."""
    share: Floats
    """The share of each variant in the averages over levels, shape (V,); 0 where it is undefined."""
    weights: Floats | None
    method: Method
    combination: Combination

    def scores(self, log_p: Floats, effects: Floats) -> Scores:
        """Of log p and rank-biserial correlations, shape (t, V, M)."""
        d, d_ew = (combined(log_p, w, self.combination) / LOG_ALPHA + 0.0 for w in (None, self.weights))
        m = effects.shape[-1]
        w = np.full(effects.shape[1:], 1 / m)
        if self.weights is not None:
            w = np.where(np.isnan(self.weights), w, self.weights)
        effect, effect_ew = effects.mean(axis=2), (effects * w).sum(axis=2)
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

    def _average(self, values: Floats) -> Floats:
        defined = self.share > 0
        return values[:, defined] @ self.share[defined] if defined.any() else np.full(len(values), np.nan)

    def _minimum(self, values: Floats) -> Floats:
        defined = self.share > 0
        return values[:, defined].min(axis=1) if defined.any() else np.full(len(values), np.nan)

    def sampled(self, times: Times) -> Scores:
        """Of samples in which the examples are `times`, shape (n, t)."""
        log_p = np.empty((times.shape[1], len(self.grids), len(self.grids[0])))
        effects = np.empty_like(log_p)
        for v, row in enumerate(self.grids):
            for m, grid in enumerate(row):
                log_p[:, v, m], effects[:, v, m] = grid.tests(times).outcomes(self.method)
        return self.scores(log_p, effects)

    def left_out(self, n: int) -> Scores:
        """Of the n examples without each in turn."""
        log_p = np.empty((n, len(self.grids), len(self.grids[0])))
        effects = np.empty_like(log_p)
        for v, row in enumerate(self.grids):
            for m, grid in enumerate(row):
                log_p[:, v, m], effects[:, v, m] = grid.left_out(self.method)
        return self.scores(log_p, effects)

    def point(self, differences: Floats) -> Scores:
        """Of the data, shape (n, V, M)."""
        whole = self.sampled(np.ones((len(differences), 1), dtype=np.int32))
        log_p = np.full_like(whole.effects, np.nan)
        for v, m in np.argwhere(~np.isnan(whole.effects[0])):
            pairs = differences[:, v, m]
            log_p[0, v, m] = signed_rank(pairs[~np.isnan(pairs)], self.method).log_p
        return self.scores(log_p, whole.effects)


def bootstrap(
    differences: npt.ArrayLike,
    levels: Sequence[str],
    rng: np.random.Generator,
    weights: npt.ArrayLike | None = None,
    *,
    method: Method = "exact",
    combination: Combination = DEFAULT_COMBINATION,
    resamples: int = 2000,
) -> Bootstrap:
    """Resample the examples, and compute every score anew.

    Parameters
    ----------
    differences : shape (n, V, M)
        Original minus degraded for n examples, V variants and M metrics, NaN where a score is missing: such
        a pair is left out of that one test. Values must lie on their exact grid, as for `signed_rank`; the
        tests are one-sided, and D is high where scores fell.
    levels : V names
        The level of each variant.
    rng
        The only source of randomness.
    weights : shape (V, M), optional
        Of the metrics for each variant, each row as for `combine`; a row of NaN means none for that variant.
    method, combination
        As for `signed_rank` and `combine`.
    resamples
        At least 1.

    Raises
    ------
    ValueError
        If shapes do not fit, a difference is infinite, a row of weights does not sum to 1, or `resamples` is
        below 1. What the data leave undefined is NaN in the scores.
    """
    x = checked(differences)
    design = make_design(x, levels, weights, method, combination)
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, not {resamples}")
    return Bootstrap(
        joined([design.sampled(times) for times in draws(len(x), len(x), resamples, rng)]),
        design.point(x),
        design.left_out(len(x)),
    )


def discernment_at_n(
    differences: npt.ArrayLike,
    levels: Sequence[str],
    rng: np.random.Generator,
    weights: npt.ArrayLike | None = None,
    *,
    size: int = 100,
    method: Method = "exact",
    combination: Combination = DEFAULT_COMBINATION,
    resamples: int = 1000,
) -> Scores:
    """Discernment as it would be on `size` examples, to compare where the numbers of examples differ.

    The mean (t = 1) over subsets drawn without replacement where there are more than `size` examples. Where
    there are fewer, over draws with replacement: an extrapolation, as if further examples were like these.
    Other parameters and errors as for `bootstrap`; `size` is at least 1.
    """
    x = checked(differences)
    design = make_design(x, levels, weights, method, combination)
    if size < 1 or resamples < 1:
        raise ValueError(f"size and resamples must be at least 1, not {size} and {resamples}")
    n = len(x)
    if n == size:
        return design.point(x)
    samples = draws(n, size, resamples, rng) if n < size else subsets(n, size, resamples, rng)
    drawn = joined([design.sampled(times) for times in samples])
    return Scores(**{f.name: _mean(getattr(drawn, f.name))[None] for f in fields(Scores)})


def interval(found: Bootstrap, quantity: str, *, level: float = 0.95, kind: Kind | None = None) -> Interval:
    """A two-sided bootstrap interval of one field of `Scores`, such as `d_avg`.

    `percentile`: quantiles of the resamples. `bca`: bias-corrected and accelerated (Efron 1987), the
    acceleration by the jackknife; percentiles where it is undefined: where no resample lies below the point
    or none above, or no single example moves the score. `centred`: percentiles moved so that the median of
    the resamples meets the point, and none of D below 0. Default: `centred` for discernment, `bca` for
    effects. As D is convex in the scores, resamples of it lie above the data, for which `bca` corrects too
    far (coverage: `docs/statistics.md`). Resamples in which the score is undefined do not count. Raises
    `ValueError` for an unknown quantity or kind, or a `level` outside (0, 1).
    """
    names = [field.name for field in fields(Scores)]
    if quantity not in names:
        raise ValueError(f"unknown quantity '{quantity}'; allowed: {', '.join(names)}")
    drawn, point, left_out = (getattr(s, quantity) for s in (found.resamples, found.point, found.left_out))
    of_d = quantity.startswith("d")
    ends_ = ends(drawn, point[0], left_out, level, kind or ("centred" if of_d else "bca"))
    return replace(ends_, low=np.maximum(ends_.low, 0.0)) if of_d else ends_


def ends(
    drawn: Floats, point: Floats, left_out: Floats, level: float, kind: Kind, *, discrete: bool = False
) -> Interval:
    """`interval` of any quantity: resamples (R, ...), the point (...), without each example (n, ...).

    Ends of a discrete one are values of resamples, never between two of them.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level}")
    if kind not in KINDS:
        raise ValueError(f"unknown kind '{kind}'; allowed: {', '.join(KINDS)}")
    shape = np.shape(point)
    low, high, bca = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape, dtype=np.bool_)
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    for at in np.ndindex(shape):
        values, without = drawn[:, *at], left_out[:, *at]
        values = values[~np.isnan(values)]
        if not values.size or np.isnan(without).any():
            continue
        adjusted = _bca(values, float(np.asarray(point)[at]), without, tails) if kind == "bca" else None
        bca[at] = adjusted is not None
        at_tails = tails if adjusted is None else adjusted
        if kind == "centred":
            values = values + (np.asarray(point)[at] - np.median(values))
        low[at], high[at] = (
            np.quantile(values, at_tails, method="inverted_cdf")
            if discrete
            else np.quantile(values, at_tails)
        )
    return Interval(low, high, bca)


def _bca(values: Floats, point: float, left_out: Floats, tails: Floats) -> Floats | None:
    """The quantiles to take instead of `tails`, or None where they are undefined."""
    from scipy.special import ndtr, ndtri

    margin = _CONSTANT * max(abs(point), 1.0)  # resamples like the data may differ from them by rounding
    share = ((values < point - margin).mean() + (values <= point + margin).mean()) / 2
    pulls = left_out.mean() - left_out
    if not 0 < share < 1 or np.abs(pulls).max() <= margin:
        return None
    acceleration = (pulls**3).sum() / (6 * (pulls**2).sum() ** 1.5)
    bias = ndtri(share)
    moved = bias + ndtri(tails)
    scale = 1 - acceleration * moved
    if (scale <= 0).any():
        return None
    adjusted: Floats = ndtr(bias + moved / scale)
    return adjusted


def checked(differences: npt.ArrayLike) -> Floats:
    """Differences of shape (n, V, M), finite or NaN; else `ValueError`."""
    x = np.asarray(differences, dtype=np.float64)
    if x.ndim != 3 or x.size == 0 or np.isinf(x).any():
        raise ValueError(
            f"differences must have shape (n, V, M), none 0, and be finite or NaN, not {x.shape}"
        )
    return x


def make_design(
    x: Floats, levels: Sequence[str], weights: npt.ArrayLike | None, method: Method, combination: Combination
) -> Design:
    """Validate and sort what all samples share; see `bootstrap`."""
    _, v, m = x.shape
    if isinstance(levels, str) or len(levels) != v:
        raise ValueError(f"levels must be {v} names, one a variant")
    if method not in get_args(Method):
        raise ValueError(f"unknown method '{method}'; allowed: {', '.join(get_args(Method))}")
    w = None if weights is None else np.asarray(weights, dtype=np.float64)
    if w is not None:
        if w.shape != (v, m):
            raise ValueError(f"weights must have shape {(v, m)}, not {w.shape}")
        given = w[~np.isnan(w).all(axis=1)]
        if not ((given >= 0).all() and (np.abs(given.sum(axis=1) - 1) <= 1e-6).all()):
            raise ValueError("weights must be non-negative and sum to 1 in each row that is not all NaN")
    defined: Bools = np.all(np.any(~np.isnan(x), axis=0), axis=1)
    mine = [name if there else None for name, there in zip(levels, defined.tolist(), strict=True)]
    there = [name for name in mine if name is not None]
    share = [0.0 if name is None else 1 / (len(set(there)) * there.count(name)) for name in mine]
    grids = tuple(tuple(Grid.of(x[:, i, j]) for j in range(m)) for i in range(v))
    return Design(grids, np.array(share), w, method, combination)


def joined(parts: Sequence[Scores]) -> Scores:
    """Scores of further and further samples as one."""
    names = [field.name for field in fields(Scores)]
    return Scores(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def _mean(values: Floats) -> Floats:
    """Over the samples in which it is defined; NaN where it is in none."""
    there = ~np.isnan(values)
    total = np.where(there, values, 0.0).sum(axis=0)
    mean: Floats = np.where(there.any(axis=0), total / np.maximum(there.sum(axis=0), 1), np.nan)
    return mean
