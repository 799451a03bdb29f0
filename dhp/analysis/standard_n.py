"""Averages of D as they would be on a hundred examples, so that larger runs can be read beside others."""

import math

import numpy as np

from dhp.core.seeding import key_digest
from dhp.stats.bootstrap import discernment_at_n
from dhp.stats.design import Design

STANDARD_N = 100
_DRAWS = 500  # subsets; their mean settles soon
_AVERAGES = ("d_avg", "d_min", "d_avg_ew", "d_min_ew")


def at_standard_n(design: Design, digest: str) -> dict[str, float | None]:
    """The averages of a design as the mean over subsets; None where there are fewer examples.

    `digest` is that of the ratings, by which the subsets are drawn.
    """
    if design.n < STANDARD_N:
        return dict.fromkeys(_AVERAGES)
    rng = np.random.default_rng(int.from_bytes(key_digest(digest, "subsets")))
    found = discernment_at_n(design, rng, size=STANDARD_N, resamples=_DRAWS)
    values = {name: float(np.ravel(getattr(found, name))[0]) for name in _AVERAGES}
    return {name: value if math.isfinite(value) else None for name, value in values.items()}
