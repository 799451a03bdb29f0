"""How sure a judge is, and how right: without labels, as originals are to pass and damaged copies to fail.

A verdict is as sure as the probability that the judge gives it. Originals and copies count alike, half and
half: among one original and twelve copies an honest judge, who takes each text for as likely good as bad,
would look too sure. No bins: an error of calibration over bins is larger than 0 for an honest judge, the more
so the fewer texts there are, and small for a judge that knows nothing and says so.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats, cluster_index, cluster_sums
from dhp.stats.student import DEVIATE_95

_BINS = 10
"""Bins of the diagram; chosen. No figure hangs on them."""
_UNSEEN_SQUARES = 0.1
"""Added to the sum of squares, for the rare wrong verdict of a very sure judge that few texts do not show. By
simulation (`scripts/certainty.py`) its interval would otherwise hold the truth in 70 % at 12 texts."""


@dataclass(frozen=True, slots=True)
class Sureness:
    """Means over verdicts, originals and copies half and half."""

    sure: float
    """Probability that the judge gives its verdicts."""
    right: float
    """Share of its verdicts that are right."""
    low: float
    """Lower end of the 95 % interval of `sure - right`."""
    high: float
    """Upper end."""
    brier: float | None
    """Mean squared difference of the probability of passing and the truth: .25 of one that always says .5;
    None if the probability is known by its limits only."""
    n: int
    """Examples with an original and a copy that have a probability."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Texts with nearly the same probability of passing."""

    likely: float
    """Mean probability of passing."""
    good: float
    """Share of originals, which count as much as all copies together."""
    low: float
    """Lower end of the range in which `good` of an honest judge lies in 95 of 100 cases."""
    high: float
    """Upper end."""
    texts: int
    """Number of texts."""


def sureness(
    good: npt.ArrayLike,
    bad: npt.ArrayLike,
    good_passes: npt.ArrayLike,
    bad_passes: npt.ArrayLike,
    clusters: npt.ArrayLike | None = None,
) -> Sureness | None:
    """How sure and how right verdicts are.

    Parameters
    ----------
    good : shape (n,)
        Probability of passing that the judge gives each original, in [0, 1]; NaN if it gives none.
    bad : shape (n, V)
        The same of V copies that are to fail.
    good_passes, bad_passes : shapes (n,) and (n, V)
        Verdicts: 1 passes, 0 fails, NaN none.
    clusters : shape (n,), optional
        Integers; examples with the same one belong together.

    Returns
    -------
    Sureness or None
        None with fewer than two examples, or clusters, that have both. The interval is that of Student's t
        over examples or clusters.
    """
    p, q = np.asarray(good, dtype=np.float64), np.asarray(bad, dtype=np.float64)
    up, wrong = np.asarray(good_passes, dtype=np.float64), np.asarray(bad_passes, dtype=np.float64)
    # Adding 0 * x makes NaN what has no x: only texts with both a probability and a verdict count.
    sure = _halves(np.where(up == 1, p, 1 - p) + 0 * up, np.where(wrong == 1, q, 1 - q) + 0 * wrong)
    right = _halves(up + 0 * p, 1 - wrong + 0 * q)
    brier = _halves((1 - p) ** 2 + 0 * up, q**2 + 0 * wrong)
    both = ~np.isnan(sure)
    n = int(both.sum())
    if n < 2:
        return None
    groups = None if clusters is None else np.asarray(clusters)[both]
    if groups is not None and len(np.unique(groups)) < 2:
        return None
    low, high = _mean_limits((sure - right)[both], groups)
    return Sureness(
        sure=float(sure[both].mean()),
        right=float(right[both].mean()),
        low=low,
        high=high,
        brier=float(brier[both].mean()),
        n=n,
    )


def diagram(good: npt.ArrayLike, bad: npt.ArrayLike) -> list[Bin]:
    """Texts by their probability of passing, in ten bins; empty ones are left out.

    Parameters as for `sureness`. The band is that of independent texts, by the normal approximation.
    """
    p, q = np.asarray(good, dtype=np.float64), np.asarray(bad, dtype=np.float64)
    usable = ~np.isnan(p) & ~np.isnan(q).all(axis=1)
    p, q = p[usable], q[usable]
    copies = ~np.isnan(q)
    number = np.maximum(copies.sum(axis=1, keepdims=True), 1)
    of_copies = np.broadcast_to(1 / number, q.shape)
    likely = np.concatenate([p, q[copies]])
    weight = np.concatenate([np.ones(p.size), of_copies[copies]])
    is_good = np.concatenate([np.ones(p.size), np.zeros(int(copies.sum()))])
    place = np.minimum((likely * _BINS).astype(int), _BINS - 1)
    bins = []
    for b in range(_BINS):
        inside = place == b
        if not inside.any():
            continue
        w, x = weight[inside], likely[inside]
        mean = float(np.average(x, weights=w))
        reach = DEVIATE_95 * float(np.sqrt((w**2 * x * (1 - x)).sum())) / float(w.sum())
        bins.append(
            Bin(
                likely=mean,
                good=float(np.average(is_good[inside], weights=w)),
                low=max(mean - reach, 0.0),
                high=min(mean + reach, 1.0),
                texts=int(inside.sum()),
            )
        )
    return bins


def _halves(good: Floats, bad: Floats) -> Floats:
    """Of each example half the value of its original and half the mean of its copies; NaN without both."""
    present = ~np.isnan(bad)
    counts = present.sum(axis=1)
    mean = np.where(present, bad, 0.0).sum(axis=1) / np.where(counts, counts, np.nan)
    return np.asarray((good + mean) / 2)


def _mean_limits(values: Floats, clusters: npt.NDArray[np.int64] | None) -> tuple[float, float]:
    """95 % limits of a mean by Student's t, over clusters if there are any."""
    from scipy.stats import t

    mean, sums = values.mean(), values - values.mean()
    if clusters is not None:
        sums = cluster_sums(sums, cluster_index(clusters, values.size))
    groups = sums.size
    squares = (sums**2).sum() + _UNSEEN_SQUARES
    error = np.sqrt(squares * groups / (groups - 1)) / values.size
    reach = float(t.ppf(0.975, groups - 1) * error)
    return float(mean - reach), float(mean + reach)
