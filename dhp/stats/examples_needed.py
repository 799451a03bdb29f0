"""How many examples would decide."""

import math

from dhp.stats.student import DEVIATE_95

_MOST_EXAMPLES = 100_000
"""Examples beyond which no number is given; chosen."""
_CHANCE = 0.8416212335729143
"""Normal deviate of a chance of 80 %."""


def examples_to_separate(
    n: int,
    value: float,
    low: float,
    high: float,
    line: float,
    deviates: tuple[float, float] = (DEVIATE_95, DEVIATE_95),
) -> int | None:
    """How many examples put the interval on one side of a line with a chance of 80 %.

    Further examples are taken to be like these: the value stays, and the limits come nearer to it with the
    root of the number of examples.

    Parameters
    ----------
    n
        Examples so far, at least 1.
    value, low, high
        A figure and its limits; NaN if undefined.
    line
        In the unit of the figure.
    deviates
        Standard errors between the figure and its lower and upper limit, both above 0; default: of 95 %.

    Returns
    -------
    int or None
        More than `n`; None if it is beyond 100,000 or no number would be enough.
    """
    if math.isnan(value) or math.isnan(low) or math.isnan(high) or value == line:
        return None
    below, above = deviates
    # From the value to its limit, and as much further as chance may move the value.
    reach, deviate = (value - low, below) if value > line else (high - value, above)
    width = reach * (1 + _CHANCE / deviate)
    times = (width / abs(value - line)) ** 2
    if n * times > _MOST_EXAMPLES:
        return None
    return max(n + 1, math.ceil(n * times))
