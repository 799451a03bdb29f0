"""Comparison and non-inferiority of two judges by label swaps.

If two judges are equally good, it does not matter whose answers an example has. So the labels of the two
are swapped at random, example by example or cluster by cluster, and the observed difference is held
against those that arise (Fisher 1935; Noreen 1989, approximate randomisation). Detection by one metric is
a mean over examples, and a swap turns the sign of an example's share, which is exact; for several metrics
see below. AUROC and the standardised drop are swapped by their pseudo-values (what an example adds to the
figure), which holds for large samples, also for judges with scales of their own.

Detection of a kind is that of the metric that sees the damage best, and which one that is depends on all
examples. So a swap of the labels of some examples moves more than their own shares. How much more is found
by some swaps after which the figures are computed anew (`dhp.stats.swap_detection`); what the examples add is
widened by as much, so that cheap sign flips of it hold their level.

`swap_together` compares many figures, or pairs of judges, at once and corrects for their number; `swap` does
so for one pair. `noninferiority` asks whether a new judge is worse by more than a margin.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats, cluster_index, cluster_sums
from dhp.stats.defaults import RESAMPLES
from dhp.stats.influences import Influences, difference, student_interval, wilson_interval
from dhp.stats.sign_flips import SignPatterns, flip_p, flipped_sums, sign_flips

ALPHA = 0.05
"""Error of comparisons, of all figures that are read together."""


@dataclass(frozen=True, slots=True)
class Swapped:
    """Two judges compared by K figures; NaN if undefined."""

    difference: Floats
    """The figure of the first less that of the second, shape (K,)."""
    low: Floats
    """Lower confidence limit of the difference; all figures compared together hold at 95 %."""
    high: Floats
    """Upper confidence limit."""
    p: Floats
    """Two-sided; at least 1 / (resamples + 1) if not exact."""
    exact: bool
    """Whether every swap was counted out."""
    p_adjusted: Floats
    """`p`, adjusted over all figures that were compared together; the interval excludes 0 if it is 0.05 or
    less, and nowhere else."""


@dataclass(frozen=True, slots=True)
class NonInferiority:
    """Whether a new judge is worse than an old one by more than a margin, for K figures."""

    difference: Floats
    """New less old, shape (K,)."""
    error: Floats
    """Standard error of the difference, shape (K,)."""
    p_inferior: Floats
    """One-sided p-value of the hypothesis that it is worse by at most the margin; small if it is worse by
    more."""
    p_noninferior: Floats
    """One-sided p-value of the hypothesis that it is worse by the margin or more; small if it is not."""


def swap(
    first: Influences,
    second: Influences,
    rng: np.random.Generator,
    clusters: npt.ArrayLike | None = None,
    *,
    resamples: int = RESAMPLES,
    bounds: tuple[float, float] | None = (-1.0, 1.0),
) -> Swapped:
    """Compare two judges by figures of the same examples, against either direction.

    Parameters
    ----------
    first, second : of shape (K,)
        Figures of the two judges on the same pairs of scores: a pair that one lacks must be NaN for both.
    rng
        The only source of randomness.
    clusters : shape (n,), optional
        Integers; examples with the same one are swapped together.
    resamples
        Random swaps; all of them are counted out instead if they are no more.
    bounds
        Of a difference, as for `wilson_interval`; None for a figure without bounds, which has Student's.

    Raises
    ------
    ValueError
        If the shapes differ or a parameter is out of range.
    """
    (swapped,) = swap_together([(first, second)], rng, clusters, resamples=resamples, bounds=bounds)
    return swapped


def swap_together(
    judges: Iterable[tuple[Influences, Influences]],
    rng: np.random.Generator,
    clusters: npt.ArrayLike | None = None,
    *,
    resamples: int = RESAMPLES,
    bounds: tuple[float, float] | None = (-1.0, 1.0),
) -> list[Swapped]:
    """Compare pairs of judges by figures that are read together.

    The labels of all pairs are swapped in the same examples. A swapped difference is taken in units of its
    standard deviation under swaps, and p is adjusted by the largest of all figures and pairs (Westfall and
    Young 1993, single step): at most 5 % of runs of equal judges have any figure at 0.05 or less. The
    intervals have the error that each figure has at that largest value, so that they hold together, and end
    at 0 if interval and test would not agree. Parameters and errors as for `swap`.
    """
    differences: list[Influences] = []
    shares_of_pairs: list[Floats] = []
    for first, second in judges:
        apart, shares, _ = _shares(first, second, clusters)
        differences.append(apart)
        shares_of_pairs.append(shares)
    signs, exact = sign_flips(len(shares_of_pairs[0]), resamples, rng)
    largest = np.zeros(len(signs))
    sizes: list[Floats] = []
    p: list[Floats] = []
    for shares in shares_of_pairs:
        size = np.abs(_in_units(shares.sum(axis=0, keepdims=True), shares))[0]
        flipped = np.abs(_in_units(flipped_sums(signs, shares), shares))
        sizes.append(size)
        p.append(flip_p(size, flipped, exact))
        largest = np.fmax(largest, np.nan_to_num(flipped).max(axis=1))
    error = _error_of_each(shares_of_pairs, signs, largest)
    swapped: list[Swapped] = []
    for apart, size, p_alone in zip(differences, sizes, p, strict=True):
        adjusted = flip_p(size, largest[:, None], exact)
        swapped.append(_with_limits(apart, p_alone, adjusted, error, clusters, bounds, exact=exact))
    return swapped


def _in_units(sums: Floats, shares: Floats) -> Floats:
    """Sums of signed shares (R, K) in standard deviations under swaps; 0 if no swap changes anything."""
    unit = np.sqrt((shares**2).sum(axis=0))
    units = np.where(unit > 0, sums / np.where(unit > 0, unit, 1.0), 0.0)
    # A sum that is 0 may come out as 1e-17: more than a swapped one that is 0, too.
    return np.asarray(np.where(np.abs(units) < 1e-12, 0.0, units))


def _error_of_each(shares: Sequence[Floats], signs: SignPatterns, largest: Floats) -> float:
    """How often a single figure lies, under swaps, beyond what the largest of all exceeds in 5 % of them."""
    line = np.quantile(largest, 1 - ALPHA)
    parts: list[Floats] = []
    for each in shares:
        beyond = np.abs(_in_units(flipped_sums(signs, each), each)) > line
        moves = (each**2).sum(axis=0) > 0  # a figure that no swap changes is never beyond
        parts.append(beyond[:, moves].mean(axis=0))
    how_often = np.concatenate(parts)
    if not how_often.size:
        return ALPHA
    return min(max(float(how_often.mean()), 1 / (len(signs) + 1)), ALPHA)


def _with_limits(
    apart: Influences,
    p: Floats,
    adjusted: Floats,
    error: float,
    clusters: npt.ArrayLike | None,
    bounds: tuple[float, float] | None,
    *,
    exact: bool,
) -> Swapped:
    """A comparison with the limits that have this error, at or beside 0 as the adjusted p-value says."""
    if bounds is None:
        low, high = student_interval(apart, clusters, 1 - error)
    else:
        low, high = wilson_interval(apart, clusters, 1 - error, bounds=bounds)
    undefined = np.isnan(apart.value)
    p, adjusted = np.where(undefined, np.nan, p), np.where(undefined, np.nan, adjusted)
    # The interval holds 0 exactly if the test does not tell the judges apart: else an end is moved to 0.
    differs, up = adjusted <= ALPHA, apart.value > 0
    low = np.where(differs & up, np.fmax(low, 0.0), np.where(differs, low, np.fmin(low, 0.0)))
    high = np.where(differs & ~up, np.fmin(high, 0.0), np.where(differs, high, np.fmax(high, 0.0)))
    return Swapped(
        apart.value,
        low=np.where(undefined, np.nan, low),
        high=np.where(undefined, np.nan, high),
        p=p,
        exact=exact,
        p_adjusted=adjusted,
    )


def noninferiority(
    new: Influences,
    old: Influences,
    margin: float,
    rng: np.random.Generator,
    clusters: npt.ArrayLike | None = None,
    *,
    resamples: int = RESAMPLES,
) -> NonInferiority:
    """Test by sign flips whether a new judge is worse than an old one by more than a margin.

    At the edge of the hypothesis the differences of examples plus the margin are symmetric around 0, so
    their signs are flipped. Parameters and errors as for `swap`; the margin is at least 0, in units of the
    figure: 0.05 for five points of detection.
    """
    if not margin >= 0:
        raise ValueError(f"margin must be at least 0, not {margin}")
    apart, shares, part = _shares(new, old, clusters)
    signs, exact = sign_flips(len(shares), resamples, rng)
    above = shares + margin * part
    flipped = flipped_sums(signs, above)
    observed = np.where(np.isnan(apart.value), np.nan, above.sum(axis=0))
    error = np.sqrt(apart.variance(clusters)[0])
    worse, no_worse = flip_p(-observed, -flipped, exact), flip_p(observed, flipped, exact)
    return NonInferiority(apart.value, error, worse, no_worse)


def _shares(
    first: Influences, second: Influences, clusters: npt.ArrayLike | None
) -> tuple[Influences, Floats, Floats]:
    """The difference, what each cluster adds to it, and the share of the examples that each is."""
    if first.value.ndim != 1 or first.influence.shape != second.influence.shape:
        raise ValueError(
            "the judges must have figures of one shape (K,) on the same examples, "
            f"not {first.influence.shape} and {second.influence.shape}"
        )
    apart = difference(first, second)
    index = cluster_index(clusters, len(apart.influence))
    part = cluster_sums(apart.defined.astype(np.float64), index) / np.maximum(apart.defined.sum(axis=0), 1)
    return apart, cluster_sums(apart.influence, index) + np.nan_to_num(apart.value) * part, part
