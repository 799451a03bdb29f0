"""Averages of D as they would be on a hundred examples, so that larger runs can be read beside others."""

import numpy as np

from dhp.core.seeding import key_digest
from dhp.stats.design import Design
from dhp.stats.wilcoxon.resampled import subsets

STANDARD_N = 100
_DRAWS = 500  # subsets; their mean settles soon
_AVERAGES = ("d_avg", "d_min", "d_avg_ew", "d_min_ew")


def at_standard_n(design: Design, digest: str) -> dict[str, float | None]:
    """The averages of a design as the mean over subsets without replacement, seeded by the ratings' digest.

    None where there are fewer examples, as nothing is extrapolated, and where these are clustered. A subset
    in which an average is undefined does not count.
    """
    if design.n < STANDARD_N or design.clusters is not None:
        return dict.fromkeys(_AVERAGES)
    if design.n == STANDARD_N:
        drawn = [design.point]
    else:
        rng = np.random.default_rng(int.from_bytes(key_digest(digest, "subsets")))
        drawn = [design.sampled(times)[1] for times in subsets(design.n, STANDARD_N, _DRAWS, rng)]
    found = {}
    for name in _AVERAGES:
        values = np.concatenate([getattr(part, name) for part in drawn])
        there = values[~np.isnan(values)]
        found[name] = float(there.mean()) if there.size else None
    return found
