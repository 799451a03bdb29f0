"""Shares in per cent, as they stand beside verdicts."""

from dhp.stats.defaults import FLOOR

_LIMITS = (0.5, FLOOR)
"""Detection of a judge that sees nothing, and the lowest of noticed damage."""


def whole_percent(share: float) -> str:
    """A share in whole per cent, without the sign.

    What would be rounded onto a limit of the verdicts keeps up to two decimals, so that both agree.
    """
    limits = [100 * limit for limit in _LIMITS if share != limit]
    texts = [f"{100 * share:.{decimals}f}" for decimals in range(3)]
    return next((text for text in texts if float(text) not in limits), texts[0])
