"""Agreement of judges with human ratings: correlations at three levels, tests between judges."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from dhp.stats.arrays import Bools, Floats

Level = Literal["per_source", "pooled", "system"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""The mean over sources of the correlation within a source (sample or document level in the literature); over
all items together (dataset level); of the means of the systems (system level)."""
Coefficient = Literal["pearson", "spearman", "kendall", "kendall-c"]
COEFFICIENTS: tuple[Coefficient, ...] = get_args(Coefficient)
"""Kendall is tau-b; `kendall-c` is Stuart's tau-c."""
RESAMPLES = 1000
"""Resamples of the sources, for intervals and tests."""
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
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> list[Correlation]:
    """Correlations of two scores of the same items.

    Scores have the shape (sources, systems), NaN if an item is not scored; an item that lacks either is
    left out. Intervals come of resampled sources, by default from a generator seeded with 0; 0 resamples give
    none. One for each level and coefficient, in that order.
    """
    both = ~(np.isnan(human) | np.isnan(judge))
    x, y = np.where(both, human, np.nan), np.where(both, judge, np.nan)
    rng = rng or np.random.default_rng(0)
    counts = rng.multinomial(len(x), np.full(len(x), 1 / len(x)), size=resamples).astype(float)
    by_level = []
    for level in levels:
        for coefficient in coefficients:
            value, draws, n, left_out = _AT[level](x, y, coefficient, counts)
            defined = draws[~np.isnan(draws)]
            ci = None
            if not np.isnan(value) and len(defined) > resamples / 2 and resamples:
                low, high = np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2])
                ci = (float(low), float(high))
            number = None if np.isnan(value) else float(value)
            by_level.append(Correlation(level, coefficient, number, ci, n, left_out))
    return by_level


def row_correlations(x: Floats, y: Floats, coefficient: Coefficient) -> Floats:
    """The correlation of each row of `x` with that of `y`.

    NaN, in both alike, is where there is no point; the result is NaN for a row with fewer than three points
    or with constant values.
    """
    defined = ~np.isnan(x)
    if coefficient == "pearson":
        moments = _moments(x, y, defined.astype(float))
    elif coefficient == "spearman":
        moments = _moments(_ranks(x), _ranks(y), defined.astype(float))
    else:
        moments = _kendall_rows(x, y, defined, coefficient)
    moments[defined.sum(axis=1) < FEWEST] = np.nan
    return moments


def _moments(x: Floats, y: Floats, weight: Floats) -> Floats:
    """Weighted Pearson correlation along the last axis; NaN if a side is constant."""
    total = np.maximum(weight.sum(axis=-1, keepdims=True), 1e-300)
    x, y = np.where(weight > 0, x, 0.0), np.where(weight > 0, y, 0.0)
    a = x - (weight * x).sum(axis=-1, keepdims=True) / total
    b = y - (weight * y).sum(axis=-1, keepdims=True) / total
    cross = (weight * a * b).sum(axis=-1)
    va, vb = (weight * a * a).sum(axis=-1), (weight * b * b).sum(axis=-1)
    scale_a = (weight * x * x).sum(axis=-1)
    scale_b = (weight * y * y).sum(axis=-1)
    varied = (va > 1e-13 * scale_a) & (vb > 1e-13 * scale_b)
    return np.where(varied, np.clip(cross / np.sqrt(np.where(varied, va * vb, 1)), -1, 1), np.nan)


def _ranks(x: Floats) -> Floats:
    """Average ranks along the rows, from 0.5 on; NaN stay NaN."""
    below = (x[:, None, :] < x[:, :, None]).sum(axis=2) + 0.5 * (x[:, None, :] == x[:, :, None]).sum(axis=2)
    return np.where(np.isnan(x), np.nan, below)


def _kendall_rows(x: Floats, y: Floats, present: Bools, coefficient: Coefficient) -> Floats:
    sx, sy = (np.nan_to_num(np.sign(v[:, :, None] - v[:, None, :])) for v in (x, y))
    score, nx, ny = (sx * sy).sum(axis=(1, 2)), (sx * sx).sum(axis=(1, 2)), (sy * sy).sum(axis=(1, 2))
    if coefficient == "kendall-c":
        fewest = [min(len(set(a[m])), len(set(b[m]))) for a, b, m in zip(x, y, present, strict=True)]
        return _tau_c(score, present.sum(axis=1).astype(float), np.array(fewest, dtype=float))
    return np.where(nx * ny > 0, score / np.sqrt(np.where(nx * ny > 0, nx * ny, 1)), np.nan)


def _tau_c(score: Floats, n: Floats, fewest: Floats) -> Floats:
    """Stuart's tau-c from twice the number of concordant less discordant pairs."""
    varied = (fewest > 1) & (n > 0)
    return np.where(varied, score * fewest / np.where(varied, n**2 * (fewest - 1), 1), np.nan)


def _per_source(
    x: Floats, y: Floats, coefficient: Coefficient, counts: Floats
) -> tuple[float, Floats, int, int]:
    each = row_correlations(x, y, coefficient)
    defined = ~np.isnan(each)
    if not defined.any():
        return float("nan"), np.full(len(counts), np.nan), 0, len(each)
    kept = counts[:, defined]
    total = kept.sum(axis=1)
    draws = np.divide(kept @ each[defined], total, out=np.full(len(counts), np.nan), where=total > 0)
    return float(each[defined].mean()), draws, int(defined.sum()), int((~defined).sum())


def _system(x: Floats, y: Floats, coefficient: Coefficient, counts: Floats) -> tuple[float, Floats, int, int]:
    weights = np.vstack([np.ones(len(x)), counts])
    defined = ~np.isnan(x)
    total = weights @ defined
    means = [
        np.divide(
            weights @ np.where(defined, v, 0.0), total, out=np.full(total.shape, np.nan), where=total > 0
        )
        for v in (x, y)
    ]
    resampled = row_correlations(means[0], means[1], coefficient)
    return float(resampled[0]), resampled[1:], int(defined.any(axis=0).sum()), 0


def _pooled(x: Floats, y: Floats, coefficient: Coefficient, counts: Floats) -> tuple[float, Floats, int, int]:
    defined = ~np.isnan(x)
    source = np.nonzero(defined)[0]
    a, b = x[defined], y[defined]
    if len(a) < FEWEST:
        return float("nan"), np.full(len(counts), np.nan), len(a), 0
    points, of_item = np.unique(np.column_stack([a, b]), axis=0, return_inverse=True)
    items = np.zeros((len(x), len(points)))
    np.add.at(items, (source, of_item.ravel()), 1)
    weights, (a, b) = np.vstack([np.ones(len(x)), counts]), points.T
    if coefficient == "pearson":
        resampled = _weighted_pearson(a, b, weights @ items)
    elif coefficient == "spearman":
        resampled = _weighted_spearman(a, b, weights @ items)
    else:
        resampled = _weighted_kendall(a, b, weights, items, coefficient)
    return float(resampled[0]), resampled[1:], int(defined.sum()), 0


def _weighted_pearson(a: Floats, b: Floats, weights: Floats) -> Floats:
    """Pearson's correlation of points under each row of weights."""
    a, b = a - a.mean(), b - b.mean()
    total, sa, sb, saa, sbb, sab = (weights @ np.column_stack([a**0, a, b, a * a, b * b, a * b])).T
    return _from_sums(sab - sa * sb / total, saa - sa**2 / total, sbb - sb**2 / total, saa, sbb)


def _from_sums(cross: Floats, va: Floats, vb: Floats, scale_a: Floats, scale_b: Floats) -> Floats:
    varied = (va > 1e-12 * scale_a) & (vb > 1e-12 * scale_b)
    return np.where(varied, np.clip(cross / np.sqrt(np.where(varied, va * vb, 1)), -1, 1), np.nan)


def _weighted_spearman(a: Floats, b: Floats, weights: Floats) -> Floats:
    """Pearson's correlation of the average ranks that points have under each row of weights."""
    total = weights.sum(axis=1)
    ranks, squares = [], []
    for v in (a, b):
        levels, of_point = np.unique(v, return_inverse=True)
        held = np.zeros((len(weights), len(levels)))
        order = np.argsort(of_point, kind="stable")
        starts = np.searchsorted(of_point[order], np.arange(len(levels)))
        np.add.reduceat(weights[:, order], starts, axis=1, out=held)
        rank = np.cumsum(held, axis=1) - (held + total[:, None]) / 2  # the mean rank is 0
        squares.append(np.einsum("ij,ij,ij->i", held, rank, rank))
        ranks.append(rank[:, of_point])
    cross = np.einsum("ij,ij,ij->i", weights, *ranks)
    return _from_sums(cross, squares[0], squares[1], total**3, total**3)


def _weighted_kendall(
    a: Floats, b: Floats, weights: Floats, items: Floats, coefficient: Coefficient
) -> Floats:
    """Kendall's tau under each row of source weights: quadratic forms of the weights."""
    sa, sb = (np.sign(v[:, None] - v) for v in (a, b))
    forms = [items @ pairs @ items.T for pairs in (sa * sb, sa * sa, sb * sb)]
    score, na, nb = (((weights @ form) * weights).sum(axis=1) for form in forms)
    if coefficient == "kendall-c":
        fewest = np.full(len(weights), float(min(len(np.unique(a)), len(np.unique(b)))))
        return _tau_c(score, weights @ items.sum(axis=1), fewest)
    varied = (na > 0) & (nb > 0)
    return np.where(varied, score / np.sqrt(np.where(varied, na * nb, 1)), np.nan)


_AT: dict[Level, Callable[[Floats, Floats, Coefficient, Floats], tuple[float, Floats, int, int]]] = {
    "per_source": _per_source,
    "pooled": _pooled,
    "system": _system,
}
