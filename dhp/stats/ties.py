"""Floating-point differences: values that are equal but for rounding are made equal."""

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats

_EPSILON = float(np.finfo(np.float64).eps)


def rounding_error(size: npt.ArrayLike, samples: int = 1) -> Floats:
    """How far a difference of two means may be from its exact value.

    Parameters
    ----------
    size
        The larger of the two means of the absolute scores.
    samples
        Scores of a mean. Each is a decimal number that floating point holds to half of a unit in the last
        place, and each sum and the division lose as much again.
    """
    return np.asarray((samples + 2) * _EPSILON * np.asarray(size, dtype=np.float64))


def with_ties(differences: Floats, error: Floats) -> Floats:
    """Differences in which those that floating point alone tells apart are equal.

    Parameters
    ----------
    differences, error : shape (n,)
        NaN where there is none, and how far each may be from its exact value.

    Returns
    -------
    shape (n,)
        0 where a difference is no larger than its error. Magnitudes that are no further apart than their
        errors together are one magnitude; all others stay as they are.
    """
    found = np.where(np.abs(differences) <= error, 0.0, differences)
    at = np.flatnonzero(found)
    at = at[~np.isnan(found[at])]
    order = at[np.argsort(np.abs(found[at]))]
    size, error = np.abs(found[order]), error[order]
    first = np.append(True, np.diff(size) > error[1:] + error[:-1])[: size.size]
    found[order] = np.copysign(size[first][np.cumsum(first) - 1], found[order])
    return found
