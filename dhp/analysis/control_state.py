"""The states of controls and attacks: do they move scores, and how much beside damage?"""

import math

import numpy as np

from dhp.core.verdicts import (
    FALSE_ALARM,
    MOVES_A_LITTLE,
    NOT_DECIDED,
    NOT_TESTED,
    PREFERS_EDITS,
    RAISED,
    STILL,
    Verdict,
)
from dhp.stats.controls import Movement

CONTROL_PAIRS = 20
"""Pairs that a control needs to be tested."""
STILL_WITHIN = 0.15
"""How far from 50 % the interval of a control that is still may reach."""
LITTLE = 0.1
"""Share of what the mildest noticed damage costs, below which a control moves scores only a little."""
_ALPHA = 0.05
_ROUNDING = 1e-9


def control_state(
    movement: Movement, *, attack: bool = False, scores_move: bool = True
) -> tuple[Verdict, int]:
    """The state, and the metric by which it was reached.

    `not tested`: fewer than 20 pairs, or no score of the run moved. `still`: the interval of every metric
    lies within 35 to 65 %. Else, if a metric moves (two-sided at 5 %, all metrics together): `moves a little`
    by less than a tenth of what the mildest noticed damage costs by that metric; beyond that `false alarm`
    downwards, `prefers edits` upwards. Else `not decided`.

    Of an attack only what rises matters: it is `raised` in place of `prefers edits`, and `still` if every
    interval begins at 35 % or above.
    """
    seen = movement.seen
    value, low, high = (each[0] for each in (seen.metric_value, seen.metric_low, seen.metric_high))
    reach = np.nan_to_num(0.5 - low if attack else np.maximum(0.5 - low, high - 0.5), nan=-np.inf)
    furthest = int(reach.argmax())
    if not scores_move or seen.pairs.max() < CONTROL_PAIRS or np.isinf(reach[furthest]):
        return NOT_TESTED, furthest
    if reach[furthest] <= STILL_WITHIN + _ROUNDING:
        return STILL, furthest
    # No p-value may contradict the figure beside it: both must point one way.
    moves = (movement.log_p <= math.log(_ALPHA)) & (movement.fell == (value > 0.5)) & (value != 0.5)
    if attack:
        moves &= value < 0.5
    for moved, state in ((moves & movement.fell, FALSE_ALARM), (moves, RAISED if attack else PREFERS_EDITS)):
        share = np.where(moved, movement.share, -1.0)
        if share.max() >= LITTLE:
            return state, int(share.argmax())
    return (MOVES_A_LITTLE, int(share.argmax())) if moves.any() else (NOT_DECIDED, furthest)
