"""Threshold search: a staircase per perturber chooses the doses as ratings come in."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dhp.analysis.schedules import Course, RatedSoFar, Schedule
from dhp.core.errors import InputError
from dhp.core.records import ORIGINAL, Candidate, parse_variant
from dhp.core.seeding import shuffled, stream
from dhp.plugins.adaptive.staircase import Staircase, searched, staircase
from dhp.stats.arrays import Floats, rounding_error
from dhp.stats.psychometric import Psychometric

if TYPE_CHECKING:
    import pandas as pd

AT_ONCE = 8
"""Texts of a perturber that are asked about at once."""
COPIES = 5 / 3
"""Texts of a perturber that are asked about, by example: a third of the calls of a grid of seven doses."""
DOSES = tuple(sorted({round(2 ** (quarter / 4)) for quarter in range(25)}))
"""Doses among which a threshold is looked for: 1 to 64, four an octave."""
_COMMON = 0.5  # a dose that so many fewer texts can take than the most common one is left out


class ThresholdSearch(Schedule):
    """Looks for the smallest dose that is noticed (T75)."""

    name = "find_threshold"
    column = "search_turn"
    label = "|find-threshold"
    limit = "doses are chosen as ratings come in, and most texts are never rated"
    doses = DOSES
    sparse = True
    pairwise = False

    def plan(
        self, candidates: Sequence[Candidate], metrics: Sequence[str], seed: int, dataset: str
    ) -> "SearchPlan":
        """A staircase for each perturber that takes doses; raises `InputError` where none does."""
        return SearchPlan(candidates, seed, dataset)

    def read(self, table: "pd.DataFrame", place: str) -> "SearchCourse | None":
        """The course of a search, which its column tells."""
        return SearchCourse() if self.column in table else None


SCHEDULE = ThresholdSearch()


@dataclass(frozen=True, slots=True)
class SearchCourse(Course):
    """The course of a search: T75 is that of the posterior."""

    schedule: ClassVar[Schedule] = SCHEDULE

    def curve(
        self, doses: Sequence[int], differences: Floats, weights: Sequence[float] | None, guess: float
    ) -> Psychometric:
        """What is known after the search."""
        return searched(doses, differences, weights, guess=guess)


@dataclass(slots=True)
class _Search:
    """The search for the threshold of one perturber."""

    perturber: str
    variants: Mapping[int, str]
    """Variant of each dose: dose -> variant."""
    left: int
    """Texts that may still be asked about."""
    state: Staircase
    order: list[str]
    """The examples, next one first."""
    pending: list[tuple[str, int]] = field(default_factory=list)
    """Example and dose of the texts being asked about."""


class SearchPlan:
    """Chooses the texts of each turn by the ratings of those before it.

    Controls and attacks are asked about in the first turn, for all examples; originals when their first copy
    is. The examples take turns in an order drawn by seed, dataset and perturber.
    """

    def __init__(self, candidates: Sequence[Candidate], seed: int, dataset: str) -> None:
        self._candidates = candidates
        self._there = {(c.example, c.variant) for c in candidates}
        self._others = {(c.example, c.variant) for c in candidates if _dose(c.variant) is None}
        self._asked: dict[tuple[str, str], int] = {}
        self._turns = 0
        self._scores: dict[tuple[str, str, str], list[float]] = {}
        self._seen = 0
        examples = list(dict.fromkeys(c.example for c in candidates))
        self._searches = []
        for perturber, variants in _by_perturber(candidates).items():
            order = shuffled(examples, stream(seed, dataset, perturber, "thresholds"))
            most = math.ceil(COPIES * len(examples))
            self._searches.append(_Search(perturber, variants, most, staircase(list(variants)), order))
        if not self._searches:
            raise InputError(f"dataset '{dataset}': no text takes two doses, which a threshold needs")

    @property
    def left(self) -> int:
        """Texts that may still be asked about, originals and probes included; none where no copy is left."""
        copies = sum(search.left for search in self._searches)
        return copies + len(self._others - self._asked.keys()) if copies else 0

    def turn(self, so_far: RatedSoFar) -> list[Candidate]:
        """The texts to ask about next, given all ratings so far; none where the search has ended."""
        for rating in so_far.ratings[self._seen :]:
            if rating.score is not None:
                key = (rating.example, rating.variant, rating.metric)
                self._scores.setdefault(key, []).append(rating.score)
        self._seen = len(so_far.ratings)
        for search in self._searches:
            self._learn(search, so_far.weights(search.perturber))
            self._choose(search)
        wanted = {(e, search.variants[dose]) for search in self._searches for e, dose in search.pending}
        if not self._turns:
            wanted |= {(c.example, c.variant) for c in self._candidates if _is_probe(c)}
        wanted |= {(example, ORIGINAL) for example, _ in wanted}
        new = wanted - self._asked.keys()
        self._turns += 1
        self._asked |= dict.fromkeys(new, self._turns)
        return [c for c in self._candidates if (c.example, c.variant) in new]

    def number(self, example: str, variant: str) -> int:
        """The turn in which a text was asked about."""
        return self._asked[example, variant]

    def _learn(self, search: _Search, weights: Mapping[str, float]) -> None:
        for example, dose in search.pending:
            outcome = self._outcome(example, search.variants[dose], weights)
            if outcome is not None:
                search.state = search.state.updated(dose, outcome)
        search.pending = []

    def _outcome(self, example: str, variant: str, weights: Mapping[str, float]) -> float | None:
        """1 where the scores fell, 1/2 where they tied, 0 where they rose; None where one is missing."""
        total = 0.0
        for metric, weight in weights.items():
            sides = [self._scores.get((example, name, metric)) for name in (ORIGINAL, variant)]
            if weight and not all(sides):
                return None
            if weight:
                before, after = (np.array(side) for side in sides)
                size = max(np.abs(before).mean(), np.abs(after).mean())
                drop = before.mean() - after.mean()
                tied = abs(drop) <= rounding_error(size, max(before.size, after.size))
                total += weight * (0.5 if tied else float(drop > 0))
        return min(total, 1.0)

    def _choose(self, search: _Search) -> None:
        for wanted in search.state.next_doses(min(AT_ONCE, search.left)) if search.left else ():
            near = sorted(search.variants, key=lambda dose: abs(math.log(dose / wanted)))
            found = next((at for dose in near if (at := self._free(search, dose))), None)
            if found is None:
                search.left = 0
                return
            search.left -= 1
            search.pending.append(found)
            search.order.remove(found[0])
            search.order.append(found[0])

    def _free(self, search: _Search, dose: int) -> tuple[str, int] | None:
        """The next example that has this dose and was not asked about in it."""
        taken = self._asked.keys() | {(example, search.variants[k]) for example, k in search.pending}
        keys = ((example, search.variants[dose]) for example in search.order)
        return next(((key[0], dose) for key in keys if key in self._there and key not in taken), None)


def _dose(variant: str) -> int | None:
    return parse_variant(variant)[2]


def _is_probe(candidate: Candidate) -> bool:
    return candidate.variant != ORIGINAL and _dose(candidate.variant) is None


def _by_perturber(candidates: Iterable[Candidate]) -> dict[str, dict[int, str]]:
    """Perturber -> dose -> variant, rising, of perturbers with two doses that many texts can take."""
    counts: dict[str, dict[int, int]] = {}
    for c in candidates:
        perturber, _, dose = parse_variant(c.variant)
        if dose is not None:
            by_dose = counts.setdefault(perturber, {})
            by_dose[dose] = by_dose.get(dose, 0) + 1
    found = {}
    for perturber, by_dose in counts.items():
        least = _COMMON * max(by_dose.values())
        doses = sorted(dose for dose, count in by_dose.items() if count >= least)
        if len(doses) > 1:
            found[perturber] = {dose: f"{perturber}.k{dose}" for dose in doses}
    return found
