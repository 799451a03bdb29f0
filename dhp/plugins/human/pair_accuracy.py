"""Agreement with humans on which of two systems or texts is better."""

from dataclasses import dataclass

import numpy as np

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
    h, m = human[:, i] - human[:, j], judge[:, i] - judge[:, j]
    both = ~(np.isnan(h) | np.isnan(m))
    h, m = h[both], m[both]
    if not len(h):
        return None
    # From here on all pairs stand in the order of the judge's differences, the smallest first.
    size = np.abs(m)
    order = np.argsort(size, kind="stable")
    tied = (h == 0)[order]
    right = (np.sign(h) == np.sign(m))[order] & ~tied
    # With the k smallest differences taken for ties: human ties among them, right orders among the rest.
    hits = np.concatenate([[0], np.cumsum(tied)]) + right.sum() - np.concatenate([[0], np.cumsum(right)])
    sizes = np.concatenate([[0.0], size[order]])
    # A threshold takes all differences of its size or none, so only places between two sizes are thresholds.
    ends = np.append(sizes[1:] > sizes[:-1], True)
    ends[0] &= size[order][0] > 0  # a difference of 0 ties at every threshold
    best = int(np.flatnonzero(ends)[np.argmax(hits[ends])])
    return PairAccuracy(float(hits[best] / len(h)), float(sizes[best]), len(h))
