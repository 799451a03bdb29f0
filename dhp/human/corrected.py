"""A mean over many texts, from a judge's scores of all and human scores of a few."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Z = NormalDist().inv_cdf(0.975)
"""Half of a 95 % interval in standard errors."""


@dataclass(frozen=True, slots=True)
class CorrectedMean:
    """An estimate with its interval and what it assumes."""

    value: float
    ci: tuple[float, float]
    """95 %."""
    assumes: str


def prediction_powered_mean(
    human: npt.ArrayLike, judged: npt.ArrayLike, judged_only: npt.ArrayLike
) -> CorrectedMean:
    """The mean human score of all texts by prediction-powered inference, PPI++ (Angelopoulos et al. 2023).

    Parameters
    ----------
    human, judged : shape (n,)
        Human scores and the judge's of the texts that humans scored.
    judged_only : shape (N,)
        The judge's scores of the other texts.

    Raises
    ------
    ValueError
        For fewer than two texts on either side or lengths that differ.
    """
    y, f, rest = (np.asarray(v, dtype=float) for v in (human, judged, judged_only))
    if y.shape != f.shape or len(y) < 2 or len(rest) < 2:
        raise ValueError("human and judged must have one length, at least 2; judged_only at least 2")
    n, more = len(y), len(rest)
    variance = np.concatenate([f, rest]).var(ddof=1)
    covariance = float(np.cov(y, f, ddof=1)[0, 1])
    # The weight that minimises the variance of the estimate; 0 ignores the judge.
    weight = float(np.clip(covariance / ((1 + n / more) * variance), 0, 1)) if variance > 0 else 0.0
    value = float(weight * rest.mean() + (y - weight * f).mean())
    error = np.sqrt(weight**2 * rest.var(ddof=1) / more + (y - weight * f).var(ddof=1) / n)
    low, high = value - Z * float(error), value + Z * float(error)
    return CorrectedMean(value, (low, high), "the texts that humans scored are a random sample of all texts")


def misclassification_corrected_share(
    passed: int, total: int, *, sensitivity: tuple[float, float], specificity: tuple[float, float]
) -> CorrectedMean | None:
    """The true share of good texts among those that a judge saw (Rogan and Gladen 1978).

    Parameters
    ----------
    passed, total
        Texts that the judge took for good, of how many.
    sensitivity
        Good texts that the judge took for good, of how many (originals or harmless edits of an audit).
    specificity
        Bad texts that it took for bad, of how many (degraded texts that it noticed).

    Returns
    -------
    CorrectedMean or None
        Value and interval within [0, 1]; None for a judge no better than chance.

    Raises
    ------
    ValueError
        For counts outside 0 .. total, or a total of 0.
    """
    pairs = ((passed, total), sensitivity, specificity)
    if any(n < 1 or not 0 <= k <= n for k, n in pairs):
        raise ValueError("counts must lie within 0 .. total, and totals be at least 1")
    p, se, sp = (k / n for k, n in pairs)
    youden = se + sp - 1
    if youden <= 0:
        return None
    value = (p + sp - 1) / youden
    # Agresti and Coull's shrinkage keeps variances of shares of 0 and 1 away from 0.
    spread = [((k + 2) / (n + 4)) * (1 - (k + 2) / (n + 4)) / (n + 4) for k, n in pairs]
    variance = (spread[0] + value**2 * spread[1] + (1 - value) ** 2 * spread[2]) / youden**2
    ends = (value - Z * variance**0.5, value + Z * variance**0.5)
    low, high, kept = (min(1.0, max(0.0, v)) for v in (*ends, value))
    return CorrectedMean(kept, (low, high), "the judge errs on these texts as often as on those of the audit")
