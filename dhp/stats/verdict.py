"""The verdict on a kind of damage, from its detection and interval."""

import math
from typing import Literal

from dhp.stats.detection import FEWEST_PAIRS
from dhp.stats.floor import FLOOR

Verdict = Literal["noticed", "faint", "missed", "preferred", "as harmless edits", "undecided"]
CONTROL_PAIRS = 20
"""Pairs that a control needs to be passed."""
ControlState = Literal["passed", "false alarm", "raised", "undecided", "not tested"]
_MOST_EXAMPLES = 100_000
_BLIND = 0.5
_CHANCE = 0.8416212335729143  # normal deviate of 80 %
_LIMIT = 1.959963984540054  # of the limits of a 95 % interval


def verdict(
    value: float,
    low: float,
    high: float,
    pairs: int,
    *,
    floor: float = FLOOR,
    above_controls: float = math.nan,
) -> Verdict:
    """What detection and its interval say of a kind of damage.

    `preferred`: the whole interval lies below 50 %. `missed`: the upper limit lies below the floor and the
    lower one at 50 % or less. `faint`: the lower limit lies above 50 %, the value below the floor. `noticed`:
    the lower limit lies above 50 %, the value at the floor or above. `as harmless edits`: as noticed, but
    harmless edits lowered scores about as often. `undecided`: none of these, or fewer than five pairs.

    Parameters
    ----------
    value, low, high
        Detection of the kind and its limits, in [0, 1]; NaN where undefined.
    pairs
        Examples with both scores.
    floor
        In (0.5, 1].
    above_controls
        Lower limit of the paired difference to harmless edits, in [-1, 1]; NaN where there is none.
    """
    if pairs < FEWEST_PAIRS or math.isnan(value) or math.isnan(low) or math.isnan(high):
        return "undecided"
    if high < _BLIND:
        return "preferred"
    if low > _BLIND:
        if value < floor:
            return "faint"
        return "as harmless edits" if above_controls <= 0 else "noticed"
    return "missed" if high < floor else "undecided"


def control_state(
    value: float,
    low: float,
    high: float,
    pairs: int,
    *,
    floor: float = FLOOR,
    alarm: ControlState = "false alarm",
) -> ControlState:
    """What the same figures say of a change that must not move the score.

    `alarm` (`false alarm` of harmless edits, `raised` of attacks) where the verdict would be noticed;
    `not tested` with fewer than 20 pairs; `passed` where the upper limit lies below the floor; else
    `undecided`. Parameters as for `verdict`.
    """
    if verdict(value, low, high, pairs, floor=floor) == "noticed":
        return alarm
    if pairs < CONTROL_PAIRS or math.isnan(high):
        return "not tested"
    return "passed" if high < floor else "undecided"


def examples_to_decide(
    n: int,
    value: float,
    low: float,
    high: float,
    deviates: tuple[float, float],
    *,
    floor: float = FLOOR,
) -> int | None:
    """How many examples decide an undecided kind with a chance of 80 %, if further ones are like these.

    Parameters
    ----------
    n, value, low, high, deviates
        As for `examples_to_separate`.
    floor
        As for `verdict`.

    Returns
    -------
    int or None
        As of `examples_to_separate`.
    """
    sizes = [examples_to_separate(n, value, low, high, line, deviates) for line in (_BLIND, floor)]
    return min((size for size in sizes if size is not None), default=None)


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
        A figure and its limits; NaN where undefined.
    line
        In the unit of the figure.
    deviates
        Standard errors between the figure and its lower and upper limit, both above 0; default: of 95 %.

    Returns
    -------
    int or None
        More than `n`; None where it is beyond 100,000 or no number would be enough.
    """
    if math.isnan(value) or math.isnan(low) or math.isnan(high) or value == line:
        return None
    below, above = deviates
    width = (value - low) * (1 + _CHANCE / below) if value > line else (high - value) * (1 + _CHANCE / above)
    times = (width / abs(value - line)) ** 2
    return max(n + 1, math.ceil(n * times)) if n * times <= _MOST_EXAMPLES else None
