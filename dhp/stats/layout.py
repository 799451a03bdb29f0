"""Shape checks of differences, weights and levels."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Bools, Floats


def checked_table(differences: npt.ArrayLike) -> Floats:
    """Differences of shape (n, V, M), finite or NaN; else `ValueError`."""
    x = np.asarray(differences, dtype=np.float64)
    if x.ndim != 3 or x.size == 0 or np.isinf(x).any():
        raise ValueError(
            f"differences must have shape (n, V, M), none 0, and be finite or NaN, not {x.shape}"
        )
    return x


def metric_weights(weights: npt.ArrayLike | None, variants: int, metrics: int) -> Floats:
    """Weights of shape (V, M), equal ones where none are given; `ValueError` unless they fit."""
    equal = np.full((variants, metrics), 1 / metrics)
    if weights is None:
        return equal
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != equal.shape:
        raise ValueError(f"weights must have shape {equal.shape}, not {w.shape}")
    given = np.any(~np.isnan(w), axis=1)
    if not ((w[given] >= 0).all() and (np.abs(w[given].sum(axis=1) - 1) <= 1e-6).all()):
        raise ValueError("weights must be non-negative and sum to 1 in each row that is not all NaN")
    return np.where(given[:, None], w, equal)


def metric_row(weights: npt.ArrayLike | None, metrics: int) -> Floats:
    """The same of one variant, shape (M,)."""
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
    there = [name if is_defined else None for name, is_defined in zip(levels, defined.tolist(), strict=True)]
    names = tuple(dict.fromkeys(name for name in there if name is not None))
    rows = [np.array([name == level for name in there], dtype=np.float64) for level in names]
    shares = [row / row.sum() for row in rows]
    whole = np.mean(shares, axis=0) if shares else np.full(defined.size, np.nan)
    return names, np.array([*shares, whole])
