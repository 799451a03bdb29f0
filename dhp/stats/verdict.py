"""Whether a judge noticed a kind of damage, missed it, or cannot be said to have done either."""

import math
from typing import Literal

Verdict = Literal["noticed", "missed", "undecided"]
FLOOR = 0.6
"""Detection below which damage counts as missed, where nothing else is said."""
FEWEST_PAIRS = 5
"""2 ** -5 is the first possible p-value below 0.05."""
MOST_EXAMPLES = 100_000
"""Examples beyond which no number is given."""
_ALPHA = 0.05
_CHANCE = 0.8


def verdict(
    log_p: float, detection: float, high: float, pairs: int, *, floor: float = FLOOR, controls: float = 0.0
) -> Verdict:
    """One of three states of a variant.

    Parameters
    ----------
    log_p
        Natural log of its p-value, adjusted for the number of variants tested; NaN where undefined.
    detection, high
        Its detection and the upper 95 % limit of it; NaN where undefined.
    pairs
        Examples with both scores; with fewer than five it is undecided.
    floor
        Detection below which damage counts as missed, in (0.5, 1].
    controls
        The largest detection of a control that was itself noticed; 0 without one. Damage that is detected no
        more often than a harmless edit is not noticed.
    """
    if pairs < FEWEST_PAIRS or math.isnan(detection):
        return "undecided"
    if log_p <= math.log(_ALPHA) + 1e-12 and detection > controls:
        return "noticed"
    return "missed" if high < floor else "undecided"


def examples_to_decide(
    n: int,
    log_p: float,
    tests: int,
    detection: float,
    ends: tuple[float, float],
    *,
    floor: float = FLOOR,
    controls: float = 0.0,
) -> int | None:
    """How many examples an undecided variant takes to be noticed or missed with a chance of 80 %.

    As if further examples were like these: the deviate of the p-value grows, and the interval shrinks, with
    the root of the number of examples. An estimate from few examples is a guess; `dhp power` simulates.

    Parameters
    ----------
    n
        Examples so far.
    log_p
        Natural log of the p-value, not adjusted; NaN where undefined.
    tests
        Variants that are tested together: 0.05 / tests is what p must reach.
    detection, ends
        The estimate and its 95 % limits.
    floor, controls
        As for `verdict`.

    Returns
    -------
    int or None
        More than `n`; None where it is beyond `MOST_EXAMPLES` or no number would decide.
    """
    from scipy.special import ndtri, ndtri_exp

    if math.isnan(detection) or math.isnan(ends[0]):
        return None
    needed, further = -ndtri(_ALPHA / max(tests, 1)), ndtri(_CHANCE)
    limit = -ndtri(_ALPHA / 2)
    found = []
    deviate = 0.0 if math.isnan(log_p) or log_p >= 0 else -float(ndtri_exp(log_p))
    if deviate > 0 and detection > controls:
        found.append(((needed + further) / deviate) ** 2)
    if detection < floor:
        spread = (ends[1] - ends[0]) / (2 * limit)
        found.append(((limit + further) * spread / (floor - detection)) ** 2)
    times = min(found, default=math.inf)
    return max(n + 1, math.ceil(n * times)) if n * times <= MOST_EXAMPLES else None
