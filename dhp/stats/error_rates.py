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
    of_good, of_bad = ~np.isnan(good), ~np.isnan(bad)
    if not of_good.any() or not of_bad.any():
        return None
    return ErrorRates(
        sensitivity=_counts(good >= passes, of_good),
        specificity=_counts(bad < passes, of_bad),  # NaN is not below
    )


def _counts(right: Bools, present: Bools) -> tuple[float, float]:
    """Texts judged rightly, of how many, in independent texts."""
    texts = present.sum(axis=0)
    some = texts > 0
    k, n = right.sum(axis=0)[some], texts[some]
    total = int(n.sum())
    share = float(k.sum() / total)
    variance = float(((k - share * n) ** 2).sum()) / total**2
    # All right or all wrong tells nothing of how the texts of an example depend: each counts as one.
    size = share * (1 - share) / variance if variance > 0 else float(len(n))
    size = min(float(total), max(1.0, size))
    return share * size, size
