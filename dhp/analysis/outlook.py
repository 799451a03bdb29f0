"""How many examples would decide whether a kind of damage is noticed or missed.

A few examples may come from many populations. Such populations are drawn: the examples so far (the pilot)
with random weights, all metrics of an example together (Bayesian bootstrap, Rubin 1981), and a little weight
on an example in which all metrics fell, and on one in which they rose. Metrics also differ by chance. How far
they lie from their mean is therefore shrunk to the part of their spread, over all kinds, that chance does not
explain (Efron and Morris 1975); otherwise the best of four blind metrics would seem to see.

To each population a number of further examples is added. Their sums are taken as normal, and the rule of the
verdict is applied. The chance of a decision is the share of populations in which the rule decides
(Spiegelhalter, Freedman and Blackburn 1986, "predictive power").

For each kind: `_pilot` sums the examples so far by cluster, `_sums` adds further ones to it in every
population, `_decides` applies the rule to these sums, and `_range` finds the numbers at which the chance is
large enough. Shapes: T numbers of examples, P populations, M metrics.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dhp.analysis.verdict_rule import ALPHA, BLIND
from dhp.core.verdicts import Verdict
from dhp.stats.arrays import Bools, Floats, Ints, cluster_index, cluster_sums
from dhp.stats.detection import FEWEST_PAIRS, metric_choice
from dhp.stats.wilcoxon import signed_ranks

LIMIT = 5_000
"""Examples beyond which no number is given; chosen."""
CHANCES = (0.65, 0.9)
"""Mean chances of a decision at the two ends of the range, where 50 and 80 % are promised: near the floor the
true chance is lower than the mean over what is possible. `scripts/coverage.py outlook` measures what is kept
of the promise."""
_STEP = 1.4
"""Ratio of one number of examples that is tried to the one before; between them a line is drawn. Chosen."""
_POPULATIONS = 200
"""Populations that are drawn: a share of them is known to 3.5 points."""
_BESIDE = 0.5
"""Weight of the example in which all metrics fell, and of the one in which they rose; of a real one 1."""
_NORMALS = 10_000
"""Drawings of a blind judge, for the limit of its largest metric: its 5 % is known to .2 points."""


def examples_to_decide(
    differences: Floats,
    decided: Sequence[Verdict],
    independent: Floats,
    *,
    floor: float,
    clusters: Ints | None = None,
    limit: int = LIMIT,
) -> list[tuple[int, int] | None]:
    """Numbers of examples with which each kind is *noticed* or *missed* with a chance of 50 and of 80 %.

    None for a kind that is decided, and if no number up to `limit` has the second chance. `differences` are
    those of the examples so far, shape (n, V, M), NaN if a score is missing; `decided` the V verdicts;
    `independent` the share of the examples that would be as certain if they were independent, shape (V,);
    `clusters` integers, shape (n,), the same for examples that belong together.
    """
    needed: list[tuple[int, int] | None] = [None] * len(decided)
    index = cluster_index(clusters, len(differences))
    # Of each kind, by the metric that has the most pairs.
    pairs = (~np.isnan(differences)).sum(axis=0).max(axis=1)
    undecided: list[int] = []
    for v, word in enumerate(decided):
        if word.may_change and pairs[v] >= FEWEST_PAIRS and independent[v] > 0:
            undecided.append(v)
    if not undecided:
        return needed
    errors = _errors(decided, int((pairs >= FEWEST_PAIRS).sum()))
    # A fixed seed, so that the same ratings always give the same numbers.
    rng = np.random.default_rng(0)
    # The clusters of the pilot, then the example in which all metrics fell and the one in which they rose.
    shape = (_POPULATIONS, int(index.max()) + 1 + 2)
    weights, noise = rng.standard_gamma(1.0, shape), rng.normal(size=shape)
    weights[:, -2:] = rng.standard_gamma(_BESIDE, (_POPULATIONS, 2))
    real = _real_share(np.sign(differences))
    for v in undecided:
        # The metrics by which this kind has any pair.
        rated = ~np.isnan(differences[:, v]).all(axis=0)
        pilot = _pilot(differences[:, v, rated], index, independent[v])
        sizes = pilot.sizes(limit)
        sums = _sums(pilot, sizes, weights, noise, real)
        decides = _decides(pilot, sizes, sums, errors, floor)
        needed[v] = _range(pilot.size, sizes, decides.mean(axis=1))
    return needed


@dataclass(frozen=True, slots=True)
class _Errors:
    """Errors of the tests of one kind, after Holm's correction for the kinds that are open."""

    shown: float
    """Of the test that the judge is not blind to it."""
    below: float
    """Of the test that detection lies below the floor."""


def _errors(decided: Sequence[Verdict], counted: int) -> _Errors:
    """What Holm's method leaves to a kind that is open, of the `counted` kinds: others are rejected first."""
    above, bad = 0, 0
    for word in decided:
        if word.side == "above" and not word.may_change:
            above += 1
        if word.is_bad:
            bad += 1
    # At most half of the error for `below`, as the upper limit of a 95 % interval must agree.
    return _Errors(shown=ALPHA / max(1, counted - above), below=min(ALPHA / max(1, counted - bad), ALPHA / 2))


@dataclass(frozen=True, slots=True)
class _Pilot:
    """The examples so far of one kind: sums over the examples of each cluster, by metric."""

    size: int
    """Examples with a pair."""
    taking_part: Bools
    """Which clusters have a pair, shape (clusters,)."""
    signs: Floats
    """Sums of the signs of the differences, shape (clusters with a pair, M)."""
    ranks: Floats
    """Sums of signed ranks, each over the number of examples and so in [-1, 1]; same shape."""
    moved: Floats
    """How many differences are not 0; same shape."""
    present: Floats
    """Share of the examples that have a pair of this metric, shape (M,)."""
    independent: float
    """Share of the examples that would be as certain if they were independent."""

    def sizes(self, limit: int) -> Floats:
        """Numbers of examples that are tried, more than there are and up to the limit, shape (T,)."""
        steps = max(1, math.ceil(math.log(max(limit / self.size, 1)) / math.log(_STEP)))
        grown = np.ceil(self.size * _STEP ** np.arange(1, steps + 1))
        # The last numbers may all be cut to the limit, which then stands once.
        return np.unique(np.minimum(grown, limit))


def _pilot(differences: Floats, index: Ints, independent: float) -> _Pilot:
    """The pilot of one kind from its differences, shape (n, M)."""
    pairs = ~np.isnan(differences)
    size = int(pairs.any(axis=1).sum())
    taking_part = cluster_sums(np.asarray(pairs.any(axis=1), dtype=np.float64), index) > 0
    signs = np.asarray(np.sign(np.nan_to_num(differences)))
    ranks = np.asarray(signed_ranks(differences) / size)
    return _Pilot(
        size,
        taking_part,
        signs=cluster_sums(signs, index)[taking_part],
        ranks=cluster_sums(ranks, index)[taking_part],
        moved=cluster_sums(np.abs(signs), index)[taking_part],
        present=pairs.sum(axis=0) / size,
        independent=independent,
    )


def _real_share(signs: Floats) -> float:
    """The part of the spread of metrics around their mean that chance does not explain, in [0, 1].

    From signs (n, V, M), over all kinds, of the examples with a pair by every metric.
    """
    apart = signs - signs.mean(axis=2, keepdims=True)
    pairs = (~np.isnan(apart)).sum(axis=0)
    enough = pairs > 1
    total = np.where(enough, np.nansum(apart, axis=0), 0.0)
    means = total / np.maximum(pairs, 1)
    squares = np.where(enough, np.nansum(apart**2, axis=0), 0.0) / np.maximum(pairs, 1)
    by_chance = ((squares - means**2) / np.maximum(pairs - 1, 1)).sum()
    seen = (means**2).sum()
    return max(0.0, 1 - float(by_chance / seen)) if seen > 0 else 1.0


@dataclass(frozen=True, slots=True)
class _Sums:
    """Sums over the examples of the pilot and further ones, shape (T, P, M)."""

    signs: Floats
    """Of the signs of the differences."""
    ranks: Floats
    """Of signed ranks."""
    moved: Floats
    """How many differences are not 0."""
    squares: Floats
    """Of the squares of the signed ranks of clusters."""
    correlation: Floats
    """Correlation of the signed ranks of two metrics of a blind judge, shape (M, M)."""


def _sums(pilot: _Pilot, sizes: Floats, weights: Floats, noise: Floats, real: float) -> _Sums:
    """Sums of the pilot and of as many further examples from each population as make up each of `sizes`.

    `weights` of the pilot's clusters make the populations, `noise` is the chance of the drawing from each,
    both (P, clusters + 2); `real` is the part of the spread of metrics that is no chance.
    """
    metrics = pilot.signs.shape[1]
    # One row a cluster, with four groups of M columns: signs, ranks, how many moved, squares of ranks.
    rows = np.hstack([pilot.signs, pilot.ranks, pilot.moved, pilot.ranks**2])
    pilot_sum = rows.sum(axis=0)
    # A cluster in which all metrics fell, by as much as scores move, and one in which they rose.
    pairs, size = pilot.size / len(rows), float(np.abs(pilot.ranks).mean())
    fell = np.repeat([pairs, size, pairs, size**2], metrics)
    rose = np.repeat([-pairs, -size, pairs, size**2], metrics)
    rows = np.vstack([rows, fell, rose])
    part = np.append(pilot.taking_part, [True, True])
    share = weights[:, part] / weights[:, part].sum(axis=1, keepdims=True)
    means = share @ rows
    shares = np.sqrt(share) * noise[:, part]
    spread = shares @ rows - shares.sum(axis=1, keepdims=True) * means
    for columns in (slice(0, metrics), slice(metrics, 2 * metrics)):  # of signs, and of ranks
        middle = means[:, columns].mean(axis=1, keepdims=True)
        means[:, columns] = middle + real * (means[:, columns] - middle)
    spread[:, 2 * metrics :] = 0.0  # how many move, and how far, varies little beside their sums
    # Further clusters are taken to hold as many examples as those of the pilot do.
    further = (len(pilot.ranks) * (sizes / pilot.size - 1))[:, None, None]  # clusters
    sums = pilot_sum + further * means + np.sqrt(further) * spread
    signs, ranks, moved, squares = np.split(sums, 4, axis=2)
    # Columns of length 1: their products are the correlations. A column of zeros stays one.
    scale = np.sqrt((pilot.ranks**2).sum(axis=0))
    standard = pilot.ranks / np.where(scale > 0, scale, 1.0)
    return _Sums(signs, ranks, moved, squares, standard.T @ standard)


def _decides(pilot: _Pilot, sizes: Floats, sums: _Sums, errors: _Errors, floor: float) -> Bools:
    """Whether the kind is *noticed* or *missed*, shape (T, P): `verdict_rule.verdicts` for large numbers."""
    from scipy.special import ndtri

    each = sizes[:, None, None] * pilot.present
    # A normal sum may lie beyond what signs can sum to.
    value = np.clip(sums.signs / each, -1, 1)
    moved = np.maximum(np.minimum(sums.moved / each, 1), np.abs(value))
    standard = np.where(sums.squares > 0, sums.ranks / np.sqrt(np.maximum(sums.squares, 1e-12)), -np.inf)
    shown = standard.max(axis=2) >= _largest_by_chance(sums.correlation, errors.shown)
    weights = metric_choice(
        value * each, moved * each, each, len(pilot.ranks) * sizes[:, None, None] / pilot.size
    )
    weights /= weights.sum(axis=2, keepdims=True)
    seen = (weights * value).sum(axis=2, keepdims=True)
    seen_moved = (weights * moved).sum(axis=2, keepdims=True)
    size = pilot.independent * sizes[:, None, None]
    large = _distance(seen, seen_moved, size, (BLIND + floor) / 2) >= -ndtri(ALPHA)
    highest = np.concatenate([value, seen], axis=2)
    at_most = np.concatenate([moved, seen_moved], axis=2)
    below = _distance(-highest, at_most, size, 1 - floor).min(axis=2) >= -ndtri(errors.below)
    return np.asarray(np.where(shown, large[:, :, 0] & ~below, below))


def _distance(value: Floats, moved: Floats, size: Floats, line: float) -> Floats:
    """How many standard errors detection lies above a line, as `dhp.stats.bounds` tells for many outcomes.

    `value` is the mean sign, `moved` the share that is not 0.
    """
    # Of outcomes of 0, 1/2 and 1, which are (1 + sign) / 2.
    mean, square = (1 + value) / 2, (1 + 2 * value + moved) / 4
    lowered = size * mean / (size + 1)  # with one more outcome of 0
    variance = (size * square / (size + 1) - lowered**2) / (size + 2)
    return np.asarray((lowered - line) / np.sqrt(np.maximum(variance, 1e-12)))


def _largest_by_chance(correlation: Floats, error: float) -> float:
    """The limit that the largest standardised sum of a blind judge's metrics exceeds with this chance."""
    values, vectors = np.linalg.eigh(correlation)
    # Rounding may leave an eigenvalue of 0 a little below it.
    roots = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = np.random.default_rng(0).normal(size=(_NORMALS, len(values))) @ roots.T
    return float(np.quantile(drawn.max(axis=1), 1 - error))


def _range(size: int, sizes: Floats, chances: Floats) -> tuple[int, int] | None:
    """Numbers at which the chances of `CHANCES` are first reached, on straight lines between those tried.

    `chances` are those at `sizes`; at the `size` so far nothing is decided. None if one is not reached.
    """
    reached = []
    for aim in CHANCES:
        # Of the numbers tried, those that give this chance.
        enough = chances >= aim
        if not enough.any():
            return None
        place = int(np.argmax(enough))  # the first
        fewer, lower = float(size), 0.0
        if place > 0:
            fewer, lower = sizes[place - 1], chances[place - 1]
        share = (aim - lower) / (chances[place] - lower)
        reached.append(math.ceil(fewer + share * (sizes[place] - fewer)))
    return reached[0], max(reached)
