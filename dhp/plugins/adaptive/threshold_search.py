"""Threshold search: a staircase for each perturber chooses the doses as ratings come in.

At last a plain run over the texts that were asked about says T75, by the posterior of the answers.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import fmean

import numpy as np

from dhp.analysis.results import Results
from dhp.core.errors import InputError
from dhp.core.options import keywords_of
from dhp.core.progress import Progress, numbered, progress_of
from dhp.core.records import IDENTITY, ORIGINAL, Candidate, Rating, parse_variant
from dhp.core.seeding import shuffled, stream
from dhp.judge.api import Judge
from dhp.judge.ratings import checked_ratings
from dhp.judge.unreadable import readable
from dhp.llm.cached_model import RequestContext
from dhp.perturb.perturbed_dataset import PerturbedDataset
from dhp.plugins.adaptive.loop import Pair, prepared, restricted
from dhp.run import RunSpec, run_within
from dhp.stats.arrays import rounding_error
from dhp.stats.staircase import Staircase, staircase

AT_ONCE = 8
"""Texts of a perturber that are asked about at once."""
COPIES = 5 / 3
"""Texts of a perturber that are asked about, by example: a third of the calls of a grid of seven doses."""
DOSES = tuple(sorted({round(2 ** (quarter / 4)) for quarter in range(25)}))
"""Doses among which a threshold is looked for: 1 to 64, four an octave."""
_COMMON = 0.5  # a dose that so many fewer texts can take than the most common one is left out


@keywords_of(RunSpec)
def find_threshold(spec: RunSpec) -> Results:
    """A run over few texts, whose doses are chosen so that they tell most about T75.

    Keywords and errors are as of `dhp.run`, with one judge, which rates texts; without `doses` those of
    `DOSES` are there to choose from.
    """
    with progress_of(spec.progress) as show:
        return spec.settings.filled(partial(_find_threshold, replace(spec, doses=spec.doses or DOSES), show))


def _find_threshold(spec: RunSpec, progress: Progress | None, context: RequestContext) -> Results:
    plain, judge, parts = prepared(spec, progress, context)
    if judge.compare:
        raise InputError(f"judge '{judge.model}': compares texts; a threshold needs one that rates")
    judged = [part.judged_by(spec.metrics) for part in parts]
    judged = [part.judged_as(judge.own_task(part.dataset.task, part.candidates())) for part in judged]
    judge = judge.with_token_limit([(part.candidates(), part.dataset.task) for part in judged])
    chosen = [
        restricted(part, _searched(judge, each, spec.seed, numbered(progress, number, len(judged))))
        for number, (part, each) in enumerate(zip(parts, judged, strict=True), 1)
    ]
    return run_within(replace(plain, perturbed=chosen, out=spec.out), progress, context)


def _searched(judge: Judge, part: PerturbedDataset, seed: int, progress: Progress | None) -> set[Pair]:
    """The texts of a dataset that were asked about."""
    task, candidates = part.dataset.task, part.candidates()
    search = Search(candidates, task.metric_names, seed, part.dataset.name)
    judge.prepare(candidates, task)
    while turn := search.turn():
        rated = checked_ratings(judge, turn, task)
        search.learn(readable(rated, judge, task, part.dataset.name) if search.turns == 1 else rated)
        if progress:
            asked = len(search.asked)
            progress(f"searching {judge.model} on {part.dataset.name}", asked, asked + search.left, "")
    return search.asked


@dataclass(slots=True)
class _Perturber:
    """The search for the threshold of one perturber."""

    variants: Mapping[int, str]
    """Variant of each dose: dose -> variant."""
    left: int
    """Texts that may still be asked about."""
    prior: Staircase
    state: Staircase
    order: list[str]
    """The examples, next one first."""
    pending: list[tuple[str, int]] = field(default_factory=list)
    """Example and dose of the texts being asked about."""
    answers: dict[str, list[tuple[int, float]]] = field(default_factory=dict)
    """Metric -> dose and outcome of each text that was answered."""


class Search:
    """Chooses the texts of each turn by the ratings of those before it.

    Controls and attacks are asked about in the first turn, for all examples; originals when their first copy
    is. The examples take turns in an order drawn by seed, dataset and perturber.
    """

    def __init__(
        self, candidates: Sequence[Candidate], metrics: Sequence[str], seed: int, dataset: str
    ) -> None:
        self.asked: set[Pair] = set()
        """Texts that were asked about, with the originals."""
        self.turns = 0
        self._candidates, self._metrics = candidates, metrics
        self._edits = {c.variant: None for c in candidates if c.level == "control" and _is_edit(c)}
        self._there = {(c.example, c.variant) for c in candidates}
        self._others = {(c.example, c.variant) for c in candidates if _dose(c.variant) is None}
        self._scores: dict[tuple[str, str, str], list[float]] = {}
        examples = list(dict.fromkeys(c.example for c in candidates))
        self._perturbers = []
        for perturber, variants in _by_perturber(candidates).items():
            order = shuffled(examples, stream(seed, dataset, perturber, "thresholds"))
            most = math.ceil(COPIES * len(examples))
            prior = staircase(list(variants))
            self._perturbers.append(_Perturber(variants, most, prior, prior, order))
        if not self._perturbers:
            raise InputError(f"dataset '{dataset}': no text takes two doses, which a threshold needs")

    @property
    def left(self) -> int:
        """Texts that may still be asked about, originals and probes included; none if no copy is left."""
        copies = sum(each.left for each in self._perturbers)
        return copies + len(self._others - self.asked) if copies else 0

    def turn(self) -> list[Candidate]:
        """The texts to ask about next, given all ratings so far; none if the search has ended."""
        for each in self._perturbers:
            self._choose(each)
        wanted = {(e, each.variants[dose]) for each in self._perturbers for e, dose in each.pending}
        if not self.turns:
            wanted |= {(c.example, c.variant) for c in self._candidates if _is_probe(c)}
        wanted |= {(example, ORIGINAL) for example, _ in wanted}
        new = wanted - self.asked
        self.turns += 1
        self.asked |= new
        return [c for c in self._candidates if (c.example, c.variant) in new]

    def learn(self, ratings: Iterable[Rating]) -> None:
        """Take in the ratings of a turn; each perturber goes on by the metric that sees it best so far."""
        for rating in ratings:
            if rating.score is not None:
                key = (rating.example, rating.variant, rating.metric)
                self._scores.setdefault(key, []).append(rating.score)
        for each in self._perturbers:
            for example, dose in each.pending:
                for metric, outcome in self._outcomes(example, each.variants[dose]).items():
                    each.answers.setdefault(metric, []).append((dose, outcome))
            each.pending = []
            if each.answers:
                best = max(each.answers.values(), key=lambda answers: fmean(fell for _, fell in answers))
                each.state = each.prior.after(*zip(*best, strict=True))

    def _outcomes(self, example: str, variant: str) -> dict[str, float]:
        """Metric -> 1 for a score below that of the harmless copy, 1/2 for a tie, 0 for one above.

        Beside the original if no harmless copy has a score; without metrics that lack one.
        """
        free = {}
        for metric in self._metrics:
            sides = [self._scores.get((example, name, metric)) for name in (*self._edits, ORIGINAL)]
            before, after = next(filter(None, sides), None), self._scores.get((example, variant, metric))
            if before and after:
                size = max(np.abs(before).mean(), np.abs(after).mean())
                drop = fmean(before) - fmean(after)
                tied = abs(drop) <= rounding_error(size, max(len(before), len(after)))
                free[metric] = 0.5 if tied else float(drop > 0)
        return free

    def _choose(self, perturber: _Perturber) -> None:
        for wanted in perturber.state.next_doses(min(AT_ONCE, perturber.left)) if perturber.left else ():
            near = sorted(perturber.variants, key=lambda dose: abs(math.log(dose / wanted)))
            nearest = next((at for dose in near if (at := self._free(perturber, dose))), None)
            if nearest is None:
                perturber.left = 0
                return
            perturber.left -= 1
            perturber.pending.append(nearest)
            perturber.order.remove(nearest[0])
            perturber.order.append(nearest[0])

    def _free(self, perturber: _Perturber, dose: int) -> tuple[str, int] | None:
        """The next example that has this dose and was not asked about in it."""
        taken = self.asked | {(example, perturber.variants[k]) for example, k in perturber.pending}
        keys = ((example, perturber.variants[dose]) for example in perturber.order)
        return next(((key[0], dose) for key in keys if key in self._there and key not in taken), None)


def _dose(variant: str) -> int | None:
    return parse_variant(variant)[2]


def _is_probe(candidate: Candidate) -> bool:
    return candidate.variant != ORIGINAL and _dose(candidate.variant) is None


def _is_edit(candidate: Candidate) -> bool:
    return parse_variant(candidate.variant).perturber != IDENTITY


def _by_perturber(candidates: Iterable[Candidate]) -> dict[str, dict[int, str]]:
    """Perturber -> dose -> variant, rising, of perturbers with two doses that many texts can take."""
    counts: dict[str, dict[int, int]] = {}
    for c in candidates:
        perturber, _, dose = parse_variant(c.variant)
        if dose is not None:
            by_dose = counts.setdefault(perturber, {})
            by_dose[dose] = by_dose.get(dose, 0) + 1
    thresholds = {}
    for perturber, by_dose in counts.items():
        least = _COMMON * max(by_dose.values())
        doses = sorted(dose for dose, count in by_dose.items() if count >= least)
        if len(doses) > 1:
            thresholds[perturber] = {dose: f"{perturber}.k{dose}" for dose in doses}
    return thresholds
