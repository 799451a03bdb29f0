"""Agreement with humans on which of two systems or texts is better."""

from dataclasses import dataclass

import numpy as np

from dhp.plugins.human.correlation import RESAMPLES
from dhp.stats.arrays import Floats


@dataclass(frozen=True, slots=True)
class PairAccuracy:
    """Pairwise accuracy with ties, at the threshold that suits the judge best."""

    accuracy: float
    """Share of pairs that the judge orders, or ties, as humans do."""
    epsilon: float
    """Differences of the judge up to this count as ties; chosen to maximise the accuracy on the same data."""
    pairs: int
    """Number of pairs compared."""


def pair_accuracy(human: Floats, judge: Floats) -> PairAccuracy | None:
    """Pairwise accuracy with tie calibration over pairs of systems within a source (Deutsch et al. 2023).

    Shape (sources, systems), NaN if an item is not scored; None if no two systems of a source are.
    """
    i, j = np.triu_indices(human.shape[1], 1)
    h, m = (v[:, i] - v[:, j] for v in (human, judge))
    both = ~(np.isnan(h) | np.isnan(m))
    h, m = h[both], m[both]
    if not len(h):
        return None
    size = np.abs(m)
    order = np.argsort(size, kind="stable")
    tied = (h == 0)[order]
    right = (np.sign(h) == np.sign(m))[order] & ~tied
    # With the k smallest differences taken for ties: human ties among them, right orders among the rest.
    hits = np.concatenate([[0], np.cumsum(tied)]) + right.sum() - np.concatenate([[0], np.cumsum(right)])
    sizes = np.concatenate([[0.0], size[order]])
    ends = np.append(sizes[1:] > sizes[:-1], True)
    ends[0] &= size[order][0] > 0
    best = int(np.flatnonzero(ends)[np.argmax(hits[ends])])
    return PairAccuracy(float(hits[best] / len(h)), float(sizes[best]), len(h))


def soft_pair_accuracy(
    human: Floats, judge: Floats, *, resamples: int = RESAMPLES, rng: np.random.Generator | None = None
) -> float | None:
    """Soft pairwise accuracy of systems (Thompson et al. 2024): 1 - mean |p_human - p_judge|.

    Each p is one-sided from a paired sign-flip permutation test over the sources of two systems, the same
    flips for all pairs and both sides; p = (c + 1) / (K + 1), never 0 as in the reference implementation.
    Shape (sources, systems); an item that is NaN counts for no pair. There are K = `resamples` permutations,
    drawn by default from a generator seeded with 0. None if no two systems are scored on one source.
    """
    both = ~(np.isnan(human) | np.isnan(judge))
    i, j = np.triu_indices(human.shape[1], 1)
    shared = both[:, i] & both[:, j]
    i, j = i[shared.any(axis=0)], j[shared.any(axis=0)]
    if not len(i):
        return None
    flips = (rng or np.random.default_rng(0)).choice([-1.0, 1.0], size=(resamples, len(human)))
    p = []
    for v in (human, judge):
        differences = np.where(both[:, i] & both[:, j], v[:, i] - v[:, j], 0.0)
        drawn = flips @ np.nan_to_num(differences)
        observed = np.nan_to_num(differences).sum(axis=0)
        p.append(((drawn >= observed - 1e-9).sum(axis=0) + 1) / (resamples + 1))
    return float(1 - np.abs(p[0] - p[1]).mean())
