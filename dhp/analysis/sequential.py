"""Runs that ask no more about a variant once it is resolved: who is, and what that does to its figures.

The examples are asked about in a random order, with interim analyses after a quarter, a half, three quarters
and all of them. A variant is resolved above where its D, as it would be reported, is at least 1 and the 95 %
interval lies wholly above 1; below where the interval of D on all examples, given those seen, lies wholly
below 1. Each analysis has its own boundary (alpha spending, `dhp.stats.sequential.boundaries`), so that a
judge which notices nothing passes D = 1 no more often than after a single analysis. That holds for every
figure that is judged by these boundaries, D and D_EW alike, whatever ended the run. Controls and attacks are
asked about all examples and have one analysis.
"""

import math
from collections.abc import Collection, Sequence

import numpy as np

from dhp.analysis.config import ResolvedConfig
from dhp.analysis.detection import LEVEL
from dhp.analysis.ratings import RatingsArray
from dhp.analysis.variants import design_of
from dhp.core.records import Variant
from dhp.core.seeding import key_digest, stream
from dhp.stats.bootstrap import Bootstrap, bootstrap
from dhp.stats.design import Design
from dhp.stats.intervals import interval
from dhp.stats.sequential import interim_sizes, settled_below

_RESAMPLES = 2000  # for the decision


def interim_numbers(examples: Collection[str], seed: int, dataset: str) -> dict[str, int]:
    """Example -> the interim analysis before which it is asked about, from 1; drawn by seed and dataset."""
    rng = stream(seed, dataset, "looks")
    drawn = sorted((rng.random(), name) for name in sorted(examples))
    further = enumerate(np.diff(interim_sizes(len(drawn)), prepend=0).tolist(), 1)
    numbers = [number for number, more in further for _ in range(more)]
    return {name: number for (_, name), number in zip(drawn, numbers, strict=True)}


def resolved(ratings: RatingsArray, variants: Sequence[Variant], config: ResolvedConfig) -> set[str]:
    """Which of the variants, at least one, need no further examples.

    The ratings hold what was asked so far, and all that was not as stopped.
    """
    assert ratings.interim is not None
    interim, design = ratings.interim, design_of(ratings, variants, config)

    def is_resolved(v: int, name: str) -> bool:
        own = _own(ratings, design, v, name)
        drawn = _drawn(own, name, _RESAMPLES)
        excess = interim.boundary(interim.last[name]) - 1
        if float(drawn.point.d[0, 0]) - excess >= 1:
            return _low_end(drawn, ratings, name) > 1
        return settled_below(
            own, len(ratings.examples), interim.boundary(), _rng("prediction", name), level=LEVEL
        )

    return {variant.name for v, variant in enumerate(variants) if is_resolved(v, variant.name)}


def _own(ratings: RatingsArray, design: Design, v: int, variant: str) -> Design:
    """The design of one variant and the examples that it got."""
    assert ratings.interim is not None
    numbers = np.array([ratings.interim.examples[name] for name in sorted(ratings.examples)])
    return design.part(numbers <= ratings.interim.last[variant], v)


def _drawn(own: Design, variant: str, resamples: int) -> Bootstrap:
    return bootstrap(own, _rng("intervals", variant), resamples=resamples)


def _low_end(drawn: Bootstrap, ratings: RatingsArray, variant: str) -> float:
    """Of the interval of D, adjusted for the interim analyses; NaN where undefined."""
    assert ratings.interim is not None
    low = float(interval(drawn, "d", level=LEVEL).low[0])
    return low if math.isnan(low) else ratings.interim.adjusted(low, variant)


def _rng(purpose: str, variant: str) -> np.random.Generator:
    return np.random.default_rng(int.from_bytes(key_digest("looks", purpose, variant)))
