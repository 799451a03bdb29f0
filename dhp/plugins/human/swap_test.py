"""Permutation test of two judges against human scores."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dhp.plugins.human.correlation import FEWEST, RESAMPLES
from dhp.stats.arrays import Floats


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
    if n < FEWEST:
        return None
    h = _standardised(human[defined])
    one, other = _standardised(first[defined]), _standardised(second[defined])
    if h is None or one is None or other is None:
        return None
    # Swapped, the judges are middle + coin * half and middle - coin * half: their means, squares and products
    # with h are sums over coins, and one product of matrices gives them all.
    middle, half = (one + other) / 2, (one - other) / 2
    sums = _coins(resamples, n, seed) @ np.column_stack([h * half, half, middle * half])
    along, shift, mixed = sums.T / n
    mean, observed = float((h * middle).mean()), float((h * (one - other)).mean())
    # Both are standardised, so the means of middle² and half² add up to 1: the roots are the deviations of
    # the swapped scores, whose means are shift and -shift.
    drawn = (mean + along) / np.sqrt(1 + 2 * mixed - shift**2)
    drawn -= (mean - along) / np.sqrt(1 - 2 * mixed - shift**2)
    rounding = 1e-9  # a swap that changes nothing counts, however it was summed
    greater = int((drawn >= observed - rounding).sum())
    further = int((np.abs(drawn) >= abs(observed) - rounding).sum())
    return Swap(observed, (greater + 1) / (resamples + 1), (further + 1) / (resamples + 1), n)


@lru_cache(maxsize=4)
def _coins(resamples: int, n: int, seed: int) -> Floats:
    """1 or -1, shape (resamples, n); kept, as each two judges on each metric need the same."""
    coins = np.random.default_rng(seed).integers(0, 2, (resamples, n), dtype=np.int8)
    return 2.0 * coins.astype(np.float64) - 1.0


def _standardised(scores: Floats) -> Floats | None:
    """Scores less their mean, over their standard deviation; None if they are equal but for rounding."""
    deviation = scores.std()
    if deviation <= 1e-7 * np.abs(scores).max(initial=0.0):
        return None
    standardised: Floats = (scores - scores.mean()) / deviation
    return standardised
