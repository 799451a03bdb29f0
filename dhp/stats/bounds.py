"""Limits of a mean of outcomes in [0, 1], as detection is one.

One outcome of 0 is added for the lower limit, one of 1 for the upper one, and the outcomes are weighted by a
Dirichlet distribution with one unit each (Gaffke 2005; Learned-Miller and Thomas 2019). The limit is a
quantile of that weighted mean, here by the beta distribution with its mean, variance and range. Without ties
that is exactly the interval of Clopper and Pearson (1934); 24 of 24 have the lower limit .025 ** (1 / 24).
Outcomes that depend on each other, of a cluster or of the tests of an example, count as many as
`effective_size` says.

That size is estimated from the outcomes, and may grow faster than the value falls: a worse result would have
a better limit. So what outcomes lack to 1 is taken away one by one, in the best clusters first, and the limit
is the lowest of all these: of clusters of one size an outcome of 1 in place of 0 never lowers it. Without any
lack the size is the assumed one, so no limit is above that of outcomes that are all 1.

`Bounds` asks `_weighted` for that weighted mean, from below and from above. Independent outcomes go straight
to `_matched`, which finds the beta distribution. Dependent ones first go through `_with_less_lacking`, which
takes away what they lack part by part, and `_lowest`, which picks the part with the lowest limit.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats, Ints, cluster_index, cluster_sums
from dhp.stats.effective_size import effective_size
from dhp.stats.influences import Influences, cluster_size
from dhp.stats.student import DEVIATE_95

_LEAST = 1e-12
"""A variance, or what outcomes lack, below which it is rounding."""
_CANDIDATES = 12
"""Parts of what outcomes lack whose limits are computed: those with the lowest ones by Wilson's formula, a
quick approximation. Chosen."""


@dataclass(frozen=True, slots=True)
class _Weighted:
    """The weighted mean for a lower limit: `top` times a variable of the distribution beta(a, b)."""

    top: Floats
    """The largest outcome."""
    a: Floats
    """First parameter; 0 if every outcome is 0, NaN if the figure is undefined."""
    b: Floats
    """Second parameter."""

    def quantile(self, error: float) -> Floats:
        """The value below which it lies with this chance."""
        from scipy.special import betaincinv

        # a = 0 says that it is always 0; NaN stays.
        share = np.where(self.a > 0, betaincinv(self.a, self.b, error), np.minimum(self.a, 0.0))
        return np.asarray(self.top * share)

    def log_chance_below(self, line: float) -> Floats:
        """Natural log of the chance that it lies below a line."""
        from scipy.special import betainc

        share = np.where(self.top > line, line / np.where(self.top > 0, self.top, 1.0), 1.0)
        undefined = np.where(np.isnan(self.a), np.nan, 1.0)
        p = np.where(self.a > 0, betainc(self.a, self.b, share), undefined)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(p))


class Bounds:
    """What is known of means of outcomes in [0, 1]: limits of any level, and p-values.

    Parameters
    ----------
    figures
        Of shape (...); an example's outcome is the value plus n times its influence.
    clusters : shape (n,), optional
        Integers; examples with the same one belong together.
    squares : shape (...), optional
        Of means over several tests of an example: the mean square of one outcome of one test.

    Raises
    ------
    ValueError
        On use, if `clusters` do not fit or a level is out of range.

    Notes
    -----
    All results have shape (...), and are NaN if the figure is undefined or comes from one cluster.
    """

    def __init__(
        self,
        figures: Influences,
        clusters: npt.ArrayLike | None = None,
        squares: npt.ArrayLike | None = None,
    ) -> None:
        self._figures, self._clusters = figures, clusters
        self._squares = None if squares is None else np.asarray(squares, dtype=np.float64)

    @cached_property
    def _from_below(self) -> _Weighted:
        return _weighted(self._figures, self._clusters, self._squares)

    @cached_property
    def _from_above(self) -> _Weighted:
        """The same of what the outcomes lack to 1."""
        of = self._figures
        lacking = Influences(1 - of.value, -of.influence, of.defined, of.tests)
        squares = None if self._squares is None else 1 - 2 * of.value + self._squares
        return _weighted(lacking, self._clusters, squares)

    def low(self, level: float = 0.95) -> Floats:
        """The lower limit of the interval with this nominal coverage, in (0, 1); in [0, value]."""
        return np.minimum(self._from_below.quantile(_error(level)), self._figures.value)

    def high(self, level: float = 0.95) -> Floats:
        """The upper limit, in [value, 1]; each limit has half of the error."""
        return np.maximum(1 - self._from_above.quantile(_error(level)), self._figures.value)

    def log_p_above(self, line: float) -> Floats:
        """Natural log of the p-value of the null hypothesis that the mean is `line` or less, in [0, 1].

        At most log 0.025 exactly if the lower limit of the 95 % interval reaches the line.
        """
        return self._from_below.log_chance_below(line)

    def log_p_below(self, line: float) -> Floats:
        """The same of the null hypothesis that the mean is `line` or more."""
        return self._from_above.log_chance_below(1 - line)


def _error(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level}")
    return (1 - level) / 2


def mean_interval(
    figures: Influences, clusters: npt.ArrayLike | None = None, squares: npt.ArrayLike | None = None
) -> tuple[Floats, Floats]:
    """The limits of the 95 % interval of `Bounds`, with its parameters and errors."""
    bounds = Bounds(figures, clusters, squares)
    return bounds.low(), bounds.high()


def _weighted(figures: Influences, clusters: npt.ArrayLike | None, squares: Floats | None) -> _Weighted:
    """The weighted mean of the outcomes and of one of 0; a = 0 if every outcome is 0, NaN if undefined."""
    n = figures.defined.sum(axis=0).astype(np.float64)
    # An average of several tests lacks some in some examples: its outcomes are then only nearly in [0, 1].
    top = np.clip(figures.value + n * figures.influence.max(axis=0), figures.value, 1.0)
    second = n * (figures.influence**2).sum(axis=0) + figures.value**2
    if clusters is None and not (figures.tests > 1).any():
        return _matched(np.where(np.isnan(figures.value), np.nan, n), figures.value, second, top)
    if squares is not None:  # an outcome of one test may be 1 even if no example's mean is
        top, second = np.where(np.isnan(top), np.nan, 1.0), squares
    return _lowest(_with_less_lacking(figures, clusters, second, top))


@dataclass(frozen=True, slots=True)
class _Parts:
    """A figure with parts of what its outcomes lack, from none to all, each of shape (parts, ...)."""

    value: Floats
    """Mean of the outcomes."""
    second: Floats
    """Mean of their squares."""
    size: Floats
    """How many independent outcomes they count as."""
    top: Floats
    """The largest outcome."""


def _with_less_lacking(
    figures: Influences, clusters: npt.ArrayLike | None, second: Floats, top: Floats
) -> _Parts:
    """The figures as they would be if only the worst clusters lacked what they lack, from none to all.

    Of outcomes that lack as much in all no others vary more between clusters of one size.
    """
    index = cluster_index(clusters, len(figures.influence))
    members = cluster_sums(figures.defined.astype(np.float64), index)
    n, groups = members.sum(axis=0), (members > 0).sum(axis=0).astype(np.float64)
    value = np.where(np.isnan(figures.value), 0.0, figures.value)
    lack = (1 - value) * figures.defined - n * figures.influence
    total, squares, across = _sums_from_none(lack, members, index)
    # Of an average that lacks tests in some examples an outcome may lie above 1: no part lacks more than all.
    whole = total > total[-1] + _LEAST
    total = np.where(whole, total[-1], total)
    squares = np.where(whole, squares[-1], squares)
    across = np.where(whole, across[-1], across)
    share = total / np.maximum(n, 1)
    variance = np.maximum(share**2 * (members**2).sum(axis=0) - 2 * share * across + squares, 0.0)
    variance *= np.where(groups > 1, groups / np.maximum(groups - 1, 1), np.nan) / np.maximum(n, 1) ** 2
    # The mean square of what an outcome lacks, over its mean: 1 if outcomes are 0 or 1, 1/2 if ties lack all.
    missing = 1 - value
    some = missing > _LEAST
    ratio = np.where(some, (1 - 2 * value + second) / np.where(some, missing, 1.0), 1.0)
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


def _sums_from_none(lack: Floats, members: Floats, index: Ints) -> tuple[Floats, Floats, Floats]:
    """Over clusters: sums of what they lack, of its squares, and of its products with their `members`.

    First if nothing is lacking, then with what each example lacks, the worst cluster first.
    """
    of_cluster = cluster_sums(lack, index)
    order = np.argsort(-of_cluster, axis=0)
    of_cluster = np.take_along_axis(of_cluster, order, axis=0)
    members = np.take_along_axis(members, order, axis=0)
    rank = np.argsort(order, axis=0)[index]
    examples = np.argsort(rank - np.clip(lack, 0, 1) / 2, axis=0)
    rank = np.take_along_axis(rank, examples, axis=0)  # of the cluster that each example is in

    def before(values: Floats) -> Floats:
        """Sums over the clusters before that of each example."""
        return np.take_along_axis(np.cumsum(values, axis=0) - values, rank, axis=0)

    total = np.cumsum(np.take_along_axis(lack, examples, axis=0), axis=0)
    so_far = total - before(of_cluster)
    squares = before(of_cluster**2) + so_far**2
    across = before(of_cluster * members) + so_far * np.take_along_axis(members, rank, axis=0)
    nothing = np.zeros((1, *lack.shape[1:]))
    return (
        np.concatenate([nothing, total]),
        np.concatenate([nothing, squares]),
        np.concatenate([nothing, across]),
    )


def _lowest(parts: _Parts) -> _Weighted:
    """The weighted mean with the lowest limit of a 95 % interval, of all parts."""
    per_size = DEVIATE_95**2 / np.where(parts.size > 0, parts.size, 1.0)
    spread = (parts.second - parts.value**2) * per_size
    limit = (parts.value + per_size / 2 - np.sqrt(np.maximum(spread, 0.0) + per_size**2 / 4)) / (1 + per_size)
    repeated = np.diff(parts.value, axis=0, prepend=2.0) == 0  # an example that lacks nothing adds no part
    lowest = np.argsort(np.where(repeated, 2.0, limit), axis=0)[:_CANDIDATES]
    matched = _matched(
        np.take_along_axis(parts.size, lowest, axis=0),
        np.take_along_axis(parts.value, lowest, axis=0),
        np.take_along_axis(parts.second, lowest, axis=0),
        np.take_along_axis(parts.top, lowest, axis=0),
    )
    lowest = np.argsort(matched.quantile(0.025), axis=0)[:1]
    return _Weighted(
        top=np.take_along_axis(matched.top, lowest, axis=0)[0],
        a=np.take_along_axis(matched.a, lowest, axis=0)[0],
        b=np.take_along_axis(matched.b, lowest, axis=0)[0],
    )


def _matched(size: Floats, value: Floats, second: Floats, top: Floats) -> _Weighted:
    """The weighted mean from the number of outcomes, their mean, mean square and maximum.

    The beta distribution has mean and variance of the Dirichlet-weighted mean of these outcomes and one of 0.
    """
    second = np.minimum(second, top * value)
    mean = size * value / (size + 1)
    variance = (size * second / (size + 1) - mean**2) / (size + 2)
    some = variance > _LEAST
    share = mean / np.where(top > 0, top, 1.0)
    total = share * (1 - share) * top**2 / np.where(some, variance, 1.0) - 1
    always_0 = np.where(np.isnan(size), np.nan, 0.0)
    a = np.where(some, share * total, always_0)
    b = np.where(some, (1 - share) * total, 1.0)
    return _Weighted(top, a, b)
