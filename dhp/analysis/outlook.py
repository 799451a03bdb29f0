"""How many examples would decide whether a kind of damage is noticed or missed.

A few examples leave many true figures possible. The chance of a decision at each number of examples is
therefore averaged over what they leave possible: the posterior of the share of scores that move and of the
share of these that fall (Spiegelhalter, Freedman and Blackburn 1986, "predictive power").
"""

import functools
import math

import numpy as np

from dhp.analysis.verdict_rule import ALPHA, BLIND
from dhp.stats.arrays import Bools, Floats
from dhp.stats.bounds import log_p_above_of_counts

LIMIT = 5_000
"""Examples beyond which no number is given."""
CHANCES = (0.5, 0.8)
"""Chances of a decision at the two ends of the range."""
_STEP = 1.25  # ratio of the numbers that are tried
_DRAWS = 250


@functools.lru_cache(maxsize=4096)
def examples_to_decide(
    n: int, size: float, value: float, variance: float, *, floor: float, kinds: int, limit: int = LIMIT
) -> tuple[int, int] | None:
    """Numbers of examples with which the kind is *noticed* or *missed* with a chance of 50 and of 80 %.

    Further examples come from where these did. None if the second number is beyond `limit`. `n` are the
    examples so far, `size` the independent ones that would be as certain, `value` and `variance` those of
    their outcomes in [0, 1]; so many `kinds` share the error.
    """
    rng = np.random.default_rng(0)
    moved = min(4 * (variance + (value - BLIND) ** 2), 1.0) * size
    fell = (moved + (2 * value - 1) * size) / 2
    moves = rng.beta(moved + 0.5, size - moved + 0.5, _DRAWS)
    falls = rng.beta(max(fell, 0.0) + 0.5, max(moved - fell, 0.0) + 0.5, _DRAWS)
    reached: list[int] = []
    total, chance = float(n), 0.0
    while total < limit:
        fewer, before = total, chance
        total = min(max(total * _STEP, total + 1), limit)
        further = round(size * (total / n - 1))
        more_moved = rng.binomial(further, moves)
        more_fell = rng.binomial(more_moved, falls)
        tied, rose = size + further - moved - more_moved, moved - fell + more_moved - more_fell
        counts = [np.maximum(each, 0.0) for each in (fell + more_fell, tied, rose)]
        chance = float(_decided(counts[0], counts[1], counts[2], floor, kinds).mean())
        shares = [(each - before) / (chance - before) for each in CHANCES[len(reached) :] if chance >= each]
        reached += [math.ceil(fewer + max(share, 0.0) * (total - fewer)) for share in shares]
        if len(reached) == len(CHANCES):
            return reached[0], reached[1]
    return None


def _decided(fell: Floats, tied: Floats, rose: Floats, floor: float, kinds: int) -> Bools:
    """Whether so many outcomes are *noticed* or *missed*, with signs for the test of the verdict."""
    from scipy.special import betainc

    each = math.log(ALPHA / kinds)
    shown = betainc(np.maximum(fell, 1e-9), rose + 1, BLIND) <= ALPHA / kinds
    large = log_p_above_of_counts(fell, tied, rose, (BLIND + floor) / 2) <= math.log(ALPHA)
    below = log_p_above_of_counts(rose, tied, fell, 1 - floor)
    missed = below <= min(each, math.log(ALPHA / 2))
    return np.asarray(np.where(shown, large & ~missed, missed))
