"""Limits of a mean of outcomes in [0, 1], as detection is one.

One outcome of 0 is added for the lower limit, one of 1 for the upper one, and the outcomes are weighted by a
Dirichlet distribution with one unit each (Gaffke 2005; Learned-Miller and Thomas 2019). The limit is a
quantile of that weighted mean, here by the beta distribution with its mean, variance and range. Without ties
that is exactly the interval of Clopper and Pearson (1934); 24 of 24 have the lower limit .025 ** (1 / 24).
Outcomes that depend on each other, of a cluster or of the tests of an example, count as many as
`effective_size` says.

That size is estimated from the outcomes, and may grow faster than the value falls: a worse result would have
a better limit. So what outcomes lack to 1 is taken away cluster by cluster, the best ones first, and the
limit is the lowest of all these. Without any lack the size is the assumed one, so no limit is above that of
outcomes that are all 1.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats, cluster_index, cluster_sums
from dhp.stats.effective_size import effective_size
from dhp.stats.influences import Influences, cluster_size

_LEAST = 1e-12  # a variance below it is rounding
_CANDIDATES = 8
"""Parts of what outcomes lack whose limits are computed: those with the lowest ones by Wilson's formula."""
_DEVIATE = 1.959963984540054  # of the limits of a 95 % interval


@dataclass(frozen=True, slots=True)
class _Weighted:
    """The weighted mean for a lower limit: `top` times a variable of the distribution beta(a, b)."""

    top: Floats
    a: Floats
    b: Floats


def mean_interval(
    figures: Influences,
    clusters: npt.ArrayLike | None = None,
    level: float = 0.95,
    squares: npt.ArrayLike | None = None,
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
    squares : shape (...), optional
        Of means over several tests of an example: the mean square of one outcome of one test.

    Returns
    -------
    low, high : shape (...)
        In [0, 1], the value between them; NaN if the figure is undefined or comes from one cluster.

    Raises
    ------
    ValueError
        If `clusters` do not fit or the level is out of range.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level}")
    return (
        lower_limit(figures, clusters, level, squares),
        upper_limit(figures, clusters, level, squares),
    )


def lower_limit(
    figures: Influences,
    clusters: npt.ArrayLike | None = None,
    level: float = 0.95,
    squares: npt.ArrayLike | None = None,
) -> Floats:
    """The lower one of `mean_interval` alone."""
    low = _quantile(_weighted(figures, clusters, squares), (1 - level) / 2)
    return np.minimum(low, figures.value)


def upper_limit(
    figures: Influences,
    clusters: npt.ArrayLike | None = None,
    level: float = 0.95,
    squares: npt.ArrayLike | None = None,
) -> Floats:
    """The upper one of `mean_interval` alone."""
    other = None if squares is None else 1 - 2 * figures.value + np.asarray(squares)
    return 1 - lower_limit(_mirrored(figures), clusters, level, other)


def _quantile(each: _Weighted, error: float) -> Floats:
    from scipy.special import betaincinv

    return np.asarray(
        each.top * np.where(each.a > 0, betaincinv(each.a, each.b, error), np.minimum(each.a, 0.0))
    )


def log_p_above(figures: Influences, line: float, clusters: npt.ArrayLike | None = None) -> Floats:
    """Natural log of the p-value of the null hypothesis that the mean is `line` or less, in [0, 1].

    At most log 0.025 exactly if the lower limit of the 95 % interval reaches the line. NaN as the limits are.
    """
    return _log_tail(_weighted(figures, clusters), line)


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


def _weighted(
    figures: Influences, clusters: npt.ArrayLike | None, squares: npt.ArrayLike | None = None
) -> _Weighted:
    """The weighted mean of the outcomes and of one of 0; a = 0 if every outcome is 0, NaN if undefined."""
    n = figures.defined.sum(axis=0).astype(np.float64)
    # An average of several tests lacks some in some examples: its outcomes are then only nearly in [0, 1].
    top = np.clip(figures.value + n * figures.influence.max(axis=0), figures.value, 1.0)
    second = n * (figures.influence**2).sum(axis=0) + figures.value**2
    if clusters is None and not (figures.tests > 1).any():
        return _matched(np.where(np.isnan(figures.value), np.nan, n), figures.value, second, top)
    if squares is not None:  # an outcome of one test may be 1 where no example's mean is
        top, second = np.where(np.isnan(top), np.nan, 1.0), np.asarray(squares, dtype=np.float64)
    return _lowest(_with_less_lacking(figures, clusters, second, top))


@dataclass(frozen=True, slots=True)
class _Parts:
    """A figure with parts of what its outcomes lack, each of shape (clusters + 1, ...): none, ..., all."""

    value: Floats
    second: Floats
    size: Floats
    top: Floats


def _with_less_lacking(
    figures: Influences, clusters: npt.ArrayLike | None, second: Floats, top: Floats
) -> _Parts:
    """The figures as they would be if only the r worst clusters lacked what they lack, r = 0, 1, ..., all."""
    index = cluster_index(clusters, len(figures.influence))
    members = cluster_sums(figures.defined.astype(np.float64), index)
    n, groups = members.sum(axis=0), (members > 0).sum(axis=0).astype(np.float64)
    value = np.where(np.isnan(figures.value), 0.0, figures.value)
    lack = (1 - value) * members - n * cluster_sums(figures.influence, index)
    order = np.argsort(-lack, axis=0)
    lack, ordered = (np.take_along_axis(each, order, axis=0) for each in (lack, members))
    total, squares, across = (_sums_from_none(each) for each in (lack, lack**2, lack * ordered))
    # Of an average that lacks tests in some examples an outcome may lie above 1: no part lacks more than all.
    whole = total > total[-1] + _LEAST
    total, squares, across = (np.where(whole, each[-1], each) for each in (total, squares, across))
    share = total / np.maximum(n, 1)
    variance = np.maximum(share**2 * (members**2).sum(axis=0) - 2 * share * across + squares, 0.0)
    variance *= np.where(groups > 1, groups / np.maximum(groups - 1, 1), np.nan) / np.maximum(n, 1) ** 2
    # The mean square of what an outcome lacks, over its mean: 1 if outcomes are 0 or 1, 1/2 if ties lack all.
    missing = 1 - value
    ratio = np.where(
        missing > _LEAST, (1 - 2 * value + second) / np.where(missing > _LEAST, missing, 1.0), 1.0
    )
    squares = 1 - 2 * share + np.clip(ratio, 0.0, 1.0) * share
    size = effective_size(
        n,
        np.maximum(squares - (1 - share) ** 2, 0.0),
        variance,
        groups,
        figures.tests,
        cluster_size(figures.defined, clusters),
    )
    size = np.where(np.isnan(figures.value), np.nan, size)
    return _Parts(1 - share, squares, size, np.where(total < total[-1] - _LEAST, 1.0, top))


def _sums_from_none(values: Floats) -> Floats:
    return np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values, axis=0)])


def _lowest(parts: _Parts) -> _Weighted:
    """The weighted mean with the lowest limit of a 95 % interval."""
    per_size = _DEVIATE**2 / np.where(parts.size > 0, parts.size, 1.0)
    spread = (parts.second - parts.value**2) * per_size
    limit = (parts.value + per_size / 2 - np.sqrt(np.maximum(spread, 0.0) + per_size**2 / 4)) / (1 + per_size)
    lowest = np.argsort(limit, axis=0)[:_CANDIDATES]
    chosen = (
        np.take_along_axis(x, lowest, axis=0) for x in (parts.size, parts.value, parts.second, parts.top)
    )
    matched = _matched(*chosen)
    lowest = np.argsort(_quantile(matched, 0.025), axis=0)[:1]
    return _Weighted(*(np.take_along_axis(x, lowest, axis=0)[0] for x in (matched.top, matched.a, matched.b)))


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
