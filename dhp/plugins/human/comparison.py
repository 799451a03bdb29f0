"""Comparison of two judges by agreement with humans, and the biases behind it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dhp.core.errors import InputError, one_of
from dhp.plugins.human.correlation import FEWEST, RESAMPLES
from dhp.plugins.human.scores import Scores, human_scores, mean_over, scores_by_judge
from dhp.stats.arrays import Bools, Floats

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd


@dataclass(frozen=True, slots=True)
class Williams:
    """Williams' test of two dependent correlations that share a variable."""

    t: float
    """Positive if the first judge correlates more; with n - 3 degrees of freedom."""
    p_greater: float
    """One-sided p-value against the hypothesis that the first judge is no better."""
    p_two_sided: float
    """Against either being better."""
    n: int
    """Number of items."""


def williams(r_first: float, r_second: float, r_between: float, n: int) -> Williams | None:
    """Williams' test (Williams 1959; Graham and Baldwin 2014).

    `r_first` and `r_second` are Pearson correlations of two judges with the human scores, `r_between` that of
    the judges, over `n` items that both scored. None if the test is undefined: fewer than four items, or
    judges that are the same but for scale.
    """
    from scipy.special import stdtr  # scipy.stats takes much longer to import

    k = 1 - r_first**2 - r_second**2 - r_between**2 + 2 * r_first * r_second * r_between
    if n < 4 or 1 - r_between < 1e-12:
        return None
    mean = (r_first + r_second) / 2
    spread = 2 * max(k, 0.0) * (n - 1) / (n - 3) + mean**2 * (1 - r_between) ** 3
    if spread <= 0:
        return None
    t = (r_first - r_second) * math.sqrt((n - 1) * (1 + r_between) / spread)
    return Williams(t, float(stdtr(n - 3, -t)), float(2 * stdtr(n - 3, -abs(t))), n)


@dataclass(frozen=True, slots=True)
class Swap:
    """Permutation test that swaps two judges item by item."""

    difference: float
    """Correlation of the first judge less that of the second."""
    p_greater: float
    """One-sided p-value, (c + 1) / (R + 1)."""
    p_two_sided: float
    """Against either being better."""
    n: int
    """Number of items."""


def swap_test(
    human: Floats, first: Floats, second: Floats, *, resamples: int = RESAMPLES, seed: int = 0
) -> Swap | None:
    """PERM-BOTH (Deutsch, Dror and Roth 2021): standardised scores swapped by fair coins, correlated again.

    Of Pearson's correlation over all items. The same coins are thrown for all judges of as many items. Arrays
    are of one shape, NaN if an item is not scored; only items that all three score count. None if a
    correlation is undefined: fewer than three items, or constant scores.
    """
    defined = ~(np.isnan(human) | np.isnan(first) | np.isnan(second))
    n = int(defined.sum())
    sides = [_standardised(v[defined]) for v in (human, first, second)] if n >= FEWEST else [None]
    if any(v is None for v in sides):
        return None
    h, *judges = (v.tobytes() for v in sides if v is not None)
    one, other = (_along_coins(h, judge, resamples, seed) for judge in judges)
    # Swapped, the judges are middle + coin * half and middle - coin * half, where middle is half of their sum
    # and half is half of their difference: all is linear in their scores, squares and products with h.
    along, shift = (one.products - other.products) / 2, (one.scores - other.scores) / 2
    mixed, mean = (one.squares - other.squares) / 4, (one.correlation + other.correlation) / 2
    drawn = (mean + along) / np.sqrt(1 + 2 * mixed - shift**2)
    drawn -= (mean - along) / np.sqrt(1 - 2 * mixed - shift**2)
    observed = one.correlation - other.correlation
    beyond = 1e-9
    greater = int((drawn >= observed - beyond).sum())
    further = int((np.abs(drawn) >= abs(observed) - beyond).sum())
    return Swap(observed, (greater + 1) / (resamples + 1), (further + 1) / (resamples + 1), n)


@dataclass(frozen=True, slots=True)
class _AlongCoins:
    """A standardised judge under each draw of coins, as means over items."""

    correlation: float
    """Correlation with human scores, without coins."""
    products: Floats
    """Products of coin, human and judge, shape (resamples,)."""
    scores: Floats
    squares: Floats


@lru_cache(maxsize=256)
def _along_coins(human: bytes, judge: bytes, resamples: int, seed: int) -> _AlongCoins:
    """The draws of one judge, computed once; the arrays are given as their bytes."""
    h, z = (np.frombuffer(side) for side in (human, judge))
    table = _coins(resamples, len(h), seed) @ np.column_stack([h * z, z, z * z]) / len(h)
    return _AlongCoins(float((h * z).mean()), *(np.ascontiguousarray(column) for column in table.T))


@lru_cache(maxsize=4)
def _coins(resamples: int, n: int, seed: int) -> Floats:
    """1 or -1, shape (resamples, n)."""
    coins = np.random.default_rng(seed).integers(0, 2, (resamples, n), dtype=np.int8)
    return 2.0 * coins.astype(np.float64) - 1.0


def _standardised(v: Floats) -> Floats | None:
    deviation = v.std()
    centred: Floats = v - v.mean()
    return centred / deviation if deviation > 1e-7 * np.abs(v).max(initial=0.0) else None


@dataclass(frozen=True, slots=True)
class PairAccuracy:
    """Pairwise accuracy with ties, at the threshold that suits the judge best."""

    accuracy: float
    """Share of pairs that the judge orders, or ties, as humans do."""
    epsilon: float
    """Differences of the judge up to this count as ties; chosen to maximise the accuracy on the same data."""
    pairs: int
    """Number of pairs compared."""


def pair_accuracy(human: Floats, judge: Floats) -> PairAccuracy | None:
    """Pairwise accuracy with tie calibration over pairs of systems within a source (Deutsch et al. 2023).

    Shape (sources, systems), NaN if an item is not scored; None if no two systems of a source are.
    """
    i, j = np.triu_indices(human.shape[1], 1)
    h, m = (v[:, i] - v[:, j] for v in (human, judge))
    both = ~(np.isnan(h) | np.isnan(m))
    h, m = h[both], m[both]
    if not len(h):
        return None
    size = np.abs(m)
    order = np.argsort(size, kind="stable")
    tied = (h == 0)[order]
    right = (np.sign(h) == np.sign(m))[order] & ~tied
    # With the k smallest differences taken for ties: human ties among them, right orders among the rest.
    hits = np.concatenate([[0], np.cumsum(tied)]) + right.sum() - np.concatenate([[0], np.cumsum(right)])
    sizes = np.concatenate([[0.0], size[order]])
    ends = np.append(sizes[1:] > sizes[:-1], True)
    ends[0] &= size[order][0] > 0
    best = int(np.flatnonzero(ends)[np.argmax(hits[ends])])
    return PairAccuracy(float(hits[best] / len(h)), float(sizes[best]), len(h))


def soft_pair_accuracy(
    human: Floats, judge: Floats, *, resamples: int = RESAMPLES, rng: np.random.Generator | None = None
) -> float | None:
    """Soft pairwise accuracy of systems (Thompson et al. 2024): 1 - mean |p_human - p_judge|.

    Each p is one-sided from a paired sign-flip permutation test over the sources of two systems, the same
    flips for all pairs and both sides; p = (c + 1) / (K + 1), never 0 as in the reference implementation.
    Shape (sources, systems); an item that is NaN counts for no pair. There are K = `resamples` permutations,
    drawn by default from a generator seeded with 0. None if no two systems are scored on one source.
    """
    both = ~(np.isnan(human) | np.isnan(judge))
    i, j = np.triu_indices(human.shape[1], 1)
    shared = both[:, i] & both[:, j]
    i, j = i[shared.any(axis=0)], j[shared.any(axis=0)]
    if not len(i):
        return None
    flips = (rng or np.random.default_rng(0)).choice([-1.0, 1.0], size=(resamples, len(human)))
    p = []
    for v in (human, judge):
        differences = np.where(both[:, i] & both[:, j], v[:, i] - v[:, j], 0.0)
        drawn = flips @ np.nan_to_num(differences)
        observed = np.nan_to_num(differences).sum(axis=0)
        p.append(((drawn >= observed - 1e-9).sum(axis=0) + 1) / (resamples + 1))
    return float(1 - np.abs(p[0] - p[1]).mean())


@dataclass(frozen=True, slots=True)
class PartialCorrelation:
    """A judge's correlation with human scores, and what is left of it beside another judge."""

    judge: str
    metric: str
    n: int
    """Number of items that humans and both judges scored."""
    plain: float | None
    """Pearson's correlation over all items; None if undefined."""
    partial: float | None
    """The partial correlation, the other judge's scores held constant."""
    ci: tuple[float, float] | None
    """95 % bootstrap percentile interval of `partial`, over sources."""


def partial_correlations(
    ratings: "str | Path | pd.DataFrame",
    human: "str | Path | pd.DataFrame",
    control: str,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[PartialCorrelation]:
    """How each judge agrees with humans beyond what a further judge explains, such as `metric/rouge1`.

    If human scores derive from the reference, overlap with it is part of them: a judge that sees the
    reference may agree by that alone. Tables are as for `dhp.correlate`; `control` is the judge that is held
    constant. 0 resamples give no intervals. Raises `InputError` for a broken table, or a judge that is not
    there.
    """
    people, rated = human_scores(human), scores_by_judge(ratings)
    one_of("judge", control, rated, "ratings")
    correlations = []
    for name, metrics in rated.items():
        if name == control:
            continue
        for metric, truth in people.items():
            scores, held = _of(metrics, metric), _of(rated[control], metric)
            if scores is None or held is None:
                continue
            h, j, o, sources, _ = _shared(truth, scores, held)
            correlations.append(_partial(name, metric, np.stack([h, j, o]), sources, resamples, seed))
    return correlations


def _partial(
    name: str, metric: str, sides: Floats, sources: npt.NDArray[np.intp], resamples: int, seed: int
) -> PartialCorrelation:
    plain, partial = _both(sides)
    rng, drawn = np.random.default_rng(seed), []
    _, source_index = np.unique(sources, return_inverse=True)
    rows = [np.flatnonzero(source_index == s) for s in range(source_index.max(initial=-1) + 1)]
    for _ in range(resamples if partial is not None else 0):
        chosen = np.concatenate([rows[s] for s in rng.integers(0, len(rows), len(rows))])
        value = _both(sides[:, chosen])[1]
        drawn += [] if value is None else [value]
    ends = np.quantile(drawn, [0.025, 0.975]) if drawn else None
    ci = None if ends is None else (float(ends[0]), float(ends[1]))
    return PartialCorrelation(name, metric, sides.shape[1], plain, partial, ci)


def _both(sides: Floats) -> tuple[float | None, float | None]:
    """Plain and partial correlation of rows 0 and 1, row 2 held constant."""
    if sides.shape[1] < FEWEST or (np.ptp(sides[:2], axis=1) == 0).any():
        return None, None
    plain = float(np.asarray(np.corrcoef(sides[:2]))[0, 1])
    if np.ptp(sides[2]) == 0:
        return plain, plain
    r: Floats = np.asarray(np.corrcoef(sides))
    spread = (1 - r[0, 2] ** 2) * (1 - r[1, 2] ** 2)
    return plain, float((r[0, 1] - r[0, 2] * r[1, 2]) / math.sqrt(spread)) if spread > 1e-12 else None


@dataclass(frozen=True, slots=True)
class SelfPreference:
    """How much better a judge rates its own family's texts than humans do, against those of others."""

    judge: str
    metric: str
    systems: tuple[str, ...]
    """Names of the systems of the judge's family."""
    own_items: int
    """Number of items of these systems."""
    others: int
    preference: float
    """Standardised judge less standardised human score, own texts less others, in standard deviations."""
    ci: tuple[float, float] | None
    """95 % bootstrap percentile interval, over sources."""


def self_preference(
    ratings: "str | Path | pd.DataFrame",
    human: "str | Path | pd.DataFrame",
    family: str,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[SelfPreference]:
    """Self-preference of the judges of a family, on the items that humans scored too.

    The family is a part of the names of its judges and of its systems, such as `gpt`, in any case; tables are
    as for `dhp.correlate`. Raises `InputError` for a broken table, a family without a judge or without a
    system, or with all systems.
    """
    people, rated = human_scores(human), scores_by_judge(ratings)
    of_family = {name: metrics for name, metrics in rated.items() if family.lower() in name.lower()}
    if not of_family:
        raise InputError(
            f"ratings: no judge's name has '{family}' in it; allowed: a part of {', '.join(rated)}"
        )
    preferences = []
    for name, metrics in of_family.items():
        for metric, truth in people.items():
            scores = _of(metrics, metric)
            if scores is None:
                continue
            h, j, _, sources, systems = _shared(truth, scores, scores)
            mine = np.array([family.lower() in system.lower() for system in systems], dtype=bool)
            if not mine.any() or mine.all():
                which = "no" if not mine.any() else "every"
                names = ", ".join(dict.fromkeys(systems))
                raise InputError(f"ratings: {which} system's name has '{family}' in it: {names}")
            if np.ptp(h) > 0 and np.ptp(j) > 0:
                gap = (j - j.mean()) / j.std() - (h - h.mean()) / h.std()
                value, ci = _difference(gap, mine, sources, resamples, seed)
                named = tuple(dict.fromkeys(s for s, is_own in zip(systems, mine, strict=True) if is_own))
                preferences.append(
                    SelfPreference(name, metric, named, int(mine.sum()), int((~mine).sum()), value, ci)
                )
    return preferences


def _difference(
    gap: Floats, mine: Bools, sources: npt.NDArray[np.intp], resamples: int, seed: int
) -> tuple[float, tuple[float, float] | None]:
    _, source_index = np.unique(sources, return_inverse=True)
    sums = [
        np.bincount(source_index, weights=v, minlength=source_index.max() + 1)
        for v in (np.where(mine, gap, 0.0), np.where(mine, 0.0, gap), mine * 1.0, ~mine * 1.0)
    ]
    table = np.column_stack(sums)
    counts = np.random.default_rng(seed).multinomial(
        len(table), np.full(len(table), 1 / len(table)), resamples
    )
    total = table.sum(axis=0)
    drawn = counts @ table
    drawn = drawn[(drawn[:, 2:] > 0).all(axis=1)]
    value = float(total[0] / total[2] - total[1] / total[3])
    if not len(drawn):
        return value, None
    low, high = np.quantile(drawn[:, 0] / drawn[:, 2] - drawn[:, 1] / drawn[:, 3], [0.025, 0.975])
    return value, (float(low), float(high))


def _of(metrics: dict[str, Scores], metric: str) -> Scores | None:
    """The scores by a metric; those of a judge with an only metric go with any."""
    return metrics.get(metric) or (next(iter(metrics.values())) if len(metrics) == 1 else None)


def _shared(
    human: Scores, first: Scores, second: Scores
) -> tuple[Floats, Floats, Floats, npt.NDArray[np.intp], Sequence[str]]:
    """Mean scores of the items that all three have, the number of each item's source, and its system."""
    h, a, b = (mean_over(s.at(human.sources, human.systems)) for s in (human, first, second))
    defined = ~(np.isnan(h) | np.isnan(a) | np.isnan(b))
    row, column = np.nonzero(defined)
    return h[defined], a[defined], b[defined], row, [human.systems[k] for k in column]
