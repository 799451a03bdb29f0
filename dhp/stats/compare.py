"""Which of several models is the better judge, as far as the same examples can tell."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from dhp.stats.design import Design, Scores
from dhp.stats.intervals import ends
from dhp.stats.multiplicity import holm
from dhp.stats.wilcoxon.resampled import draws

Floats = npt.NDArray[np.float64]
QUANTITIES = ("d_avg", "d_min", "d_avg_ew", "d_min_ew")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two models compared; NaN where undefined."""

    first: int
    """Index of the model."""
    second: int
    difference: float
    """The score of the first less that of the second."""
    low: float
    high: float
    p: float
    """Two-sided; at least 1 / (resamples + 1)."""
    p_holm: float
    """Adjusted over all pairs (Holm 1979)."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """K models compared by one score, on the pairs of scores that all of them have; NaN where undefined."""

    point: Floats
    """Scores, shape (K,)."""
    low: Floats
    high: Floats
    rank: Floats
    """1 is the highest score; equal ones share the mean rank. Shape (K,)."""
    rank_low: Floats
    """Percentile interval of the rank over the resamples."""
    rank_high: Floats
    pairs: tuple[Pair, ...]
    """Every pair of models once, in order."""
    groups: tuple[tuple[int, ...], ...]
    """Largest sets of models of which no two are told apart by `p_holm` (Piepho 2004), the best first; two
    models differ where no group holds both. Models without a score are in none."""


def compare(
    designs: Sequence[Design], rng: np.random.Generator, *, resamples: int = 2000, level: float = 0.95
) -> dict[str, Comparison]:
    """Compare two or more models by D_avg and D_min, plain and weighted: a paired bootstrap over examples.

    A pair of scores that one model lacks is left out for all, so that every model is tested on the same
    pairs; scores may differ from those of a model alone. The null hypothesis of a pair of models is that
    their scores are equal, against either direction: p = (c + 1) / (R + 1), where c counts the resamples
    whose difference is at least as far from the median of all as the observed one is from 0 (Davison and
    Hinkley 1997). Intervals are `centred` ones of `interval`.

    Parameters
    ----------
    designs
        One a model, of the same examples, variants and metrics; all but the differences is that of the first.
    rng, resamples
        As for `bootstrap`.
    level
        As for `interval`; models are told apart at 1 - level.

    Returns
    -------
    dict
        One `Comparison` for each of `d_avg`, `d_min`, `d_avg_ew` and `d_min_ew`.

    Raises
    ------
    ValueError
        If there are fewer than two models, shapes differ, or as for `bootstrap` and `interval`.
    """
    shapes = {design.differences.shape for design in designs}
    if len(designs) < 2 or len(shapes) > 1:
        raise ValueError(f"designs must be two or more of one shape, not {len(designs)} of {sorted(shapes)}")
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, not {resamples}")
    lacking = np.any([np.isnan(design.differences) for design in designs], axis=0)
    common = [
        replace(designs[0], differences=np.where(lacking, np.nan, design.differences)) for design in designs
    ]
    n = designs[0].n
    parts: list[list[Scores]] = [[] for _ in common]
    for times in draws(n, n, resamples, rng):
        for design, mine in zip(common, parts, strict=True):
            mine.append(design.sampled(times))
    drawn = [Scores.joined(mine) for mine in parts]
    points = [design.point for design in common]
    without = [design.without_each() for design in common]
    return {
        name: _compared(_columns(drawn, name), _columns(points, name), _columns(without, name), level)
        for name in QUANTITIES
    }


def _columns(scores: Sequence[Scores], quantity: str) -> Floats:
    return np.column_stack([getattr(one, quantity) for one in scores])


def _compared(drawn: Floats, points: Floats, left_out: Floats, level: float) -> Comparison:
    """Of resamples (R, K), the data (1, K) and the data without each example (n, K)."""
    point = points[0]
    scores = ends(drawn, point, left_out, level, "centred")
    pairs = list(combinations(range(point.size), 2))
    first, second = np.array(pairs).T
    apart = drawn[:, first] - drawn[:, second]
    difference = point[first] - point[second]
    found = ends(apart, difference, left_out[:, first] - left_out[:, second], level, "centred")
    p = np.where(np.isnan(found.low), np.nan, _p(apart, difference))
    p_holm = np.exp(holm(np.log(p)))
    ranks = ends(_ranks(drawn), point, left_out, level, "percentile", discrete=True)
    columns = (difference, found.low, found.high, p, p_holm)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return Comparison(
        point,
        np.maximum(scores.low, 0.0),
        scores.high,
        _ranks(points)[0],
        ranks.low,
        ranks.high,
        tuple(Pair(*pair, *row) for pair, row in zip(pairs, rows, strict=True)),
        _groups(point, [pair for pair, q in zip(pairs, p_holm, strict=True) if q <= 1 - level]),
    )


def _p(drawn: Floats, observed: Floats) -> Floats:
    """Two-sided p-values of differences (R, pairs) around their own median; undefined ones do not count."""
    there = ~np.isnan(drawn)
    margin = 1e-9 * np.maximum(np.abs(observed), 1)
    centre = [
        np.median(column[mine]) if mine.any() else 0.0 for column, mine in zip(drawn.T, there.T, strict=True)
    ]
    far = there & (np.abs(drawn - centre) >= np.abs(observed) - margin)
    p: Floats = (far.sum(axis=0) + 1) / (there.sum(axis=0) + 1)
    return p


def _ranks(scores: Floats) -> Floats:
    """Ranks within each row, shape (R, K); 1 is the highest, equal scores share the mean; NaN stays NaN."""
    undefined = np.isnan(scores)
    above = (scores[:, None, :] > scores[:, :, None]).sum(axis=2)
    equal = (scores[:, None, :] == scores[:, :, None]).sum(axis=2)
    return np.where(undefined, np.nan, 1 + above + (equal - 1) / 2)


def _groups(point: Floats, told_apart: Sequence[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """Insert and absorb: split every set at each pair told apart, and drop sets within others."""
    order = [int(i) for i in np.argsort(-point, kind="stable") if not np.isnan(point[i])]
    sets = [frozenset(order)] if order else []
    for pair in told_apart:
        split = [s - {one} for s in sets if s.issuperset(pair) for one in pair]
        sets = [s for s in sets if not s.issuperset(pair)]
        for new in split:
            if not any(new <= s for s in sets):
                sets = [*(s for s in sets if not s < new), new]
    place = {model: i for i, model in enumerate(order)}
    return tuple(
        sorted((tuple(sorted(s, key=place.__getitem__)) for s in sets), key=lambda s: [place[i] for i in s])
    )
