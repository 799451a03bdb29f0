"""Power by number of examples, and how many are needed. Source: Wilson 1927 (the interval of a share)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dhp.plugins.power.population import ROUNDING

_Z = 1.959963984540054
"""0.975 quantile of the normal distribution."""


@dataclass(frozen=True, slots=True)
class NeededExamples:
    """How many examples give a chance to notice; None if no tried number does."""

    n: int | None
    """The number at which the simulated power reaches the chance."""
    low: int | None
    """The number at which the upper limit of the power does: fewer are too few, as far as the runs tell."""
    high: int | None
    """The number at which the lower limit of the power does."""


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
        lower, upper = [], []
        for share in self.power:
            low, high = power_interval(share, self.runs)
            lower.append(low)
            upper.append(high)
        return NeededExamples(
            n=self._reaches(self.power, chance),
            low=self._reaches(upper, chance),
            high=self._reaches(lower, chance),
        )

    def _reaches(self, values: Sequence[float], chance: float) -> int | None:
        """The number of examples at which values reach the chance; None if they never do."""
        from scipy.special import ndtri

        first = 0
        while first < len(values) and values[first] < chance:
            first += 1
        if first == len(values):
            return None
        if first == 0:
            return self.sizes[0]

        # Quantiles of 0 and 1 are infinite.
        bounded = np.clip([values[first - 1], values[first], chance], 1e-4, 1 - 1e-4)
        before, after, aim = ndtri(bounded)
        share = 1.0 if after <= before else (aim - before) / (after - before)
        low, high = np.sqrt(self.sizes[first - 1]), np.sqrt(self.sizes[first])
        reached = int(np.ceil((low + share * (high - low)) ** 2 - ROUNDING * self.sizes[first]))
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
