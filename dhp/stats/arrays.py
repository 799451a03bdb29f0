"""Arrays of differences: shapes, ties but for rounding, clusters.

Examples of one document or source are not independent of each other. Whole clusters are then what varies:
they are drawn together (cluster bootstrap; Davison and Hinkley 1997, section 3.8) and flip their sign
together. Everywhere `clusters=None` says that each example is a cluster of its own.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def checked_table(differences: npt.ArrayLike) -> Floats:
    """Differences of shape (n, V, M), finite or NaN; else `ValueError`."""
    x = np.asarray(differences, dtype=np.float64)
    if x.ndim != 3 or x.size == 0 or np.isinf(x).any():
        raise ValueError(
            f"differences must have shape (n, V, M), none 0, and be finite or NaN, not {x.shape}"
        )
    return x


def metric_weights(weights: npt.ArrayLike | None, variants: int, metrics: int) -> Floats:
    """Weights of shape (V, M), equal ones if none are given; `ValueError` unless they fit."""
    equal = np.full((variants, metrics), 1 / metrics)
    if weights is None:
        return equal
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != equal.shape:
        raise ValueError(f"weights must have shape {equal.shape}, not {w.shape}")
    has_weight = np.any(~np.isnan(w), axis=1)
    if not ((w[has_weight] >= 0).all() and (np.abs(w[has_weight].sum(axis=1) - 1) <= 1e-6).all()):
        raise ValueError("weights must be non-negative and sum to 1 in each row that is not all NaN")
    return np.where(has_weight[:, None], w, equal)


def metric_row(weights: npt.ArrayLike | None, metrics: int) -> Floats:
    """`metric_weights` of one variant, shape (M,)."""
    if not metrics:
        raise ValueError("weights must be for one metric or more")
    rows = None if weights is None else np.asarray(weights, dtype=np.float64)[None]
    return np.asarray(metric_weights(rows, 1, metrics)[0])


def level_shares(levels: Sequence[str], defined: Bools) -> tuple[tuple[str, ...], Floats]:
    """The share of each variant in the mean of each level, and in the mean of the levels.

    Parameters
    ----------
    levels : V names
        The level of each variant.
    defined : shape (V,)
        Variants that are not have no share; a level without any is left out.

    Returns
    -------
    names : L names
        In order of appearance.
    shares : shape (L + 1, V)
        The last row is the mean over levels, NaN if there is none.

    Raises
    ------
    ValueError
        If there is not one level per variant.
    """
    if isinstance(levels, str) or len(levels) != defined.size:
        raise ValueError(f"levels must be {defined.size} names, one per variant")
    rows: dict[str, Floats] = {}
    for place in np.flatnonzero(defined):
        row = rows.setdefault(levels[int(place)], np.zeros(defined.size))
        row[place] = 1.0
    shares = [row / row.sum() for row in rows.values()]
    whole = np.mean(shares, axis=0) if shares else np.full(defined.size, np.nan)
    return tuple(rows), np.array([*shares, whole])


_EPSILON = float(np.finfo(np.float64).eps)
"""Distance from 1 to the next larger float."""


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
        NaN if there is none, and how far each may be from its exact value.

    Returns
    -------
    shape (n,)
        0 if a difference is no larger than its error. Magnitudes that are no further apart than their
        errors together are one magnitude; all others stay as they are.
    """
    rounded = np.where(np.abs(differences) <= error, 0.0, differences)
    at = np.flatnonzero(rounded)
    at = at[~np.isnan(rounded[at])]
    order = at[np.argsort(np.abs(rounded[at]))]
    size, error = np.abs(rounded[order]), error[order]
    # In rising order a magnitude begins a new group if it is further from the one before than their errors.
    first = np.append(True, np.diff(size) > error[1:] + error[:-1])[: size.size]
    group = np.cumsum(first) - 1
    rounded[order] = np.copysign(size[first][group], rounded[order])
    return rounded


def cluster_index(clusters: npt.ArrayLike | None, n: int) -> Ints:
    """Which cluster each of n examples is in, numbered 0, 1, ... in the order of the labels; shape (n,).

    Raises `ValueError` unless `clusters` is None or has shape (n,) and holds integers.
    """
    if clusters is None:
        return np.arange(n)
    labels = np.asarray(clusters)
    if labels.shape != (n,) or not np.issubdtype(labels.dtype, np.integer):
        raise ValueError(f"clusters must be integers of shape ({n},), not {labels.dtype} of {labels.shape}")
    if n and labels.min() == 0 and labels.max() < n and np.bincount(labels).all():
        return labels.astype(np.int64, copy=False)  # numbered so already
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
    drawn = rng.integers(groups, size=(resamples, groups))
    # Each cluster and resample has a number of its own, so that one count does for all resamples.
    numbers = drawn * resamples + np.arange(resamples)[:, None]
    counts = np.bincount(numbers.ravel(), minlength=groups * resamples).astype(np.int32)
    return counts.reshape(groups, resamples)[index]
