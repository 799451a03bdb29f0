"""The rule that makes a word of figures: verdicts on kinds of damage, states of controls and attacks."""

import math

from dhp.core.verdicts import (
    AS_HARMLESS_EDITS,
    FAINT,
    FALSE_ALARM,
    MISSED,
    NOT_DECIDED,
    NOT_TESTED,
    NOTICED,
    PREFERRED,
    STILL,
    UNDECIDED,
    Verdict,
)
from dhp.stats.defaults import FLOOR
from dhp.stats.detection import FEWEST_PAIRS

CONTROL_PAIRS = 20
"""Pairs that a control needs to be tested."""
_BLIND = 0.5


def verdict(
    value: float,
    low: float,
    high: float,
    pairs: int,
    *,
    floor: float = FLOOR,
    above_controls: float = math.nan,
    false_alarm: bool = True,
) -> Verdict:
    """What detection and its interval say of a kind of damage.

    `preferred`: the whole interval lies below 50 %. `missed`: the upper limit lies below the floor and the
    lower one at 50 % or less. `faint`: the lower limit lies above 50 %, the value below the floor. `noticed`:
    the lower limit lies above 50 %, the value at the floor or above. `as harmless edits`: as noticed, but
    harmless edits are noticed too, and no less often as far as is known. `undecided`: none of these, or fewer
    than five pairs.

    Figures are in [0, 1], NaN if undefined; `pairs` are examples with both scores, `above_controls` is as
    `Detection.above`, NaN without harmless edits. `false_alarm` says whether harmless edits are noticed; if
    not, damage that may be noticed no more often is undecided.
    """
    if pairs < FEWEST_PAIRS or math.isnan(value) or math.isnan(low) or math.isnan(high):
        return UNDECIDED
    if high < _BLIND:
        return PREFERRED
    if low > _BLIND:
        if value < floor:
            return FAINT
        if above_controls <= 0:
            return AS_HARMLESS_EDITS if false_alarm else UNDECIDED
        return NOTICED
    return MISSED if high < floor else UNDECIDED


def control_state(
    value: float,
    low: float,
    high: float,
    pairs: int,
    *,
    floor: float = FLOOR,
    alarm: Verdict = FALSE_ALARM,
) -> Verdict:
    """What the same figures say of a change that must not move the score.

    `alarm` (`false alarm` of harmless edits, `raised` of attacks) where the verdict would be noticed;
    `not tested` with fewer than 20 pairs; `still` if the upper limit lies below the floor; else
    `not decided`. Parameters as for `verdict`.
    """
    if verdict(value, low, high, pairs, floor=floor) is NOTICED:
        return alarm
    if pairs < CONTROL_PAIRS or math.isnan(high):
        return NOT_TESTED
    return STILL if high < floor else NOT_DECIDED
