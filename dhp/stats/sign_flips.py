"""Signs of whole clusters flipped at random, or all patterns of signs; p-values from them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats

_BITS = 16
"""Clusters up to which all sign patterns may be enumerated: 65,536 of them."""
_AT_ONCE = 1 << 18
"""Products that are computed at a time, few enough for one thread: OpenBLAS shares out what is more, which
takes longer."""
_DRAWN = 1 << 20
"""Signs that are drawn at once, about."""


@dataclass(frozen=True, slots=True)
class SignPatterns:
    """R patterns of the signs of G clusters, as there may be 100 million of them a bit for each."""

    flipped: npt.NDArray[np.uint8]
    """Shape (R, G / 8, rounded up)."""
    clusters: int

    def __len__(self) -> int:
        return len(self.flipped)

    def rows(self, start: int = 0, stop: int | None = None) -> npt.NDArray[np.int8]:
        """These patterns as +1 and -1, shape (rows, G)."""
        bits = np.unpackbits(self.flipped[start:stop], axis=1, count=self.clusters).view(np.int8)
        return 1 - 2 * bits


def sign_flips(clusters: int, resamples: int, rng: np.random.Generator) -> tuple[SignPatterns, bool]:
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
    signs : R patterns of G signs
        All 2 ** G patterns, the first of them all +1, if these are at most `resamples`; else that many
        random ones.
    exact : bool
        Whether they are all patterns.

    Raises
    ------
    ValueError
        If `resamples` is below 1.

    Notes
    -----
    With c of R patterns at least as extreme as the data, p is c / R if they are all patterns, else
    (c + 1) / (R + 1); see `flip_p`.
    """
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, not {resamples}")
    if clusters <= _BITS and 2**clusters <= resamples:
        patterns = np.arange(2**clusters)[:, None] >> np.arange(clusters) & 1  # the bits of each number
        return SignPatterns(np.packbits(patterns.astype(np.uint8), axis=1), clusters), True
    # A random number makes four signs: parts of whole numbers are those of one draw.
    rows = 4 * max(1, _DRAWN // (4 * clusters))
    parts = []
    for start in range(0, resamples, rows):
        bits = rng.integers(2, size=(min(rows, resamples - start), clusters), dtype=np.int8)
        parts.append(np.packbits(bits.view(np.uint8), axis=1))
    return SignPatterns(np.concatenate(parts), clusters), False


def flipped_sums(signs: SignPatterns, values: Floats) -> Floats:
    """Sums of `values`, shape (G, K), under R sign patterns; shape (R, K)."""
    most = max(1, _AT_ONCE // values.size)
    parts = []
    for start in range(0, len(signs), most):
        parts.append(signs.rows(start, start + most).astype(np.float64) @ values)
    return np.concatenate(parts)


def flip_p(observed: Floats, flipped: Floats, exact: bool) -> Floats:
    """p-values of statistics (K,) whose large values are extreme, given those of R sign patterns (R, K).

    Never 0 (Davison and Hinkley 1997, eq. 4.11). NaN if the observed statistic is.
    """
    margin = 1e-9 * np.maximum(np.abs(observed), 1e-9)
    count = (flipped >= observed - margin).sum(axis=0)
    p = count / len(flipped) if exact else (count + 1) / (len(flipped) + 1)
    return np.where(np.isnan(observed), np.nan, p)
