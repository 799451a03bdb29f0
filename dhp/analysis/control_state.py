"""The states of controls and attacks: do they move scores, and how much beside damage?

The rules are those of `docs/statistics.md`, section Controls; `scripts/coverage.py controls` measures how
often they err.
"""

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
from dhp.stats.controls import LITTLE, Movement

CONTROL_PAIRS = 20
"""Pairs that a control needs to be tested; chosen."""
STILL_WITHIN = 0.15
"""How far from 50 % the interval of a control that is still may reach; chosen."""
_ALPHA = 0.05
"""Error of each test."""
_ROUNDING = 1e-9
"""By how much a limit may exceed that reach: .65 - .5 is .15000000000000002."""


def control_state(
    movement: Movement, *, attack: bool = False, scores_move: bool = True
) -> tuple[Verdict, int]:
    """The state, and the metric by which it was reached.

    `not tested`: fewer than 20 pairs, or no score of the run moved. `still`: the interval of every metric
    lies within 35 to 65 %. Else, if a metric moves (two-sided at 5 %, all metrics together): `false alarm`
    downwards and `prefers edits` upwards if its mean change is shown to be more than a tenth of what the
    mildest noticed damage costs by that metric (one-sided at 5 %), `moves a little` if no metric that moves
    is estimated at a tenth. `still`, too, if no metric moves and each is shown to change by less than a
    tenth. Else `not decided`.

    Of an attack only what rises matters: it is `raised` in place of `prefers edits`, and `still` if every
    interval begins at 35 % or above.
    """
    seen = movement.seen
    value, low, high = seen.metric_value[0], seen.metric_low[0], seen.metric_high[0]
    reach = 0.5 - low if attack else np.maximum(0.5 - low, high - 0.5)
    # A metric without an interval reaches nowhere, so that another one is the furthest.
    reach = np.nan_to_num(reach, nan=-np.inf)
    furthest = int(reach.argmax())
    if not scores_move or seen.pairs.max() < CONTROL_PAIRS or np.isinf(reach[furthest]):
        return NOT_TESTED, furthest
    if reach[furthest] <= STILL_WITHIN + _ROUNDING:
        return STILL, furthest
    # No p-value may contradict the figure beside it: both must point one way.
    moves = (movement.log_p <= math.log(_ALPHA)) & (movement.fell == (value > 0.5)) & (value != 0.5)
    if attack:
        # Below .5 detection says that scores rose, and only that matters of an attack.
        moves &= value < 0.5
    # NaN by a metric whose scores no damage lowers: beside none, every movement is large.
    proven = math.log(_ALPHA)
    large = np.where(np.isnan(movement.log_p_large), moves, movement.log_p_large <= proven)
    upwards = RAISED if attack else PREFERS_EDITS
    for moved, state in ((moves & movement.fell, FALSE_ALARM), (moves, upwards)):
        # Shares are at least 0: -1 leaves the other metrics out of the maximum.
        share = np.where(moved & large, movement.share, -1.0)
        if share.max() >= LITTLE:
            return state, int(share.argmax())
    if moves.any():
        share = np.where(moves, movement.share, -1.0)
        return (MOVES_A_LITTLE if share.max() < LITTLE else NOT_DECIDED), int(share.argmax())
    # A metric without a pair can show nothing, and does not stand in the way.
    counted = seen.pairs[0] > 0
    small = not attack and bool((movement.log_p_small[counted] <= proven).all())
    return (STILL if small else NOT_DECIDED), furthest
