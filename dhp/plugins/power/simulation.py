"""Power by simulation: how many examples a judge needs to notice damage.

It starts from a population: the differences of many examples, of which a run draws n. Source: Wilson 1927
(the interval of a share).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.analysis.verdict_rule import verdicts
from dhp.core.verdicts import NOTICED
from dhp.stats.arrays import Floats
from dhp.stats.defaults import FLOOR
from dhp.stats.detection import detection
from dhp.stats.flips import flip_log_p
from dhp.stats.wilcoxon import signed_ranks

_MODEL_POINTS = 13  # log2 of the examples of a population by model
_AT_ONCE = 1 << 18  # examples drawn
_ROUNDING = 1e-12
_FEW = 30  # examples up to which signs are flipped
_FLIPS = 4096
_NORMAL = 100_000  # values drawn of the normal distribution
_Z = 1.959963984540054  # 0.975 quantile of the normal distribution


@dataclass(frozen=True, slots=True)
class NeededExamples:
    """How many examples give a chance to notice; None if no tried number does."""

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
    """Shares of the runs that noticed, in [0, 1]."""
    runs: int
    """Simulated at each size."""

    def needed(self, chance: float) -> NeededExamples:
        """The smallest number with this chance, in (0, 1), and its 95 % interval.

        Between two sizes the normal quantile of the power is taken as straight in the root of the number.
        """
        if not 0 < chance < 1:
            raise ValueError(f"chance must be between 0 and 1, not {chance}")
        limits = [power_interval(share, self.runs) for share in self.power]
        lower, upper = ([pair[side] for pair in limits] for side in (0, 1))
        return NeededExamples(*(self._reaches(values, chance) for values in (self.power, upper, lower)))

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
    """The 95 % interval of a simulated power, the share of the runs that noticed (Wilson 1927)."""
    middle = (share + _Z**2 / (2 * runs)) / (1 + _Z**2 / runs)
    half = _Z * np.sqrt(share * (1 - share) / runs + _Z**2 / (4 * runs**2)) / (1 + _Z**2 / runs)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def power_curve(power: Callable[[int], float], chance: float, limit: int, runs: int) -> PowerCurve:
    """The power at growing numbers of examples, from one on, until its lower limit has `chance`.

    `power` simulates `runs` runs of a number of examples. The curve ends at `limit` examples at the latest.
    """
    sizes, powers = [1], [power(1)]
    while sizes[-1] < limit and power_interval(powers[-1], runs)[0] < chance:
        sizes.append(min(limit, sizes[-1] + max(1, sizes[-1] // 3)))
        powers.append(power(sizes[-1]))
    return PowerCurve(tuple(sizes), tuple(powers), runs)


def simulated_power(
    population: npt.ArrayLike,
    n: int,
    rng: np.random.Generator,
    *,
    runs: int,
    together: int = 1,
    floor: float = FLOOR,
) -> float:
    """The share of simulated runs whose verdict is noticed: n examples drawn with replacement.

    Each is judged as a run is, without harmless edits: no verdict is `as harmless edits`.

    Parameters
    ----------
    population
        Differences of shape (P, M), original minus degraded, NaN if a score is missing; P is at least 2.
    n, runs
        Examples of a run, and how many runs; at least 1.
    rng
        Draws the examples.
    together, floor
        As for `verdicts`.

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
    if n < 1 or runs < 1 or together < 1:
        raise ValueError(f"n, runs and together must be at least 1, not {n}, {runs} and {together}")
    noticed = 0
    most = max(1, _AT_ONCE // n)
    for start in range(0, runs, most):
        count = min(most, runs - start)
        drawn = x[rng.integers(len(x), size=(n, count))]
        detected = detection(drawn, ["run"] * count)
        words = verdicts(detected, _fell_log_p(drawn), floor=floor, together=together)
        noticed += words.count(NOTICED)
    return noticed / runs


def _fell_log_p(differences: Floats) -> tuple[Floats, Floats]:
    """The p-values of `flip_log_p`, above `_FEW` examples by the normal distribution that flips tend to."""
    if len(differences) <= _FEW:
        return flip_log_p(differences, resamples=_FLIPS)
    from scipy.special import log_ndtr

    _, runs, metrics = differences.shape
    ranks = signed_ranks(differences)
    scale = np.sqrt((ranks**2).sum(axis=0))
    standard = ranks / np.where(scale > 0, scale, 1.0)
    largest = np.where(scale > 0, standard.sum(axis=0), -np.inf).max(axis=1)
    if metrics == 1:
        log_p = log_ndtr(-np.maximum(largest, 0.0))
    else:
        # All runs are of one population, so the metrics of each depend on each other alike.
        together = np.einsum("nrm,nrk->mk", standard, standard) / runs
        normal = np.random.default_rng(0).multivariate_normal(np.zeros(metrics), together, _NORMAL)
        above = _NORMAL - np.searchsorted(np.sort(normal.max(axis=1)), largest)
        log_p = np.log((above + 1) / (_NORMAL + 1))
    return log_p, np.zeros(runs)


def outcomes(detection: float, metrics: int = 1, correlation: float = 0.0, tied: float = 0.0) -> Floats:
    """A population by model, shape (P, metrics): 1 for a score that fell, 0 for a tie, -1 for one that rose.

    Parameters
    ----------
    detection
        Of every metric, P(fell) + P(tied) / 2.
    metrics
        At least 1.
    correlation
        In [0, 1), of any two metrics: of the normal variables whose size decides what falls, ties and rises.
    tied
        Share of the scores that do not move, at most `most_tied(detection)`.

    Raises
    ------
    ValueError
        For a value outside these ranges.
    """
    from scipy.special import ndtri

    if not (metrics >= 1 and 0 <= correlation < 1):
        raise ValueError(
            f"metrics must be at least 1 and correlation in [0, 1), not {metrics} and {correlation}"
        )
    if not (0 <= detection <= 1 and 0 <= tied <= most_tied(detection) + _ROUNDING):
        raise ValueError(
            f"detection must be in [0, 1] and tied at most twice what it is from 0 or 1, "
            f"not {detection} and {tied}"
        )
    points = _normal_points(metrics + 1, _MODEL_POINTS)
    x = np.sqrt(correlation) * points[:, :1] + np.sqrt(1 - correlation) * points[:, 1:]
    fell, moved_or_tied = detection - tied / 2, detection + tied / 2
    return np.where(x < ndtri(fell), 1.0, np.where(x < ndtri(min(moved_or_tied, 1.0)), 0.0, -1.0))


def most_tied(detection: float) -> float:
    """The largest share of ties that a detection leaves room for."""
    return 2 * min(detection, 1 - detection)


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
