"""How the scores of a metric are spread over its scale."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats

_LENIENT = 2 / 3
"""Part of the scale from which on a mean of degraded texts is lenient; chosen, as are the two below."""
_HARSH = 1 / 2
"""Part of the scale up to which a mean of originals is harsh."""
_COMPRESSED = 1 / 2
"""Part of the scale within which nine in ten scores are compressed."""
_MOST_POINTS = 21
"""Different scores that a histogram shows one by one: the tenths from 0 to 2, or the whole numbers to 20."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How scores are distributed."""

    mean: float
    """Mean of the scores."""
    sd: float | None
    """Standard deviation; None for a single score."""
    low: float
    """5th percentile of the scores."""
    high: float
    """95th percentile of the scores."""
    histogram: dict[str, float]
    """Score -> its share, from the lowest; of more than 21 different scores 20 equal bins, named after their
    middle."""


def spread(scores: npt.ArrayLike) -> Spread | None:
    """The distribution of scores of any shape, NaN if there is none; None if there is none at all.

    Raises `ValueError` for an infinite score.
    """
    x = np.asarray(scores, dtype=np.float64).ravel()
    if np.isinf(x).any():
        raise ValueError("scores must be finite or NaN")
    x = x[~np.isnan(x)]
    if not x.size:
        return None
    points, counts = np.unique(x, return_counts=True)
    if points.size > _MOST_POINTS:
        counts, edges = np.histogram(x, bins=20)
        points = (edges[:-1] + edges[1:]) / 2
    low, high = np.quantile(x, [0.05, 0.95], method="inverted_cdf")
    # Squares of very large scores overflow. A power of 2 as the unit changes no digit of the others.
    unit = 2.0 ** np.frexp(np.abs(x).max())[1]
    return Spread(
        mean=float((x / unit).mean() * unit),
        sd=float((x / unit).std(ddof=1) * unit) if x.size > 1 else None,
        low=float(low),
        high=float(high),
        histogram=_shares(points, counts / x.size),
    )


def _shares(points: Floats, shares: Floats) -> dict[str, float]:
    """Score as text -> its share; scores that differ by rounding alone are one."""
    share_of: dict[str, float] = {}
    for point, share in zip(points.tolist(), shares.tolist(), strict=True):
        name = f"{point:.12g}"
        share_of[name] = share_of.get(name, 0.0) + share
    return share_of


def style_names(originals: Spread, degraded: Spread, low: float, high: float) -> tuple[str, ...]:
    """What the distributions of one metric's scores, on a scale from `low` to `high`, are called.

    `lenient`: degraded texts still have a mean in the upper third of the scale. `harsh`: originals have one
    in the lower half. `compressed`: nine in ten scores, of originals and degraded texts together, lie within
    half of the scale.
    """
    length = high - low
    names = []
    if degraded.mean >= low + _LENIENT * length:
        names.append("lenient")
    if originals.mean <= low + _HARSH * length:
        names.append("harsh")
    if max(originals.high, degraded.high) - min(originals.low, degraded.low) <= _COMPRESSED * length:
        names.append("compressed")
    return tuple(names)
