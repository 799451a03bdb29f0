"""Whether ratings fail more often of degraded texts."""

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats


def failure_p(original_failed: npt.ArrayLike, degraded_failed: npt.ArrayLike) -> Floats:
    """Two-sided exact p that ratings of originals and of degraded texts fail equally often (McNemar 1947).

    Both are boolean, of one shape (n, ...); p has shape (...), 1 if no example failed on one side only.
    Raises `ValueError` if the shapes differ.
    """
    from scipy.special import bdtr

    one, other = np.asarray(original_failed, dtype=np.bool_), np.asarray(degraded_failed, dtype=np.bool_)
    if one.shape != other.shape:
        raise ValueError(f"both must have one shape, not {one.shape} and {other.shape}")
    first, second = (one & ~other).sum(axis=0), (other & ~one).sum(axis=0)
    return np.asarray(np.minimum(1.0, 2 * bdtr(np.minimum(first, second), first + second, 0.5)))
