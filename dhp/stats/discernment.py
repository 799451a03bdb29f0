"""Discernment scores from combined p-values, their mean over levels and their minimum (Wang et al. 2025)."""

import math
from collections.abc import Sequence
from typing import overload

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats, Ints
from dhp.stats.layout import level_shares

LOG_ALPHA = math.log(0.05)
_ROUNDING = 1e-9  # scores that differ by less are equal


@overload
def discernment(log_p: float) -> float: ...
@overload
def discernment(log_p: Floats) -> Floats: ...
def discernment(log_p: float | Floats) -> float | Floats:
    """D = log base 0.05 of combined p-values, given as natural logs; D >= 1 means p <= 0.05. In [0, inf).

    Of any shape; NaN (undefined) stays NaN. Raises `ValueError` for a log p above 0.
    """
    if np.any(np.asarray(log_p) > 0):
        raise ValueError(f"log_p must be at most 0, not {np.nanmax(log_p)}")
    return log_p / LOG_ALPHA + 0.0


def level_average(scores: npt.ArrayLike, levels: Sequence[str]) -> Floats:
    """D_avg: the mean over levels of the mean within each level. Degrees count as variants of their own.

    Parameters
    ----------
    scores : shape (..., V)
        Of V variants, V >= 1; an average over one that is NaN is NaN.
    levels : V names
        The level of each variant.

    Returns
    -------
    shape (...)
    """
    x = _checked(scores)
    _, shares = level_shares(levels, np.ones(x.shape[-1], dtype=np.bool_))
    average: Floats = x @ shares[-1]
    return average


def minimum(scores: npt.ArrayLike) -> tuple[Floats, Ints]:
    """D_min and the index of the variant that gives it, the first on a tie; NaN where any score is.

    Scores of shape (..., V), V >= 1; both results of shape (...). Scores that differ by rounding are tied.
    """
    x = _checked(scores)
    lowest: Floats = x.min(axis=-1)
    tied = ~(x > (lowest + _ROUNDING * np.maximum(np.abs(lowest), 1))[..., None])
    return lowest, tied.argmax(axis=-1)


def _checked(scores: npt.ArrayLike) -> Floats:
    x = np.asarray(scores, dtype=np.float64)
    if x.ndim == 0 or x.shape[-1] == 0:
        raise ValueError("there is no score")
    return x
