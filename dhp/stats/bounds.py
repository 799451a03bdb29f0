"""Limits of a mean of outcomes in [0, 1], as detection is one.

One outcome of 0 is added for the lower limit, one of 1 for the upper one, and the outcomes are weighted by a
Dirichlet distribution with one unit each (Gaffke 2005; Learned-Miller and Thomas 2019). The limit is a
quantile of that weighted mean, here by the beta distribution with its mean, variance and range. Without ties
that is exactly the interval of Clopper and Pearson (1934); 24 of 24 have the lower limit .025 ** (1 / 24).
With ties and with clusters the outcomes count as many as would be as uncertain (Korn and Graubard 1998).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats
from dhp.stats.influences import Influences, effective_size

_LEAST = 1e-12  # a variance below it is rounding


@dataclass(frozen=True, slots=True)
class _Weighted:
    """The weighted mean for a lower limit: `top` times a variable of the distribution beta(a, b)."""

    top: Floats
    a: Floats
    b: Floats


def mean_interval(
    figures: Influences, clusters: npt.ArrayLike | None = None, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Limits of means of outcomes in [0, 1].

    Parameters
    ----------
    figures
        Of shape (...); an example's outcome is the value plus n times its influence.
    clusters : shape (n,), optional
        Integers; examples with the same one belong together.
    level
        Nominal coverage, in (0, 1); each limit has half of the error.

    Returns
    -------
    low, high : shape (...)
        In [0, 1], the value between them; NaN if the figure is undefined or comes from one cluster.

    Raises
    ------
    ValueError
        If `clusters` do not fit or the level is out of range.
    """
    from scipy.special import betaincinv

    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level}")
    low, high = (
        each.top * np.where(each.a > 0, betaincinv(each.a, each.b, (1 - level) / 2), np.minimum(each.a, 0.0))
        for each in (_weighted(figures, clusters), _weighted(_mirrored(figures), clusters))
    )
    return low, 1 - high


def log_p_above(figures: Influences, line: float, clusters: npt.ArrayLike | None = None) -> Floats:
    """Natural log of the p-value of the null hypothesis that the mean is `line` or less, in [0, 1].

    At most log 0.025 exactly if the lower limit of the 95 % interval reaches the line. NaN as the limits are.
    """
    return _log_tail(_weighted(figures, clusters), line)


def log_p_above_of_counts(fell: Floats, tied: Floats, rose: Floats, line: float) -> Floats:
    """The same from numbers of outcomes 1, 1/2 and 0, of one shape; at least one outcome each."""
    size = fell + tied + rose
    value, second = (fell + tied / 2) / size, (fell + tied / 4) / size
    return _log_tail(
        _matched(size, value, second, np.where(fell > 0, 1.0, np.where(tied > 0, 0.5, 0.0))), line
    )


def _log_tail(each: _Weighted, line: float) -> Floats:
    from scipy.special import betainc

    share = np.where(each.top > line, line / np.where(each.top > 0, each.top, 1.0), 1.0)
    p = np.where(each.a > 0, betainc(each.a, each.b, share), np.where(np.isnan(each.a), np.nan, 1.0))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(p))


def log_p_below(figures: Influences, line: float, clusters: npt.ArrayLike | None = None) -> Floats:
    """The same of the null hypothesis that the mean is `line` or more."""
    return log_p_above(_mirrored(figures), 1 - line, clusters)


def _mirrored(figures: Influences) -> Influences:
    return Influences(1 - figures.value, -figures.influence, figures.defined, figures.tests)


def _weighted(figures: Influences, clusters: npt.ArrayLike | None) -> _Weighted:
    """The weighted mean of the outcomes and of one of 0; a = 0 if every outcome is 0, NaN if undefined."""
    n = figures.defined.sum(axis=0).astype(np.float64)
    # An average of several tests lacks some in some examples: its outcomes are then only nearly in [0, 1].
    top = np.clip(figures.value + n * figures.influence.max(axis=0), figures.value, 1.0)
    second = n * (figures.influence**2).sum(axis=0) + figures.value**2
    return _matched(effective_size(figures, clusters), figures.value, second, top)


def _matched(size: Floats, value: Floats, second: Floats, top: Floats) -> _Weighted:
    """The same from the number of outcomes, their mean, mean square and maximum."""
    second = np.minimum(second, top * value)
    mean = size * value / (size + 1)
    variance = (size * second / (size + 1) - mean**2) / (size + 2)
    some = variance > _LEAST
    share = mean / np.where(top > 0, top, 1.0)
    total = share * (1 - share) * top**2 / np.where(some, variance, 1.0) - 1
    a, b = (
        np.where(some, each * total, np.where(np.isnan(size), np.nan, 0.0)) for each in (share, 1 - share)
    )
    return _Weighted(top, a, np.where(some, b, 1.0))
