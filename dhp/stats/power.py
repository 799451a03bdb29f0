"""How many examples a judge needs to notice a kind of damage: power, by formula and by simulation.

Both start from a population: the differences of many examples, of which a run draws n. Sources: Noether 1987
(sample size for the signed-rank test), Hoeffding 1948 (projections of rank statistics), Hall 1992 (Edgeworth
expansions), Kerby 2014 (the effect).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.combine import COMBINATIONS, DEFAULT_COMBINATION, Combination, combined
from dhp.stats.discernment import LOG_ALPHA
from dhp.stats.wilcoxon.resampled import Tests
from dhp.stats.wilcoxon.signed_rank import Method

Floats = npt.NDArray[np.float64]
LIMIT = 100_000
"""Examples beyond which no number is given."""
_POINTS = 12  # log2 of the points of the integral over the normal distribution
_MODEL_POINTS = 13  # log2 of the examples of a population by model
_AT_ONCE = 1 << 20  # scores drawn
_FAR = 8.0  # standard deviations beyond which a shift makes no difference
_ROUNDING = 1e-12
_LOG_2 = float(np.log(2))


@dataclass(frozen=True, slots=True)
class SignedRanks:
    """The test of one metric in a population of P differences, given how many of its examples move.

    Let k(x, y) be the sign of x + y. The signed ranks of m differences, none 0, sum to their signs plus k of
    all pairs of them; the null variance of that sum is the sum of the squared ranks. `rank` of x is the share
    of movers with a smaller magnitude and half of those with an equal one.
    """

    moves: Floats
    """1 where a difference is not 0, else 0; shape (P,)."""
    influence: Floats
    """What an example adds to the standardised statistic of many, 0 on average and where it does not move."""
    skewness: float
    """Of that statistic, times the root of m."""
    means: Floats
    """Over movers: of the sign, of k with another mover, of rank ** 2, of rank ** 4, and of twice the rank
    plus the variance of what another mover counts in it."""
    covariance: Floats
    """Over movers, of the sign and the mean k with others; shape (2, 2)."""
    ties: tuple[Floats, Floats]
    """Shares of movers that groups of equal magnitude have, and how many groups have them."""

    @classmethod
    def of(cls, x: Floats) -> "SignedRanks":
        """Of differences, 0 where a score did not move or is missing."""
        movers = x[x != 0]
        if not movers.size:
            return cls(
                np.zeros(x.size), np.zeros(x.size), 0.0, np.zeros(5), np.zeros((2, 2)), (movers, movers)
            )
        _, group, counts = np.unique(np.abs(movers), return_inverse=True, return_counts=True)
        share = counts / movers.size
        by_rank = share.cumsum() - share / 2
        sign, rank = np.sign(movers), by_rank[group]
        pull = sign * rank + _above(np.bincount(group, weights=sign) / movers.size)[group]
        drawn = 2 * rank + (by_rank - share / 4 - by_rank**2)[group]
        influence, skewness = _influence(group, sign, rank, pull)
        each = np.zeros(x.size)
        each[x != 0] = influence
        return cls(
            (x != 0).astype(np.float64),
            each,
            skewness,
            np.array([np.mean(of) for of in (sign, pull, rank**2, rank**4, drawn)]),
            np.cov([sign, pull], bias=True),
            np.unique(share, return_counts=True),
        )

    def log_p(self, movers: Floats, deviates: Floats, method: Method) -> Floats:
        """Natural logs of p, of samples with so many movers whose statistics deviate from their means by
        standard normal `deviates`; all of one shape."""
        from scipy.special import log_ndtr

        m = np.maximum(movers, 1.0)
        sign, pull, square, fourth, drawn = self.means
        variance = m * (1 + (m - 1) * drawn + (m - 1) ** 2 * square)
        root = np.sqrt(variance)
        half = self._half_step(m, root) if method == "exact" else 0.0
        total = m * sign + m * (m - 1) / 2 * pull - half
        (of_sign, both), (_, of_pull) = self.covariance
        sd = np.sqrt(m * (of_sign + 2 * (m - 1) * both + (m - 1) ** 2 * of_pull) / variance)
        z = total / root + sd * _skewed(deviates, self.skewness / np.sqrt(m))
        all_fell = z * root >= m * (m + 1) / 2 - 2 * half - _ROUNDING * m**2
        if square > 0:
            z += fourth / (square**2 * 12 * m) * (z**3 - 3 * z)  # the null has light tails
        smallest_p = -m * _LOG_2
        logs = np.where(all_fell, smallest_p, np.maximum(log_ndtr(-z), smallest_p))
        return np.where(movers > 0, logs, 0.0)

    def _half_step(self, m: Floats, root: Floats) -> Floats:
        """Half the typical distance between values that the statistic can take: the continuity correction.

        1 where all magnitudes differ. Where few do, it follows from the probability of a single outcome.
        """
        share, times = self.ties
        of_outcome = -0.5 * (np.log1p(np.pi / 2 * m[..., None] * share) @ times)
        step: Floats = np.maximum(1.0, np.exp(of_outcome) * root * np.sqrt(np.pi / 2))
        return step


def _above(by_group: Floats) -> Floats:
    """Sum over the groups of larger magnitude, and half of the own one."""
    sums: Floats = by_group[::-1].cumsum()[::-1] - by_group / 2
    return sums


def _influence(group: npt.NDArray[np.intp], sign: Floats, rank: Floats, pull: Floats) -> tuple[Floats, float]:
    """The influence function of the standardised statistic, and the skewness that follows from it and from
    the second derivative along it; see `SignedRanks`. The null variance is taken as fixed."""
    scale = float(np.sqrt((rank**2).mean()))

    def statistic(share: Floats) -> float:
        sizes = np.bincount(group, weights=share)
        ranks = (sizes.cumsum() - sizes / 2)[group]
        return float(share @ (sign * ranks)) / scale

    influence = (pull - pull.mean()) / scale
    variance = float((influence**2).mean())
    if variance < _ROUNDING:
        return np.zeros_like(sign), 0.0
    share, step = np.full(group.size, 1 / group.size), 1e-3 / float(np.abs(influence).max())
    less, same, more = (statistic(share * (1 + k * step * influence)) for k in (-1, 0, 1))
    curvature = (less - 2 * same + more) / step**2
    return influence, float((influence**3).mean() + 3 * curvature) / variance**1.5


@dataclass(frozen=True, slots=True)
class Power:
    """The chance that n examples of a population give D >= 1, by a formula.

    How many scores of each metric move is binomial; given that, the standardised statistics are normal but
    for their skewness, and their p-values come from the normal tail, corrected for continuity and kurtosis.
    What is drawn for the metrics correlates as in the population. The probability of D >= 1 is an integral
    over fixed quasi-random points, so that it is the same every time.
    """

    ranks: tuple[SignedRanks, ...]
    """Of each metric."""
    method: Method
    combination: Combination
    chances: Floats
    """Quantiles of how many scores move, shape (points, M)."""
    deviates: Floats
    """Standard normal, of the statistics, shape (points, M)."""

    @classmethod
    def of(
        cls,
        population: npt.ArrayLike,
        *,
        method: Method = "exact",
        combination: Combination = DEFAULT_COMBINATION,
    ) -> "Power":
        """Of differences of shape (P, M), original minus degraded, NaN where a score is missing.

        `method` and `combination` are those of `signed_rank` and `combine`. Raises `ValueError` if P is below
        2, M is 0 or a difference is infinite.
        """
        from scipy.special import ndtr

        x = checked_population(population)
        if combination not in COMBINATIONS:
            raise ValueError(f"unknown combination '{combination}'; allowed: {', '.join(COMBINATIONS)}")
        filled = np.where(np.isnan(x), 0.0, x)  # a missing pair counts as little as one that did not move
        ranks = tuple(SignedRanks.of(column) for column in filled.T)
        drawn = np.column_stack([rank.moves for rank in ranks] + [rank.influence for rank in ranks])
        sd = drawn.std(axis=0)
        drawn = (drawn - drawn.mean(axis=0)) / np.where(sd > _ROUNDING, sd, np.inf)
        values, vectors = np.linalg.eigh(drawn.T @ drawn / len(x))
        normal = _normal_points(drawn.shape[1], _POINTS) * np.sqrt(np.maximum(values, 0)) @ vectors.T
        m = len(ranks)
        return cls(ranks, method, combination, ndtr(normal[:, :m]), normal[:, m:])

    def at(self, n: int) -> float:
        """The chance with n examples, n >= 1, in [0, 1]."""
        if n < 1:
            raise ValueError(f"n must be at least 1, not {n}")
        logs = [
            rank.log_p(_binomial(n, float(rank.moves.mean()), chance), deviate, self.method)
            for rank, chance, deviate in zip(self.ranks, self.chances.T, self.deviates.T, strict=True)
        ]
        log_p = combined(np.stack(logs, axis=-1)[:, None, :], None, self.combination)
        return float((log_p <= LOG_ALPHA).mean())

    def needed(self, chance: float, limit: int = LIMIT) -> int | None:
        """The smallest n that has this chance, in (0, 1); None if it is beyond `limit`."""
        return smallest(self.at, chance, limit)


def _binomial(n: int, share: float, chances: Floats) -> Floats:
    """Quantiles of Binomial(n, share)."""
    from scipy.special import bdtr

    reach = 8 * np.sqrt(n * share * (1 - share)) + 8
    k = np.arange(max(0, int(n * share - reach)), min(n, int(n * share + reach)) + 1)
    return k[np.minimum(np.searchsorted(bdtr(k, n, share), chances), k.size - 1)].astype(np.float64)


def _skewed(normal: Floats, skewness: Floats) -> Floats:
    """Standard normal values given a skewness (Cornish and Fisher 1938), never turning back."""
    turn = 3 / np.maximum(np.abs(skewness), _ROUNDING)
    within = np.where(skewness < 0, np.minimum(normal, turn), np.maximum(normal, -turn))
    skewed: Floats = within + skewness / 6 * (within**2 - 1)
    return skewed


def smallest(
    power: Callable[[int], float], chance: float, limit: int, *, guess: int = 1, tolerance: float = 0.0
) -> int | None:
    """The smallest n with `power(n)` at least `chance`, for a power that grows with n; None beyond `limit`.

    The search starts at `guess` and is content with a number that is too large by the share `tolerance`.
    """
    if not 0 < chance < 1:
        raise ValueError(f"chance must be between 0 and 1, not {chance}")
    high = min(guess, limit)
    while power(high) < chance:
        if high >= limit:
            return None
        high = min(2 * high, limit)
    low = high // 2
    while low and power(low) >= chance:
        low, high = low // 2, low
    while high - low > max(1, tolerance * high):
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle) >= chance else (middle, high)
    return high


def simulated_power(
    population: npt.ArrayLike,
    n: int,
    rng: np.random.Generator,
    *,
    runs: int = 1000,
    method: Method = "exact",
    combination: Combination = DEFAULT_COMBINATION,
) -> float:
    """The share of simulated runs with D >= 1: n examples drawn with replacement, tested as a run is.

    A run in which a metric has no pair has no D, and noticed nothing. Parameters and errors as for `Power`;
    `n` and `runs` are at least 1. p-values: `dhp.stats.wilcoxon.tails.log_tails` or scipy.
    """
    x = checked_population(population)
    if n < 1 or runs < 1:
        raise ValueError(f"n and runs must be at least 1, not {n} and {runs}")
    noticed = 0
    most = max(1, _AT_ONCE // n)
    for start in range(0, runs, most):
        drawn = x[rng.integers(len(x), size=(min(most, runs - start), n))]
        logs = [_tests(drawn[:, :, m]).outcomes(method)[0] for m in range(x.shape[1])]
        log_p = combined(np.stack(logs, axis=-1)[:, None, :], None, combination)
        noticed += int((log_p <= LOG_ALPHA + _ROUNDING).sum())
    return noticed / runs


def _tests(differences: Floats) -> Tests:
    """The test of each row, shape (tests, n)."""
    order = np.argsort(np.abs(differences), axis=1)
    x = np.take_along_axis(differences, order, axis=1)
    size = np.abs(x)
    moved = size > 0
    new = moved.copy()
    new[:, 1:] &= size[:, 1:] != size[:, :-1]
    group = new.cumsum(axis=1) - 1
    groups = int(group.max()) + 1
    cell = np.arange(len(x))[:, None] * max(groups, 1) + group

    def counted(chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        counts = np.bincount(cell[chosen], minlength=len(x) * max(groups, 1))
        return counts.reshape(len(x), -1).astype(np.int64)

    magnitudes = np.zeros(len(x) * max(groups, 1))
    magnitudes[cell[moved]] = size[moved]
    return Tests(counted(moved), counted(x > 0), (~np.isnan(x)).sum(axis=1), magnitudes.reshape(len(x), -1))


def largest_effect(nonzero: float) -> float:
    """The largest rank-biserial correlation where so large a share of the scores moves."""
    return nonzero * (2 - nonzero)


def shifted(effect: float, metrics: int = 1, correlation: float = 0.0, nonzero: float = 1.0) -> Floats:
    """A population by model, shape (P, metrics): normal differences, shifted to a rank-biserial correlation.

    Parameters
    ----------
    effect
        Of every metric, as `Effect.rank_biserial`. Where the share q of the scores moves and these have the
        mean s in units of their standard deviation, it is q^2 (2 Phi(s sqrt 2) - 1) + 2 q (1 - q) (2 Phi(s) -
        1). At its largest, q (2 - q), every score that moves falls.
    metrics
        At least 1.
    correlation
        Between the differences of any two metrics, in [0, 1).
    nonzero
        Share of scores that move, in (0, 1], for each metric independently of all else.

    Raises
    ------
    ValueError
        For a value outside these ranges.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtr, ndtri

    if not (metrics >= 1 and 0 <= correlation < 1 and 0 < nonzero <= 1):
        raise ValueError(
            "metrics must be at least 1, correlation in [0, 1) and nonzero in (0, 1], "
            f"not {metrics}, {correlation} and {nonzero}"
        )
    if not abs(effect) <= (largest := largest_effect(nonzero)):
        raise ValueError(f"effect must be in [-{largest:g}, {largest:g}], not {effect}")

    def beyond(shift: float) -> float:
        """By how much this shift has another effect than asked for."""
        moved = nonzero**2 * (2 * ndtr(shift * np.sqrt(2)) - 1)
        return float(moved + 2 * nonzero * (1 - nonzero) * (2 * ndtr(shift) - 1)) - effect

    points = _normal_points(2 * metrics + 1, _MODEL_POINTS)
    common, own, moving = points[:, :1], points[:, 1 : metrics + 1], points[:, metrics + 1 :]
    x = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
    if abs(effect) > largest * (1 - _ROUNDING):
        x = np.abs(x) * np.sign(effect)
    else:
        x = x + brentq(beyond, -_FAR, _FAR, xtol=1e-12)
    return np.where(moving <= ndtri(nonzero), x, 0.0)


def _normal_points(dimensions: int, log2: int) -> Floats:
    """Scrambled Sobol points as standard normal values, the same every time."""
    from scipy.special import ndtri
    from scipy.stats.qmc import Sobol

    points = Sobol(dimensions, rng=np.random.default_rng(0)).random_base2(log2)
    normal: Floats = ndtri(np.clip(points, _ROUNDING, 1 - _ROUNDING))
    return normal


def checked_population(population: npt.ArrayLike) -> Floats:
    """Differences of shape (P, M), P at least 2 and M at least 1, finite or NaN; else `ValueError`."""
    x = np.asarray(population, dtype=np.float64)
    if x.ndim != 2 or len(x) < 2 or x.shape[1] == 0 or np.isinf(x).any():
        raise ValueError(
            f"a population must have shape (P, M), P at least 2, and be finite or NaN, not {x.shape}"
        )
    return x
