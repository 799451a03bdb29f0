"""Agreement of human raters, the ceiling of a judge's correlation, and the effect of more samples."""

import math
from dataclasses import dataclass

import numpy as np

from dhp.core.errors import InputError, require
from dhp.plugins.human.correlation import Coefficient, Level, correlations
from dhp.plugins.human.scores import mean_over
from dhp.stats.arrays import Floats

_MOST_VALUES = 2000
"""krippendorff needs memory for the square of the number of different scores."""


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """Agreement of the raters of one metric."""

    raters: int
    """Number of human raters."""
    alpha: float | None
    """Krippendorff's alpha, interval level; None where all ratings are equal."""
    ceiling: float | None
    """Largest pooled Pearson correlation that a perfect judge can be expected to have with the raters' mean:
    the square root of the mean's reliability (Spearman-Brown with alpha as the reliability of one rater)."""


def rater_agreement(samples: Floats) -> RaterAgreement | None:
    """Agreement of several raters.

    Parameters
    ----------
    samples : shape (raters, sources, systems)
        NaN where a rater did not rate an item.

    Returns
    -------
    RaterAgreement or None
        None for a single rater.

    Raises
    ------
    InputError
        Where the package `krippendorff` is not installed, or for more than 2,000 different scores.
    """
    if len(samples) < 2:
        return None
    require("krippendorff", purpose="agreement of raters")
    import krippendorff

    table = samples.reshape(len(samples), -1)
    values = table[~np.isnan(table)]
    pairable = (~np.isnan(table)).sum(axis=0) > 1
    if (distinct := len(np.unique(values))) < 2 or not pairable.any():
        return RaterAgreement(len(samples), None, None)
    if distinct > _MOST_VALUES:
        raise InputError(f"human ratings: {distinct} different scores; allowed: {_MOST_VALUES}; round them")
    alpha = float(krippendorff.alpha(reliability_data=table, level_of_measurement="interval"))
    per_item = float((~np.isnan(table)).sum(axis=0)[pairable].mean())
    reliability = per_item * alpha / (1 + (per_item - 1) * alpha) if alpha > 0 else 0.0
    return RaterAgreement(len(samples), alpha, math.sqrt(reliability))


def by_samples(human: Floats, samples: Floats, level: Level, coefficient: Coefficient) -> list[float | None]:
    """The correlation with human scores of the mean of the first 1, 2, ... samples of a judge.

    Parameters
    ----------
    human : shape (sources, systems)
    samples : shape (samples, sources, systems)
        NaN where there is no score.

    Returns
    -------
    list of float or None
        One for each number of samples; None where undefined.
    """
    found = []
    for k in range(1, len(samples) + 1):
        mean = mean_over(samples[:k])
        (one,) = correlations(human, mean, coefficients=[coefficient], levels=[level], resamples=0)
        found.append(one.value)
    return found
