"""Comparison of judges by variant, by label swaps."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from dhp.stats.compare import SWAPS_PER_PAIR, JudgeScores, Pair, in_common
from dhp.stats.multiplicity import holm
from dhp.stats.swap import RESAMPLES, swap
from dhp.stats.swap_detection import detection_pair


def compare_variants(
    judges: Sequence[JudgeScores],
    rng: np.random.Generator,
    *,
    clusters: npt.ArrayLike | None = None,
    resamples: int = RESAMPLES,
) -> list[tuple[Pair, ...]]:
    """Compare two or more judges by detection of each variant.

    Parameters
    ----------
    judges
        Of the same examples, variants and metrics; see `in_common` for the pairs of scores that count.
    rng
        The only source of randomness.
    clusters
        As for `dhp.stats.detection.detection`.
    resamples
        Random swaps, at least 1; `SWAPS_PER_PAIR` for each variant and pair of judges, if that is more.

    Returns
    -------
    list
        For each variant every pair of judges once, in order; `p_holm` is adjusted over all of these.

    Raises
    ------
    ValueError
        If shapes differ or a parameter is out of range.
    """
    common = in_common(judges)
    v = common[0].differences.shape[1]
    indices = list(combinations(range(len(judges)), 2))
    most = max(resamples, SWAPS_PER_PAIR * v * len(indices))
    swapped = []
    for i, j in indices:
        both = detection_pair(common[i].differences, common[j].differences, ["all"] * v, clusters)
        swapped.append(swap(*both, rng, clusters, resamples=most))
    adjusted = np.exp(holm(np.log(np.ravel([each.p[1:] for each in swapped])))).reshape(len(indices), v)
    return [
        tuple(
            Pair(
                i,
                j,
                *(float(x[k]) for x in (each.difference[1:], each.low[1:], each.high[1:], each.p[1:], p)),
            )
            for (i, j), each, p in zip(indices, swapped, adjusted, strict=True)
        )
        for k in range(v)
    ]
