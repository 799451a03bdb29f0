"""How large the drop is, beside how sure we are of it."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.wilcoxon.signed_rank import average_ranks, checked_differences


@dataclass(frozen=True, slots=True)
class Effect:
    """Effect sizes of paired differences, original minus degraded."""

    rank_biserial: float
    """Matched-pairs rank-biserial correlation in [-1, 1], positive where scores fell (Kerby 2014).

    The ranks of drops less those of rises, over all ranks. Zeros have the lowest ranks (Pratt 1959) and count
    as neither, so that few scores that move make a small effect: 1 where every score fell, 0 where none moved
    or drops and rises balance.
    """
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
    signs = np.where(moved > 0, 1, -1)
    ranks = average_ranks(np.abs(moved)) + (d.size - moved.size)
    return Effect(
        float(signs @ ranks) / (d.size * (d.size + 1) / 2) + 0.0,
        fell=float((d > 0).mean()),
        tied=float((d == 0).mean()),
        rose=float((d < 0).mean()),
        mean_drop=float(d.mean()) + 0.0,
    )
