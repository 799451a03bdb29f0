"""Shares in per cent, as they stand beside verdicts."""

from dhp.stats.defaults import FLOOR

_LIMITS = (50, round(100 * FLOOR))
"""Detection of a judge that sees nothing, and the lowest of noticed damage, in per cent."""

_EXACT = 1e-7
"""Difference of two per cents below which they are equal: a mean of halves may be .49999999999999994."""


def whole_percent(share: float) -> str:
    """A share in per cent, without the sign: whole, with a decimal near a limit of the verdicts.

    What lies below a limit is not rounded up to it, so that figure and verdict agree.
    """
    nearest = round(100 * share)
    beyond = 100 * share - nearest
    if nearest not in _LIMITS or abs(beyond) < _EXACT:
        return str(nearest)
    tenths = round(1000 * share)
    if beyond < 0 and tenths == 10 * nearest:  # 59.97 is 59.9 and not 60
        tenths -= 1
    return str(nearest) if tenths == 10 * nearest else f"{tenths / 10:.1f}"
