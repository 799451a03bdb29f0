"""Signed-rank tests of many resamples of the same examples, by counting how often each is drawn."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Bools, Floats, Ints
from dhp.stats.wilcoxon.signed_rank import Method
from dhp.stats.wilcoxon.tails import doubled_ranks, exact_log_tails, log_tails

Times = npt.NDArray[np.int32]
_AT_ONCE = 1 << 20  # draws


def draws(n: int, size: int, resamples: int, rng: np.random.Generator) -> Iterator[Times]:
    """How often each of n examples is in each resample of `size` with replacement (Efron 1979).

    Yields arrays of shape (n, r), the r adding up to `resamples`.
    """
    for r in _parts(max(n, size), resamples):
        drawn = rng.integers(n, size=(r, size)) * r + np.arange(r)[:, None]
        yield np.bincount(drawn.ravel(), minlength=n * r).astype(np.int32).reshape(n, r)


def subsets(n: int, size: int, resamples: int, rng: np.random.Generator) -> Iterator[Times]:
    """Subsets: `draws` without replacement; `size` is at most n."""
    for r in _parts(n, resamples):
        order = rng.random((r, n)).argsort(axis=1)
        yield (order.argsort(axis=1) < size).T.astype(np.int32)


def _parts(n: int, resamples: int) -> Iterator[int]:
    most = max(1, _AT_ONCE // n)
    for start in range(0, resamples, most):
        yield min(most, resamples - start)


@dataclass(frozen=True, slots=True)
class Tests:
    """Many tests of one metric of one variant; differences of equal magnitude are one group."""

    sizes: Ints
    """Differences of each magnitude, increasing, zeros left out; shape (tests, groups)."""
    positive: Ints
    """Number of positive differences in each group; same shape."""
    pairs: Ints
    """Differences, zeros included; shape (tests,)."""
    magnitudes: Floats
    """Magnitudes of the groups, increasing; shape (groups,) or that of `sizes`."""

    def log_p(self, method: Method) -> Floats:
        """Natural logs of p, shape (tests,); NaN where no pair is.

        p is that of `signed_rank`, one-sided: under `scipy` to rounding, under `exact` its tail or one close
        to it, see `log_tails`.
        """
        ranks, m = doubled_ranks(self.sizes), self.sizes.sum(axis=1)
        w = (ranks * self.positive).sum(axis=1)
        if method == "sign-flip":
            values = np.where(self.sizes > 0, np.rint(2 * self.magnitudes).astype(np.int64), 0)
            logs = log_tails(values, self.sizes, (values * self.positive).sum(axis=1))
        else:
            logs = log_tails(ranks, self.sizes, w) if method == "exact" else self._scipy(ranks, m, w)
        return np.where(self.pairs > 0, logs, np.nan)

    def _scipy(self, ranks: Ints, m: Ints, w: Ints) -> Floats:
        from scipy.special import log_ndtr

        s, f = self.sizes.astype(np.float64), m.astype(np.float64)
        variance = (f * (f + 1) * (2 * f + 1) - (s * s * s - s).sum(axis=1) / 2) / 24
        z = (w / 2 - f * (f + 1) / 4) / np.sqrt(np.where(m > 0, variance, 1))
        logs: Floats = np.where(m > 0, log_ndtr(-z), 0.0)
        small = np.flatnonzero(self.pairs <= 50)  # there scipy is exact for up to 13, or where all differ
        uneven = (m[small] < self.pairs[small]) | (self.sizes[small] > 1).any(axis=1)
        exact = small[~uneven | (self.pairs[small] <= 13)]
        logs[exact] = exact_log_tails(ranks[exact], self.sizes[exact], w[exact])
        return logs


@dataclass(frozen=True, slots=True)
class Grid:
    """The differences of one test, sorted into their distinct values."""

    there: Bools
    """Whether each example has a pair, shape (n,)."""
    order: Ints
    """The examples with a non-zero difference, equal ones together."""
    starts: Ints
    """Start of each distinct value in `order`."""
    group: Ints
    """The group of magnitude of each distinct value, increasing."""
    rises: Bools
    """Whether the distinct value is positive."""
    magnitudes: Floats
    """Magnitudes of the groups."""

    @classmethod
    def of(cls, differences: Floats) -> "Grid":
        """The grid of differences of shape (n,), NaN where a score is missing."""
        there = ~np.isnan(differences)
        nonzero = np.flatnonzero(there & (differences != 0))
        magnitudes, group = np.unique(np.abs(differences[nonzero]), return_inverse=True)
        key = 2 * group + (differences[nonzero] > 0)
        sorted_ = np.argsort(key, kind="stable")
        values, starts = np.unique(key[sorted_], return_index=True)
        return cls(there, nonzero[sorted_], starts, values // 2, values % 2 == 1, magnitudes)

    def tests(self, times: Times) -> Tests:
        """The tests of the resamples in which the examples are `times`, shape (n, tests)."""
        pairs = times.sum(axis=0) if self.there.all() else times[self.there].sum(axis=0)
        counts = np.empty((0, times.shape[1]), dtype=np.int64)
        if self.order.size:
            counts = np.add.reduceat(times[self.order], self.starts, axis=0)
        # The tests lie along memory, which makes sums over groups fast.
        positive = np.zeros((int(self.group.max(initial=0)) + 1, counts.shape[1]), dtype=np.int64)
        sizes = positive.copy()
        positive[self.group[self.rises]] = counts[self.rises]
        sizes[self.group[~self.rises]] = counts[~self.rises]
        sizes += positive
        # Without a difference there is one group, which is empty.
        magnitudes = self.magnitudes if self.magnitudes.size else np.zeros(1)
        return Tests(sizes.T, positive.T, pairs, magnitudes)
