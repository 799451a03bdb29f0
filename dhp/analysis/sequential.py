"""Runs that stop rating resolved variants: which are resolved, and the order of examples.

The examples are asked about in a random order, with interim analyses after a quarter, a half, three quarters
and all of them. A variant is resolved where its verdict on the examples that it got, by the one rule of all
runs, is not undecided. The limits of detection share their error between the analyses, so that a judge that
notices nothing is said to have noticed something no more often than after a single analysis; p is the
repeated p-value (`dhp.stats.sequential.repeated_log_p`). Controls and attacks are asked about all examples
and have one analysis.
"""

from collections.abc import Collection, Sequence

import numpy as np

from dhp.analysis.analyze import judged
from dhp.analysis.config import ResolvedConfig
from dhp.analysis.ratings import RatingsArray
from dhp.core.records import Variant
from dhp.core.seeding import stream
from dhp.stats.sequential import interim_sizes


def interim_numbers(examples: Collection[str], seed: int, dataset: str) -> dict[str, int]:
    """Example -> the interim analysis before which it is asked about, from 1; drawn by seed and dataset."""
    rng = stream(seed, dataset, "looks")
    drawn = sorted((rng.random(), name) for name in sorted(examples))
    further = enumerate(np.diff(interim_sizes(len(drawn)), prepend=0).tolist(), 1)
    numbers = [number for number, more in further for _ in range(more)]
    return {name: number for (_, name), number in zip(drawn, numbers, strict=True)}


def resolved(ratings: RatingsArray, variants: Sequence[Variant], config: ResolvedConfig) -> set[str]:
    """Which of the variants, at least one and all that are tested together, need no further examples.

    The ratings hold what was asked so far, and all that was not as stopped.
    """
    rows, _ = judged(ratings, variants, config)
    return {row.variant for row in rows if row.verdict != "undecided"}
