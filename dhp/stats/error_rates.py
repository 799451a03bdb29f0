"""Error rates of a judge that passes a text from a score on."""

from dataclasses import dataclass

import numpy as np

from dhp.stats.arrays import Bools, Floats


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """Both error rates of a judge as counts: texts judged rightly, of how many.

    The counts are those of independent texts that would say as much; they are no whole numbers.
    """

    sensitivity: tuple[float, float]
    """Good texts that pass, of how many."""
    specificity: tuple[float, float]
    """Bad texts that do not pass, of how many."""


def error_rates(good: Floats, bad: Floats, passes: float) -> ErrorRates | None:
    """Error rates of a judge that passes a text from a score on.

    Parameters
    ----------
    good, bad : shape (texts of an example, examples)
        Scores of good texts and of degraded ones; NaN if there is none. Texts of one example are not
        independent, so the counts are scaled to the variance of the ratio of sums over examples.
    passes
        The lowest score that passes.

    Returns
    -------
    ErrorRates or None
        None if there is no good or no bad text.
    """
    defined = [~np.isnan(side) for side in (good, bad)]
    if not all(side.any() for side in defined):
        return None
    right = [good >= passes, (bad < passes) & defined[1]]
    sensitivity, specificity = (_counts(r, t) for r, t in zip(right, defined, strict=True))
    return ErrorRates(sensitivity, specificity)


def _counts(right: Bools, present: Bools) -> tuple[float, float]:
    """Texts judged rightly, of how many, in independent texts."""
    of = present.sum(axis=0)
    chosen = of > 0
    k, n = right.sum(axis=0)[chosen], of[chosen]
    total, examples = int(n.sum()), len(n)
    share = float(k.sum() / total)
    spread = float(((k - share * n) ** 2).sum()) / total**2
    size = share * (1 - share) / spread if spread > 0 else float(examples)
    size = min(float(total), max(1.0, size))
    return share * size, size
