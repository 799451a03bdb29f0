"""Quantiles of Student's t and of the normal distribution."""

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats

DEVIATE_95 = 1.959963984540054
"""The normal deviate that bounds a 95 % interval: its 97.5 % quantile."""


def quantile(groups: Floats, level: npt.ArrayLike) -> Floats:
    """The quantile of Student's t with `groups` - 1 degrees of freedom that bounds an interval of this level.

    NaN below one degree. Raises `ValueError` for a level that is not in (0, 1).
    """
    from scipy.special import stdtrit

    levels = np.asarray(level, dtype=np.float64)
    if not ((levels > 0) & (levels < 1)).all():
        raise ValueError(f"level must be between 0 and 1, not {levels}")
    return np.where(groups > 1, stdtrit(np.maximum(groups - 1, 1), (1 + levels) / 2), np.nan)
