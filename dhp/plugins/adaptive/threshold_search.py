"""Threshold search: a staircase per perturber chooses the doses as ratings come in."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from dhp.analysis.schedules import Course, RatedSoFar, Schedule
from dhp.core.errors import InputError
from dhp.core.records import IDENTITY, ORIGINAL, Candidate, parse_variant
from dhp.core.seeding import shuffled, stream
from dhp.stats.arrays import Bools, Floats, Ints, rounding_error
from dhp.stats.detection import outcomes_by_best
from dhp.stats.psychometric import (
    TARGET,
    UNDEFINED,
    Psychometric,
    checked_doses,
    curve,
    threshold_grid,
)

if TYPE_CHECKING:
    import pandas as pd


_POWERS = np.exp(np.linspace(math.log(0.5), math.log(3), 5))
_POWER_SPREAD = 0.5  # prior standard deviation of the logarithm of the power, around a power of 1
_LAPSES = np.array([0, 0.06, 0.12, 0.18, 0.24, 0.26, 0.32, 0.4, 0.5])
_LAPSE_SHAPE = 8.0  # of the prior (1 - lapse) ** shape
_LEAST = 1e-3  # probability of any outcome


@dataclass(frozen=True, slots=True)
class Staircase:
    """What is known of a judge's threshold for one kind of damage after some answers."""

    doses: Floats
    """Doses that may be asked about, increasing, shape (D,)."""
    thresholds: Floats
    """Possible thresholds, evenly spaced on a log scale, shape (T,): T75, or the dose at half of the rise of
    a curve that does not reach 75 %."""
    reaches: Bools
    """Whether the curve of each pair of power and lapse rate reaches 75 %, shape (S,)."""
    detection: Floats
    """Detection at each dose under each threshold and each pair of power and lapse rate, shape (D, T, S)."""
    log_posterior: Floats
    """Log posterior, not normalised, shape (T, S)."""
    answers: int
    moved: bool
    """Whether any score moved."""

    def next_doses(self, count: int = 1) -> list[float]:
        """The doses to ask about next.

        Of several to be asked at once each takes the answers to those before it as they are expected.
        """
        chosen, state = [], self
        for _ in range(count):
            at = state._most_telling()
            chosen.append(float(self.doses[at]))
            if len(chosen) < count:
                expected = float((state.detection[at] * state._posterior()).sum())
                state = state._updated(at, expected)
        return chosen

    def updated(self, dose: float, score: float) -> "Staircase":
        """After one more pair of texts.

        `dose` is one of `doses`, and `score` is 1 where the score fell, 1/2 where it tied, 0 where it rose,
        or between these; else `ValueError`.
        """
        at = np.flatnonzero(self.doses == dose)
        if not at.size or not 0 <= score <= 1:
            raise ValueError(f"dose must be one of `doses` and score in [0, 1], not {dose} and {score}")
        told = self._updated(int(at[0]), score)
        return replace(told, answers=self.answers + 1, moved=self.moved or score != 0.5)

    def after(self, doses: npt.ArrayLike, scores: npt.ArrayLike) -> "Staircase":
        """After the answers to many pairs of texts, of one shape; as `updated` after each."""
        at, found = np.searchsorted(self.doses, doses), np.asarray(scores, dtype=np.float64)
        fell, pairs = (np.bincount(at, w, self.doses.size) for w in (found, np.ones(found.shape)))
        told = np.tensordot(fell, np.log(self.detection), 1)
        told += np.tensordot(pairs - fell, np.log1p(-self.detection), 1)
        return replace(
            self,
            log_posterior=self.log_posterior + told,
            answers=self.answers + found.size,
            moved=self.moved or bool((found != 0.5).any()),
        )

    def t75(self, level: float = 0.95) -> tuple[float, float, float]:
        """Posterior median and the central credible interval of this level, in (0, 1).

        Undefined (NaN) as long as no score has moved. The interval takes answers for independent; ties and
        means over metrics vary less than it assumes, which makes it wide.
        """
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, not {level}")
        if not self.moved:
            return UNDEFINED
        share = self._of_t75(self._posterior())[:-1]
        below, ends = share.cumsum() - share / 2, (0.5, (1 - level) / 2, (1 + level) / 2)
        logs = np.interp(ends, below, np.log(self.thresholds))
        value, low, high = (self._within(math.exp(log)) for log in logs)
        return value, low, high

    def _within(self, threshold: float) -> float:
        if threshold > self.doses[-1]:
            return math.inf
        return threshold if threshold >= self.doses[0] else 0.0

    def _posterior(self) -> Floats:
        weight = np.exp(self.log_posterior - self.log_posterior.max())
        return np.asarray(weight / weight.sum())

    def _of_t75(self, weight: Floats) -> Floats:
        """Weights of shape (..., T, S) by T75, shape (..., T + 1): the last is that of none."""
        none = weight[..., ~self.reaches].sum(axis=(-2, -1))
        return np.concatenate([weight[..., self.reaches].sum(axis=-1), none[..., None]], axis=-1)

    def _most_telling(self) -> int:
        joint = self._posterior()
        fell = self._of_t75(self.detection * joint)
        entropy = np.zeros(self.doses.size)
        for outcome in (fell, self._of_t75(joint) - fell):
            share = np.maximum(outcome / outcome.sum(axis=1, keepdims=True), 1e-300)
            entropy -= outcome.sum(axis=1) * (share * np.log(share)).sum(axis=1)
        return int(entropy.argmin())

    def _updated(self, at: int, score: float) -> "Staircase":
        p = self.detection[at]
        return replace(
            self, log_posterior=self.log_posterior + score * np.log(p) + (1 - score) * np.log1p(-p)
        )


def staircase(doses: npt.ArrayLike) -> Staircase:
    """A staircase before the first answer.

    `doses` of shape (D,) may be asked about; raises `ValueError` unless they are positive and increasing.
    """
    x = checked_doses(doses)
    t = threshold_grid(x)
    p = curve(x[:, None, None, None], t[:, None, None], _POWERS[:, None], _LAPSES)
    p = np.clip(p, _LEAST, 1 - _LEAST).reshape(x.size, t.size, -1)
    powers = -0.5 * (np.log(_POWERS) / _POWER_SPREAD) ** 2
    prior = (powers[:, None] + _LAPSE_SHAPE * np.log1p(-_LAPSES)).ravel()
    reaches = np.tile(_LAPSES < 1 - TARGET, _POWERS.size)
    return Staircase(x, t, reaches, p, np.broadcast_to(prior, p.shape[1:]).copy(), 0, False)


def searched(
    doses: npt.ArrayLike,
    differences: npt.ArrayLike,
    clusters: npt.ArrayLike | None = None,
) -> Psychometric:
    """What is known after a search, as `dhp.stats.psychometric.psychometric` says it of a grid of doses.

    `fitted` is T75 of the posterior; power and lapse rate are the most probable ones. Parameters and errors
    as there.
    """
    scores = outcomes_by_best(differences, clusters)
    there = ~np.isnan(scores)
    pairs, fell = there.sum(axis=0), np.nansum(scores, axis=0)
    detection = np.where(pairs > 0, fell / np.maximum(pairs, 1), np.nan)
    if not (scores[there] != 0.5).any():
        return Psychometric(detection, pairs, math.nan, math.nan, UNDEFINED)
    asked = np.broadcast_to(checked_doses(doses), scores.shape)[there]
    state = staircase(doses).after(asked, scores[there])
    best = int(state._posterior().sum(axis=0).argmax())
    power, lapse = _POWERS[best // _LAPSES.size], _LAPSES[best % _LAPSES.size]
    return Psychometric(detection, pairs, float(power), float(lapse), state.t75())


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
        return SearchPlan(candidates, metrics, seed, dataset)

    def read(self, table: "pd.DataFrame", place: str) -> "SearchCourse | None":
        """The course of a search, which its column tells."""
        return SearchCourse() if self.column in table else None


SCHEDULE = ThresholdSearch()


@dataclass(frozen=True, slots=True)
class SearchCourse(Course):
    """The course of a search: T75 is that of the posterior."""

    schedule: ClassVar[Schedule] = SCHEDULE

    def curve(self, doses: Sequence[int], differences: Floats, clusters: Ints | None) -> Psychometric:
        """What is known after the search."""
        return searched(doses, differences, clusters)


@dataclass(slots=True)
class _Search:
    """The search for the threshold of one perturber."""

    perturber: str
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


class SearchPlan:
    """Chooses the texts of each turn by the ratings of those before it.

    Controls and attacks are asked about in the first turn, for all examples; originals when their first copy
    is. The examples take turns in an order drawn by seed, dataset and perturber.
    """

    def __init__(
        self, candidates: Sequence[Candidate], metrics: Sequence[str], seed: int, dataset: str
    ) -> None:
        self._candidates, self._metrics = candidates, metrics
        self._edits = {c.variant: None for c in candidates if c.level == "control" and _is_edit(c)}
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
            prior = staircase(list(variants))
            self._searches.append(_Search(perturber, variants, most, prior, prior, order))
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
            self._learn(search)
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

    def _learn(self, search: _Search) -> None:
        """Take in the answers, by the metric that sees the damage best so far."""
        for example, dose in search.pending:
            for metric, outcome in self._outcomes(example, search.variants[dose]).items():
                search.answers.setdefault(metric, []).append((dose, outcome))
        search.pending = []
        if search.answers:
            best = max(search.answers.values(), key=lambda answers: fmean(each for _, each in answers))
            search.state = search.prior.after(*zip(*best, strict=True))

    def _outcomes(self, example: str, variant: str) -> dict[str, float]:
        """Metric -> 1 for a score below that of the harmless copy, 1/2 for a tie, 0 for one above.

        Beside the original where no harmless copy has a score; without metrics that lack one.
        """
        found = {}
        for metric in self._metrics:
            sides = [self._scores.get((example, name, metric)) for name in (*self._edits, ORIGINAL)]
            before, after = next(filter(None, sides), None), self._scores.get((example, variant, metric))
            if before and after:
                size = max(np.abs(before).mean(), np.abs(after).mean())
                drop = fmean(before) - fmean(after)
                tied = abs(drop) <= rounding_error(size, max(len(before), len(after)))
                found[metric] = 0.5 if tied else float(drop > 0)
        return found

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
    found = {}
    for perturber, by_dose in counts.items():
        least = _COMMON * max(by_dose.values())
        doses = sorted(dose for dose, count in by_dose.items() if count >= least)
        if len(doses) > 1:
            found[perturber] = {dose: f"{perturber}.k{dose}" for dose in doses}
    return found
