"""Early stopping: plain runs over more and more texts, without the kinds of damage that are decided.

The examples are asked about in a random order, with a look after a quarter, a half, three quarters and all
of them. A kind is decided if the examples that it got show that it is noticed, missed or preferred, by the
one rule of all runs. The looks and the kinds share the error (Bonferroni), so that a judge that notices
nothing is said to have noticed something no more often than after a single look, and what is decided stays
so. Controls and attacks are asked about all examples.
"""

import logging
import math
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from dhp.analysis.results import Results
from dhp.analysis.verdict_rule import DECIDED
from dhp.core.options import keywords_of
from dhp.core.progress import Progress, progress_of
from dhp.core.records import PROBES
from dhp.core.seeding import stream
from dhp.llm.cached_model import RequestContext
from dhp.perturb.perturbed_dataset import PerturbedDataset
from dhp.plugins.adaptive.loop import Pair, prepared, restricted
from dhp.run import RunSpec, run_within

SHARES = (0.25, 0.5, 0.75, 1.0)
"""Shares of the examples after which there is a look."""


def look_sizes(n: int) -> tuple[int, ...]:
    """How many of n examples each look has seen, rising to n; there are at most four."""
    if n < 1:
        raise ValueError(f"there must be an example, not {n}")
    return tuple(sorted({math.ceil(share * n) for share in SHARES}))


def look_numbers(examples: Collection[str], seed: int, dataset: str) -> dict[str, int]:
    """Example -> the look before which it is asked about, from 1; drawn by seed and dataset."""
    rng = stream(seed, dataset, "looks")
    drawn = sorted((rng.random(), name) for name in sorted(examples))
    further = enumerate(np.diff(look_sizes(len(drawn)), prepend=0).tolist(), 1)
    numbers = [number for number, more in further for _ in range(more)]
    return {name: number for (_, name), number in zip(drawn, numbers, strict=True)}


@dataclass(slots=True)
class _Course:
    """The texts of one dataset that were asked about so far."""

    whole: PerturbedDataset
    numbers: dict[str, int]
    """Example -> its look."""
    decided: set[str] = field(default_factory=set)
    """Variants that are asked about no more."""
    pairs: set[Pair] = field(default_factory=set)

    @property
    def damage(self) -> set[str]:
        return {variant.name for variant in self.whole.variants if variant.level not in PROBES}

    def go_on(self, look: int) -> None:
        """Add the texts of a look."""
        self.pairs |= {
            (text.example, text.variant)
            for text in self.whole.texts
            if self.numbers[text.example] == look and text.variant not in self.decided
        }


@keywords_of(RunSpec)
def early_stopping(spec: RunSpec) -> Results:
    """A run that rates no further texts of a kind of damage that is decided.

    Keywords and errors are as of `dhp.run`, with one judge. Verdicts and D share their error over the looks,
    and kinds rest on different numbers of examples.
    """
    with progress_of(spec.progress) as show:
        return spec.settings.filled(partial(_early_stopping, spec, show))


def _early_stopping(spec: RunSpec, progress: Progress | None, context: RequestContext) -> Results:
    plain, _, parts = prepared(spec, progress, context)
    courses = [
        _Course(part, look_numbers([e.id for e in part.dataset.examples], spec.seed, part.dataset.name))
        for part in parts
    ]
    looks = max(max(course.numbers.values()) for course in courses)
    plain = replace(plain, analysis=replace(spec.analysis, looks=looks))
    look = 0
    while look < looks - 1 and any(course.damage - course.decided for course in courses):
        look += 1
        for course in courses:
            course.go_on(look)
        results = run_within(_asked(plain, courses), progress, context)
        for course, result in zip(courses, results, strict=True):
            course.decided |= {row.variant for row in result.variants if row.verdict in DECIDED}
            logging.getLogger("dhp").warning(
                "%s: %d of %d kinds are decided after %d of %d examples",
                *(course.whole.dataset.name, len(course.decided), len(course.damage)),
                *(result.n, len(course.numbers)),
            )
    for course in courses:
        for rest in range(look + 1, looks + 1):
            course.go_on(rest)
    return run_within(replace(_asked(plain, courses), out=spec.out), progress, context)


def _asked(plain: RunSpec, courses: Collection[_Course]) -> RunSpec:
    return replace(plain, perturbed=[restricted(course.whole, course.pairs) for course in courses])
