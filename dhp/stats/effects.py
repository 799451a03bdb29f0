"""How large the drop is, beside how sure we are of it."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.signed_rank import checked_differences


@dataclass(frozen=True, slots=True)
class Effect:
    """Effect sizes of paired differences, original minus degraded."""

    rank_biserial: float
    """Matched-pairs rank-biserial correlation in [-1, 1]: (W+ - W-) / (W+ + W-), zeros dropped; 1 where
    every score that moved fell. 0 where no score moved."""
    fell: float
    """Share of pairs in which the degraded text scored lower."""
    tied: float
    rose: float
    mean_drop: float
    """In points of the metric's scale; negative where scores rose."""


def effect(differences: npt.ArrayLike) -> Effect:
    """Effect sizes of differences of shape (n,); raises `ValueError` if empty or not finite (Kerby 2014)."""
    d = checked_differences(differences)
    nonzero = d[d != 0]
    _, group, sizes = np.unique(np.abs(nonzero), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(sizes) - (sizes - 1) / 2)[group]
    biserial = float(np.sign(nonzero) @ ranks / ranks.sum()) if nonzero.size else 0.0
    return Effect(
        biserial,
        fell=float((d > 0).mean()),
        tied=float((d == 0).mean()),
        rose=float((d < 0).mean()),
        mean_drop=float(d.mean()) + 0.0,
    )
