"""How large the drop is, beside how sure we are of it."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.wilcoxon.signed_rank import checked_differences
from dhp.stats.wilcoxon.tails import doubled_ranks

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Effect:
    """Effect sizes of paired differences, original minus degraded."""

    rank_biserial: float
    """Matched-pairs rank-biserial correlation in [-1, 1]; see `rank_biserial`."""
    fell: float
    """Share of pairs in which the degraded text scored lower."""
    tied: float
    rose: float
    mean_drop: float
    """In points of the metric's scale; negative where scores rose."""


def effect(differences: npt.ArrayLike) -> Effect:
    """Effect sizes of differences of shape (n,); raises `ValueError` if empty or not finite."""
    d = checked_differences(differences)
    moved = d[d != 0]
    _, group, sizes = np.unique(np.abs(moved), return_inverse=True, return_counts=True)
    drops = moved > 0
    ranks = doubled_ranks(sizes[None])[0][group]
    return Effect(
        float(rank_biserial(*np.array([ranks[drops].sum(), moved.size, drops.sum(), d.size]))),
        fell=float((d > 0).mean()),
        tied=float((d == 0).mean()),
        rose=float((d < 0).mean()),
        mean_drop=float(d.mean()) + 0.0,
    )


def rank_biserial(w: Ints, moved: Ints, fell: Ints, pairs: Ints) -> Floats:
    """Matched-pairs rank-biserial correlation of many tests, in [-1, 1] (Kerby 2014).

    The ranks of drops less those of rises, over all ranks. Zeros have the lowest ranks (Pratt 1959) and count
    as neither, so that few scores that move make a small effect: 1 where every score fell, 0 where none moved
    or drops and rises balance.

    Parameters
    ----------
    w : shape (...)
        Twice W+, the sum of the ranks of the positive differences among those that are not 0.
    moved, fell, pairs : shape (...)
        How many differences are not 0, are positive, and are there at all.

    Returns
    -------
    shape (...)
        NaN where there is no pair.
    """
    drops_less_rises = w - moved * (moved + 1) / 2 + (pairs - moved) * (2 * fell - moved)
    return np.where(pairs > 0, drops_less_rises / np.maximum(pairs * (pairs + 1) / 2, 1), np.nan)
