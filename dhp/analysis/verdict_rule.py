"""The rule that makes a word of figures: verdicts on kinds of damage, states of controls and attacks.

Two things must hold for *noticed*, so that no p-value can contradict the figure beside it: the judge is shown
not to be blind to the damage (sign flips, Holm over the kinds), and detection is large enough: it is shown to
lie above the middle between 50 % and the floor.
"""

import math

import numpy as np

from dhp.core.verdicts import (
    AS_HARMLESS_EDITS,
    FAINT,
    MISSED,
    NOTICED,
    PREFERRED,
    UNDECIDED,
    Verdict,
)
from dhp.stats.arrays import Bools, Floats
from dhp.stats.defaults import FLOOR
from dhp.stats.detection import FEWEST_PAIRS, Detection
from dhp.stats.discernment import holm

ALPHA = 0.05
"""Error of each test: of all kinds together for what is shown, of one kind for how large it is."""
BLIND = 0.5
"""Detection of a judge that sees nothing."""
_ROUNDING = 1e-6
"""How far the limit of noticed damage may lie below its line by rounding alone."""


def verdicts(
    detected: Detection,
    log_p: tuple[Floats, Floats],
    *,
    floor: float = FLOOR,
    below_edits: Floats | None = None,
    together: int | None = None,
) -> list[Verdict]:
    """The verdict on each of V kinds of damage that are judged together.

    `noticed`: shown (detection is above 50 %, and not by chance) and large enough (5 %, one-sided), and
    not surely below the floor. `faint`: shown, without that. `as harmless edits`: shown, but not shown to
    score lower than the harmlessly edited copies. `missed`: shown to lie below the floor, and the upper limit
    lies there. `preferred`: shown the other way round, and the upper limit lies below 50 %. `undecided`: none
    of these, or fewer than five pairs.

    `log_p` are those of `dhp.stats.flips.flip_log_p` of the same differences, `below_edits` natural logs of
    the p-values that a damaged copy scores no lower than the harmlessly edited copy of the same text, NaN if
    these cannot be compared. Kinds with five pairs share the error by Holm's
    method, or so many kinds `together` without stepping down (Bonferroni's bound).
    """
    counted = detected.pairs.max(axis=1) >= FEWEST_PAIRS

    def proven(log_p: Floats) -> Bools:
        """Whether each null hypothesis is rejected, all kinds together."""
        # A kind with too few pairs takes no part: it would only make the correction stricter.
        of_counted = np.where(counted, log_p, np.nan)
        adjusted = holm(of_counted) if together is None else of_counted + math.log(together)
        return np.asarray(adjusted <= math.log(ALPHA))

    fell, rose = log_p
    shown = proven(fell) & (detected.value > BLIND)
    below_floor = proven(detected.log_p_below(floor)) & (detected.high < floor)
    large = detected.log_p_above((BLIND + floor) / 2) <= math.log(ALPHA)
    like_edits = np.zeros(shown.shape, dtype=np.bool_)
    if below_edits is not None:
        # NaN: there is no edited copy to compare with, which speaks neither way.
        like_edits = ~np.isnan(below_edits) & ~proven(below_edits)
    # With very many examples damage just below the floor is shown, and large enough: it is not noticed then.
    rules = (
        (AS_HARMLESS_EDITS, shown & like_edits),
        (NOTICED, shown & large & ~below_floor),
        (FAINT, shown),
        (PREFERRED, proven(rose) & (detected.high < BLIND)),
        (MISSED, below_floor),
    )
    words = [UNDECIDED] * shown.size
    for word, holds in reversed(rules):  # the first rule that holds counts, so it is written last
        for v in np.flatnonzero(holds):
            words[v] = word
    return words


def is_denied(
    word: Verdict,
    detection: float | None,
    interval: tuple[float, float] | None,
    at_least: float | None,
    floor: float,
) -> bool:
    """Whether the figures beside a verdict or state rule it out, as they do if it was edited.

    Only what the rules demand of these figures is looked at: tests and harmless copies are not known here.
    """
    high = math.inf if interval is None else interval[1]
    # No word that says where detection lies, and none that it is bad, can stand without a figure.
    if detection is None:
        return bool(word.side) or (word.about == "damage" and word.is_bad)
    if (word.side == "above" and detection <= BLIND) or (word.side == "below" and detection >= BLIND):
        return True
    if word.is_noticed:
        limit = high if at_least is None else at_least  # files of earlier versions have no `at_least`
        return limit < (BLIND + floor) / 2 - _ROUNDING
    if word.about == "damage" and word.is_bad:
        return high >= (BLIND if word.side == "below" else floor)
    return False
