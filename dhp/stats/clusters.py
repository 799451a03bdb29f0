"""Clusters of examples: sums, resamples and sign flips.

Examples of one document or source are not independent of each other. Whole clusters are then what varies:
they are drawn together (cluster bootstrap; Davison and Hinkley 1997, section 3.8) and flip their sign
together. Everywhere `clusters=None` says that each example is a cluster of its own.
"""

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats, Ints

_BITS = 16
"""Clusters up to which all sign patterns may be enumerated."""
_AT_ONCE = 1 << 18
"""Products, few enough for one thread: OpenBLAS shares out what is more, which takes longer."""


def cluster_index(clusters: npt.ArrayLike | None, n: int) -> Ints:
    """Which cluster each of n examples is in, numbered 0, 1, ... in the order of the labels; shape (n,).

    Raises `ValueError` unless `clusters` is None or has shape (n,) and holds integers.
    """
    if clusters is None:
        return np.arange(n)
    labels = np.asarray(clusters)
    if labels.shape != (n,) or not np.issubdtype(labels.dtype, np.integer):
        raise ValueError(f"clusters must be integers of shape ({n},), not {labels.dtype} of {labels.shape}")
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def cluster_sums(values: Floats, index: Ints) -> Floats:
    """Sums of `values`, shape (n, ...), over the examples of each cluster; shape (clusters, ...).

    `index` is that of `cluster_index`.
    """
    groups = int(index.max(initial=-1)) + 1
    if groups == len(index):
        return values[np.argsort(index)]
    order = np.argsort(index, kind="stable")
    return np.add.reduceat(values[order], np.searchsorted(index[order], np.arange(groups)), axis=0)


def cluster_draws(index: Ints, resamples: int, rng: np.random.Generator) -> npt.NDArray[np.int32]:
    """How often each example is in each resample of as many clusters, with replacement (Efron 1979).

    Parameters
    ----------
    index : shape (n,)
        That of `cluster_index`.
    resamples
        R, at least 1.
    rng
        The only source of randomness.

    Returns
    -------
    shape (n, R)
        The same for all examples of a cluster. A resample of clusters of different size has another number
        of examples than the data.
    """
    groups = int(index.max()) + 1
    drawn = rng.integers(groups, size=(resamples, groups)) * resamples + np.arange(resamples)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=groups * resamples).astype(np.int32)
    return counts.reshape(groups, resamples)[index]


def sign_flips(clusters: int, resamples: int, rng: np.random.Generator) -> tuple[npt.NDArray[np.int8], bool]:
    """Sign patterns of the clusters for a randomisation test.

    Parameters
    ----------
    clusters
        G, at least 1.
    resamples
        How many patterns to draw, at least 1.
    rng
        The only source of randomness.

    Returns
    -------
    signs : shape (R, G)
        +1 or -1. All 2 ** G patterns, the first of them all +1, where these are at most `resamples`; else
        that many random ones.
    exact : bool
        Whether they are all patterns.

    Notes
    -----
    With c of R patterns at least as extreme as the data, p is c / R where they are all patterns, else
    (c + 1) / (R + 1); see `flip_p`.
    """
    if clusters <= _BITS and 2**clusters <= resamples:
        patterns = np.arange(2**clusters)[:, None] >> np.arange(clusters) & 1
        return (1 - 2 * patterns).astype(np.int8), True
    return (1 - 2 * rng.integers(2, size=(resamples, clusters), dtype=np.int8)), False


def flipped_sums(signs: npt.NDArray[np.int8], values: Floats) -> Floats:
    """Sums of `values`, shape (G, K), under sign patterns of shape (R, G); shape (R, K)."""
    most = max(1, _AT_ONCE // values.size)
    parts = [signs[start : start + most].astype(np.float64) @ values for start in range(0, len(signs), most)]
    return np.concatenate(parts)


def flip_p(observed: Floats, flipped: Floats, exact: bool) -> Floats:
    """p-values of statistics (K,) whose large values are extreme, given those of R sign patterns (R, K).

    Never 0 (Davison and Hinkley 1997, eq. 4.11). NaN where the observed statistic is.
    """
    margin = 1e-9 * np.maximum(np.abs(observed), 1e-9)
    count = (flipped >= observed - margin).sum(axis=0)
    p = count / len(flipped) if exact else (count + 1) / (len(flipped) + 1)
    return np.where(np.isnan(observed), np.nan, p)
