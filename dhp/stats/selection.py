"""Intervals of the smallest or largest of several figures, corrected for the selection."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dhp.stats.arrays import Bools, Floats, Ints

Limits = Callable[[Floats], tuple[Floats, Floats]]
_FIRST_STEP = 0.1


@dataclass(frozen=True, slots=True)
class Selected:
    """The smallest or largest along the last axis of figures (..., K); NaN and -1 where none is defined."""

    index: Ints
    """Index of the selected one of K in the data, the first on a tie; shape (...)."""
    value: Floats
    """The figure itself, not corrected."""
    low: Floats
    high: Floats


def smallest(values: Floats, limits: Limits, level: float = 0.95) -> Selected:
    """The smallest figure, with an interval of the smallest true one, whichever that is.

    The smallest of several estimates is too small on average. The lower limit is the smallest of the lower
    limits, which needs no correction: the true minimum is one of the figures. The upper limit is the smallest
    of the upper ones, each at a level corrected for the number of figures that may be the smallest
    (Bonferroni). Which may be follows from simultaneous intervals that spend a tenth of the error (two steps
    as of Romano, Shaikh and Wolf 2014): so figures that are clearly larger cost nothing.

    Parameters
    ----------
    values : shape (..., K)
        NaN where undefined: such a figure has no part.
    limits
        Gives the two limits of each figure, shape (..., K), for levels of shape (..., 1).
    level
        Nominal coverage, in (0, 1).
    """
    there = ~np.isnan(values)
    shape = (*values.shape[:-1], 1)
    tail = (1 - level) / 2
    low, _ = limits(np.full(shape, level))
    count = np.maximum(there.sum(axis=-1, keepdims=True), 1)
    first_low, first_high = limits(1 - 2 * tail * _FIRST_STEP / count)
    bound = np.where(there, first_high, np.inf).min(axis=-1, keepdims=True, initial=np.inf)
    candidate = there & (first_low <= bound)
    share = np.where(count > 1, tail * (1 - _FIRST_STEP), tail)
    _, high = limits(1 - 2 * share / np.maximum(candidate.sum(axis=-1, keepdims=True), 1))
    undefined = (there & np.isnan(low)).any(axis=-1) | ~there.any(axis=-1)

    def least(ends: Floats, of: Bools) -> Floats:
        return np.where(undefined, np.nan, np.where(of, ends, np.inf).min(axis=-1, initial=np.inf))

    filled = np.where(there, values, np.inf)
    index = np.where(there.any(axis=-1), filled.argmin(axis=-1), -1)
    value = np.where(index < 0, np.nan, filled.min(axis=-1))
    return Selected(index, value, least(low, there), least(high, candidate))


def largest(values: Floats, limits: Limits, level: float = 0.95) -> Selected:
    """The largest figure, with an interval of the largest true one; the mirror of `smallest`."""

    def mirrored(levels: Floats) -> tuple[Floats, Floats]:
        low, high = limits(levels)
        return -high, -low

    found = smallest(-values, mirrored, level)
    return Selected(found.index, -found.value, -found.high, -found.low)
