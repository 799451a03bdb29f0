"""How many examples would decide."""

import math

_MOST_EXAMPLES = 100_000
_CHANCE = 0.8416212335729143  # normal deviate of 80 %
_LIMIT = 1.959963984540054  # of the limits of a 95 % interval


def examples_to_separate(
    n: int,
    value: float,
    low: float,
    high: float,
    line: float,
    deviates: tuple[float, float] = (_LIMIT, _LIMIT),
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
    width = (value - low) * (1 + _CHANCE / below) if value > line else (high - value) * (1 + _CHANCE / above)
    times = (width / abs(value - line)) ** 2
    return max(n + 1, math.ceil(n * times)) if n * times <= _MOST_EXAMPLES else None
