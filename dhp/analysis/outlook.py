"""How many examples would decide whether a kind of damage is noticed or missed.

A few examples leave many populations possible that they may come from. Such populations are drawn: these
examples with random weights, all metrics of an example together (Bayesian bootstrap, Rubin 1981), and a
little weight on examples in which all metrics fell, or rose. Metrics also differ by chance. How far they lie
from their mean is therefore shrunk to the part of their spread, over all kinds, that chance does not explain
(Efron and Morris 1975); else the best of four blind metrics would seem to see.

To each population so many further examples are added, sums of which are taken as normal, and the rule of the
verdict is applied. The chance of a decision is the share of populations in which it decides (Spiegelhalter,
Freedman and Blackburn 1986, "predictive power").
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
"""Examples beyond which no number is given."""
CHANCES = (0.65, 0.9)
"""Mean chances of a decision at the two ends of the range, where 50 and 80 % are promised: near the floor the
true chance is lower than the mean over what is possible."""
_STEP = 1.4  # ratio of the numbers that are tried
_POPULATIONS = 200
_BESIDE = 0.5
"""Weight of an example in which all metrics fell, and of one in which they rose."""
_NORMALS = 10_000  # values of the largest metric of a blind judge


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
    index = cluster_index(clusters, len(differences))
    rng = np.random.default_rng(0)
    counted = (~np.isnan(differences)).sum(axis=0).max(axis=1) >= FEWEST_PAIRS
    open_ = [v for v, word in enumerate(decided) if word.may_change and counted[v] and independent[v] > 0]
    if not open_:
        return [None] * len(decided)
    left = int(counted.sum())
    errors = _Errors(
        shown=ALPHA / max(1, left - sum(word.side == "above" and not word.may_change for word in decided)),
        below=min(ALPHA / max(1, left - sum(word.is_bad for word in decided)), ALPHA / 2),
    )
    shape = (_POPULATIONS, int(index.max()) + 3)
    weights, noise = rng.standard_gamma(1.0, shape), rng.normal(size=shape)
    weights[:, -2:] = rng.standard_gamma(_BESIDE, (_POPULATIONS, 2))
    real = _real_share(np.sign(differences))
    needed: list[tuple[int, int] | None] = [None] * len(decided)
    for v in open_:
        rated = ~np.isnan(differences[:, v]).all(axis=0)
        pilot = _pilot(differences[:, v, rated], index, independent[v])
        sizes = pilot.sizes(limit)
        chances = _decides(pilot, sizes, _sums(pilot, sizes, weights, noise, real), errors, floor)
        needed[v] = _range(pilot.size, sizes, chances.mean(axis=1))
    return needed


@dataclass(frozen=True, slots=True)
class _Errors:
    """Of the tests of one kind, after Holm's correction for the kinds that are open."""

    shown: float
    below: float


@dataclass(frozen=True, slots=True)
class _Pilot:
    """The examples so far of one kind, by cluster; of each metric."""

    size: int
    """Examples with a pair."""
    taking_part: Bools
    """Which clusters have a pair, shape (clusters,)."""
    signs: Floats
    """Sums of the signs of the differences, shape (clusters with a pair, M)."""
    ranks: Floats
    """The same of signed ranks, in [-1, 1] each."""
    moved: Floats
    """The same of how many differences are not 0."""
    present: Floats
    """Share of the examples that have a pair of this metric, shape (M,)."""
    independent: float
    """Share of the examples that would be as certain if they were independent."""

    def sizes(self, limit: int) -> Floats:
        """Numbers of examples that are tried, shape (T,)."""
        steps = max(1, math.ceil(math.log(max(limit / self.size, 1)) / math.log(_STEP)))
        grown = np.ceil(self.size * _STEP ** np.arange(1, steps + 1))
        return np.unique(np.minimum(grown, limit))


def _pilot(differences: Floats, index: Ints, independent: float) -> _Pilot:
    """From shape (n, M)."""
    pairs = ~np.isnan(differences)
    size = int(pairs.any(axis=1).sum())
    taking_part = cluster_sums(np.asarray(pairs.any(axis=1), dtype=np.float64), index) > 0
    signs = np.asarray(np.sign(np.nan_to_num(differences)))
    signs, ranks, moved = (
        cluster_sums(each, index)[taking_part]
        for each in (signs, np.asarray(signed_ranks(differences) / size), np.abs(signs))
    )
    return _Pilot(size, taking_part, signs, ranks, moved, pairs.sum(axis=0) / size, independent)


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
    """Sums over all examples, shape (T, populations, M)."""

    signs: Floats
    ranks: Floats
    moved: Floats
    squares: Floats
    """Of the signed ranks of clusters."""
    correlation: Floats
    """Of the signed ranks of two metrics of a blind judge, shape (M, M)."""


def _sums(pilot: _Pilot, sizes: Floats, weights: Floats, noise: Floats, real: float) -> _Sums:
    """Of the pilot and so many further examples of each population, to so many examples in all."""
    metrics = pilot.signs.shape[1]
    rows = np.hstack([pilot.signs, pilot.ranks, pilot.moved, pilot.ranks**2])
    # A cluster in which all metrics fell, by as much as scores move, and one in which they rose.
    pairs, size = pilot.size / len(rows), float(np.abs(pilot.ranks).mean())
    fell, rose = (np.repeat([sign * pairs, sign * size, pairs, size**2], metrics) for sign in (1, -1))
    pilot_sum = rows.sum(axis=0)
    rows = np.vstack([rows, fell, rose])
    part = np.append(pilot.taking_part, [True, True])
    share = weights[:, part] / weights[:, part].sum(axis=1, keepdims=True)
    means = share @ rows
    shares = np.sqrt(share) * noise[:, part]
    spread = shares @ rows - shares.sum(axis=1, keepdims=True) * means
    for some in (slice(0, metrics), slice(metrics, 2 * metrics)):
        middle = means[:, some].mean(axis=1, keepdims=True)
        means[:, some] = middle + real * (means[:, some] - middle)
    spread[:, 2 * metrics :] = 0.0  # how many move, and how far, varies little beside their sums
    further = (pilot.ranks.shape[0] * (sizes / pilot.size - 1))[:, None, None]
    sums = pilot_sum + further * means + np.sqrt(further) * spread
    signs, ranks, moved, squares = np.split(sums, 4, axis=2)
    scale = np.sqrt((pilot.ranks**2).sum(axis=0))
    standard = pilot.ranks / np.where(scale > 0, scale, 1.0)
    return _Sums(signs, ranks, moved, squares, standard.T @ standard)


def _decides(pilot: _Pilot, sizes: Floats, sums: _Sums, errors: _Errors, floor: float) -> Bools:
    """Whether the kind is *noticed* or *missed*, shape (T, populations)."""
    from scipy.special import ndtri

    each = sizes[:, None, None] * pilot.present
    value = np.clip(sums.signs / each, -1, 1)
    moved = np.maximum(np.minimum(sums.moved / each, 1), np.abs(value))
    standard = np.where(sums.squares > 0, sums.ranks / np.sqrt(np.maximum(sums.squares, 1e-12)), -np.inf)
    shown = standard.max(axis=2) >= _largest_by_chance(sums.correlation, errors.shown)
    weights = metric_choice(
        value * each, moved * each, each, len(pilot.ranks) * sizes[:, None, None] / pilot.size
    )
    weights /= weights.sum(axis=2, keepdims=True)
    seen, seen_moved = ((weights * x).sum(axis=2, keepdims=True) for x in (value, moved))
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
    mean, square = (1 + value) / 2, (1 + 2 * value + moved) / 4
    lowered = size * mean / (size + 1)
    variance = (size * square / (size + 1) - lowered**2) / (size + 2)
    return np.asarray((lowered - line) / np.sqrt(np.maximum(variance, 1e-12)))


def _largest_by_chance(correlation: Floats, error: float) -> float:
    """The limit that the largest standardised sum of a blind judge's metrics exceeds with this chance."""
    values, vectors = np.linalg.eigh(correlation)
    roots = vectors * np.sqrt(np.maximum(values, 0.0))
    drawn = np.random.default_rng(0).normal(size=(_NORMALS, len(values))) @ roots.T
    return float(np.quantile(drawn.max(axis=1), 1 - error))


def _range(size: int, sizes: Floats, chances: Floats) -> tuple[int, int] | None:
    """Where the chances are first reached; between two numbers they are taken as straight."""
    reached = []
    before = np.append(size, sizes[:-1]), np.append(0.0, chances[:-1])
    for aim in CHANCES:
        if not (chances >= aim).any():
            return None
        at = int(np.argmax(chances >= aim))
        fewer, lower = before[0][at], before[1][at]
        share = (aim - lower) / (chances[at] - lower)
        reached.append(math.ceil(fewer + share * (sizes[at] - fewer)))
    return reached[0], max(reached)
