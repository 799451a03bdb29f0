"""Runs that ask no more about a variant once it is resolved: which are, and in what order examples come.

The examples are asked about in a random order, with interim analyses after a quarter, a half, three quarters
and all of them. A variant is resolved where its verdict, by the one rule of all runs, is noticed or missed on
the examples that it got. p is the repeated p-value (`dhp.stats.sequential.repeated_log_p`), adjusted by Holm
over all variants, and the limits of detection are at a level that is shared between the analyses: a judge
that notices nothing is said to have noticed something no more often than after a single analysis. What was
noticed or missed stays so, as the figures of a resolved variant do not change any more, and Holm's method
only gives way as further variants are noticed. Controls and attacks are asked about all examples and have one
analysis; a control that is noticed as strongly as a variant takes its verdict back, as in every run.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from dhp.analysis.config import ResolvedConfig
from dhp.analysis.detection import with_detection
from dhp.analysis.ratings import RatingsArray
from dhp.analysis.variants import design_of, variant_results
from dhp.analysis.verdicts import with_verdicts
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
    design = design_of(ratings, variants, config)
    rows, _ = with_detection(ratings, variant_results(ratings, variants, design), design)
    # One without a pair so far counts in the adjustment, as it may have some in the end.
    tested = [replace(row, d=0.0) if row.d is None else row for row in rows]
    judged = with_verdicts(tested, len(ratings.examples), config.floor)
    return {row.variant for row in judged if row.verdict != "undecided"}
