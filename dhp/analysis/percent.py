"""Shares in whole per cent, as they stand beside verdicts."""

from dhp.stats.defaults import FLOOR

_LIMITS = (0.5, FLOOR)
"""Detection of a judge that sees nothing, and the lowest of noticed damage."""

_EXACT = 1e-9
"""Difference below which two shares are equal: a mean of halves may be .49999999999999994."""


def whole_percent(share: float) -> str:
    """A share in whole per cent, without the sign.

    What lies below a limit of the verdicts is not rounded up to it, so that figure and verdict agree.
    """
    nearest = int(f"{100 * share:.0f}")
    below = any(share < limit - _EXACT and nearest == round(100 * limit) for limit in _LIMITS)
    return str(nearest - below)
