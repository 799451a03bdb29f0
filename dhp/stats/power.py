"""How many examples a judge needs to notice a kind of damage: power by simulation.

It starts from a population: the differences of many examples, of which a run draws n. Sources: Wilson 1927
(the interval of a share), Kerby 2014 (the effect).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Bools, Floats, Ints
from dhp.stats.combine import COMBINATIONS, DEFAULT_COMBINATION, Combination, combined
from dhp.stats.discernment import LOG_ALPHA
from dhp.stats.wilcoxon.resampled import Tests
from dhp.stats.wilcoxon.signed_rank import Method

_MODEL_POINTS = 13  # log2 of the examples of a population by model
_AT_ONCE = 1 << 20  # scores drawn
_FAR = 8.0  # standard deviations beyond which a shift makes no difference
_ROUNDING = 1e-12
_Z = 1.959963984540054  # 0.975 quantile of the normal distribution


@dataclass(frozen=True, slots=True)
class Needed:
    """How many examples give a chance of D >= 1; None where no tried number does."""

    n: int | None
    """Where the simulated power reaches the chance."""
    low: int | None
    """Where the upper limit of the power does: fewer are too few, as far as the runs tell."""
    high: int | None
    """Where the lower limit of the power does."""


@dataclass(frozen=True, slots=True)
class PowerCurve:
    """The simulated power at growing numbers of examples."""

    sizes: tuple[int, ...]
    """Numbers of examples, each at most a third above the one before, or one more."""
    power: tuple[float, ...]
    """Shares of the runs with D >= 1, in [0, 1]."""
    runs: int
    """Simulated at each size."""

    def needed(self, chance: float) -> Needed:
        """The smallest number with this chance, in (0, 1), and its 95 % interval.

        Between two sizes the normal quantile of the power is taken as straight in the root of the number.
        """
        if not 0 < chance < 1:
            raise ValueError(f"chance must be between 0 and 1, not {chance}")
        limits = [power_interval(share, self.runs) for share in self.power]
        lower, upper = ([pair[side] for pair in limits] for side in (0, 1))
        return Needed(*(self._reaches(values, chance) for values in (self.power, upper, lower)))

    def _reaches(self, values: Sequence[float], chance: float) -> int | None:
        from scipy.special import ndtri

        first = next((k for k, value in enumerate(values) if value >= chance), None)
        if not first:
            return None if first is None else self.sizes[0]
        bounded = np.clip([values[first - 1], values[first], chance], 1e-4, 1 - 1e-4)
        before, after, aim = ndtri(bounded)
        share = 1.0 if after <= before else (aim - before) / (after - before)
        low, high = np.sqrt(self.sizes[first - 1]), np.sqrt(self.sizes[first])
        reached = int(np.ceil((low + share * (high - low)) ** 2 - _ROUNDING * self.sizes[first]))
        return max(reached, self.sizes[first - 1] + 1)


def power_interval(share: float, runs: int) -> tuple[float, float]:
    """The 95 % interval of a simulated power, the share of the runs with D >= 1 (Wilson 1927)."""
    middle = (share + _Z**2 / (2 * runs)) / (1 + _Z**2 / runs)
    half = _Z * np.sqrt(share * (1 - share) / runs + _Z**2 / (4 * runs**2)) / (1 + _Z**2 / runs)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def power_curve(power: Callable[[int], float], chance: float, limit: int, runs: int) -> PowerCurve:
    """The power at growing numbers of examples, from one on, until its lower limit has `chance`.

    `power` simulates `runs` runs of so many examples. The curve ends at `limit` examples at the latest.
    """
    sizes, found = [1], [power(1)]
    while sizes[-1] < limit and power_interval(found[-1], runs)[0] < chance:
        sizes.append(min(limit, sizes[-1] + max(1, sizes[-1] // 3)))
        found.append(power(sizes[-1]))
    return PowerCurve(tuple(sizes), tuple(found), runs)


def simulated_power(
    population: npt.ArrayLike,
    n: int,
    rng: np.random.Generator,
    *,
    runs: int = 500,
    method: Method = "exact",
    combination: Combination = DEFAULT_COMBINATION,
) -> float:
    """The share of simulated runs with D >= 1: n examples drawn with replacement, tested as a run is.

    A run in which a metric has no pair has no D, and noticed nothing.

    Parameters
    ----------
    population
        Differences of shape (P, M), original minus degraded, NaN where a score is missing; P is at least 2.
    n, runs
        Examples of a run, and how many runs; at least 1.
    rng
        Draws the examples.
    method, combination
        As of `signed_rank` and `combined`. p-values: `dhp.stats.wilcoxon.tails.log_tails` or scipy.

    Returns
    -------
    float
        In [0, 1]; its interval is `power_interval`.

    Raises
    ------
    ValueError
        If P is below 2, M is 0, a difference is infinite, or a value is out of range.
    """
    x = _checked(population)
    if combination not in COMBINATIONS:
        raise ValueError(f"unknown combination '{combination}'; allowed: {', '.join(COMBINATIONS)}")
    if n < 1 or runs < 1:
        raise ValueError(f"n and runs must be at least 1, not {n} and {runs}")
    noticed = 0
    most = max(1, _AT_ONCE // n)
    for start in range(0, runs, most):
        drawn = x[rng.integers(len(x), size=(min(most, runs - start), n))]
        logs = [_tests(drawn[:, :, m]).log_p(method) for m in range(x.shape[1])]
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

    def counted(chosen: Bools) -> Ints:
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


def _checked(population: npt.ArrayLike) -> Floats:
    """Differences of shape (P, M), P at least 2 and M at least 1, finite or NaN; else `ValueError`."""
    x = np.asarray(population, dtype=np.float64)
    if x.ndim != 2 or len(x) < 2 or x.shape[1] == 0 or np.isinf(x).any():
        raise ValueError(
            f"a population must have shape (P, M), P at least 2, and be finite or NaN, not {x.shape}"
        )
    return x
