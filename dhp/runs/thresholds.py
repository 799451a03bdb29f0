"""Search for thresholds: a staircase per perturber chooses the doses."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dhp.analysis.config import ResolvedConfig
from dhp.core.errors import InputError
from dhp.core.records import ORIGINAL, Candidate, Rating, parse_variant
from dhp.core.seeding import shuffled, stream
from dhp.stats.arrays import rounding_error
from dhp.stats.staircase import Staircase, staircase

AT_ONCE = 8
"""Texts of a perturber that are asked about at once."""
COPIES = 5 / 3
"""Texts of a perturber that are asked about, by example: a third of the calls of a grid of seven doses."""
_COMMON = 0.5  # a dose that so many fewer texts can take than the most common one is left out


@dataclass(slots=True)
class _Search:
    """The search for the threshold of one perturber."""

    variants: Mapping[int, str]
    """Variant of each dose: dose -> variant."""
    weights: Mapping[str, float]
    left: int
    """Texts that may still be asked about."""
    state: Staircase
    order: list[str]
    """The examples, next one first."""
    pending: list[tuple[str, int]] = field(default_factory=list)
    """Example and dose of the texts being asked about."""


class ThresholdSearch:
    """Chooses the texts of each turn by the ratings of those before it.

    Controls and attacks are asked about in the first turn, for all examples; originals when their first copy
    is. The examples take turns in an order drawn by seed, dataset and perturber.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        metrics: Sequence[str],
        config: ResolvedConfig,
        seed: int,
        dataset: str,
    ) -> None:
        self._candidates = candidates
        self._there = {(c.example, c.variant) for c in candidates}
        self._asked: set[tuple[str, str]] = set()
        self._scores: dict[tuple[str, str, str], list[float]] = {}
        self._seen = 0
        examples = list(dict.fromkeys(c.example for c in candidates))
        self._searches = []
        for perturber, variants in _by_perturber(candidates).items():
            row = config.weight_row(perturber, metrics) or [1 / len(metrics)] * len(metrics)
            order = shuffled(examples, stream(seed, dataset, perturber, "thresholds"))
            weights = dict(zip(metrics, row, strict=True))
            most = math.ceil(COPIES * len(examples))
            self._searches.append(_Search(variants, weights, most, staircase(list(variants)), order))
        if not self._searches:
            raise InputError(f"dataset '{dataset}': no text takes two doses, which a threshold needs")

    @property
    def most(self) -> int:
        """Texts that are asked about at most, originals and probes included."""
        probes = sum(_dose(c.variant) is None for c in self._candidates)
        return probes + sum(search.left for search in self._searches)

    def turn(self, ratings: Sequence[Rating]) -> list[Candidate]:
        """The texts to ask about next, given all ratings so far; none where the search has ended."""
        for rating in ratings[self._seen :]:
            if rating.score is not None:
                key = (rating.example, rating.variant, rating.metric)
                self._scores.setdefault(key, []).append(rating.score)
        self._seen = len(ratings)
        first = not self._asked
        for search in self._searches:
            self._learn(search)
            self._choose(search)
        wanted = {(e, search.variants[dose]) for search in self._searches for e, dose in search.pending}
        if first:
            wanted |= {(c.example, c.variant) for c in self._candidates if _is_probe(c)}
        wanted |= {(example, ORIGINAL) for example, _ in wanted}
        turn = [c for c in self._candidates if (c.example, c.variant) in wanted - self._asked]
        self._asked |= wanted
        return turn

    def _learn(self, search: _Search) -> None:
        for example, dose in search.pending:
            outcome = self._outcome(example, search.variants[dose], search.weights)
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
        taken = self._asked | {(example, search.variants[k]) for example, k in search.pending}
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
