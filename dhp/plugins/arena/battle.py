"""Battles: systems compared pair by pair on the same questions.

`run_battle` makes the pairs, asks the judge about each in both orders, and computes the figures of every two
systems (`_contest`) and the strengths of three or more (`_strengths`).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from dhp.core.progress import Progress
from dhp.core.records import Candidate
from dhp.core.seeding import text_hash
from dhp.core.specs import Task
from dhp.judge.api import Judge
from dhp.judge.pairs import OVERALL, Pair, PairVerdict
from dhp.llm.cached_model import taken
from dhp.plugins.arena.answers import Answer
from dhp.plugins.arena.statistics import (
    Interval,
    PairFigures,
    PairKey,
    PairOutcome,
    bradley_terry,
    pair_figures,
    pair_outcome,
    verdicts_by_pair,
)

Systems = Mapping[str, Sequence[Answer]]
"""System -> its answers, one per question, in the same order."""

SCHEMA = "dhp.battle/1"

_RESAMPLES = 300
"""Resamples of the questions, for intervals of strengths. Chosen: the model is fitted anew in each."""


@dataclass(frozen=True, slots=True)
class Contest:
    """One system against another by one metric."""

    first: str
    second: str
    metric: str
    figures: PairFigures
    by_category: Mapping[str, PairFigures]
    outcomes: Sequence[PairOutcome]


@dataclass(frozen=True, slots=True)
class Strength:
    """How strong a system is by the Bradley-Terry model."""

    system: str
    value: float
    """Natural logarithm, mean 0 over the systems: by 1 more the odds to win are 2.7 times as high."""
    ci: Interval | None
    """95 % percentile interval over resampled questions; None with fewer than two."""


@dataclass(frozen=True, slots=True)
class Battle:
    """All contests of some systems before one judge."""

    model: str
    protocol: str
    settings: Mapping[str, object]
    systems: Sequence[str]
    contests: Sequence[Contest]
    strengths: Sequence[Strength]
    """Strongest first; empty for two systems."""
    verdicts: Sequence[PairVerdict]
    usage: Mapping[str, int]
    """Paid calls and tokens of the language model; empty if none is asked."""
    cost: float | None

    def to_json(self) -> dict[str, Any]:
        """The content of `battle.json`."""
        return {
            "schema": SCHEMA,
            "judge": {"model": self.model, "protocol": self.protocol, "settings": dict(self.settings)},
            "systems": list(self.systems),
            "contests": [_contest_json(contest) for contest in self.contests],
            "bradley_terry": [asdict(strength) for strength in self.strengths],
            "usage": dict(self.usage),
            "cost": self.cost,
        }

    def verdict_lines(self) -> Iterator[dict[str, Any]]:
        """One row for each answer of the judge."""
        for v in self.verdicts:
            yield {
                "example": v.pair.first.example,
                "category": v.pair.category,
                "first": v.pair.first.variant,
                "second": v.pair.second.variant,
                "metric": v.metric,
                "order": v.order,
                "final": v.final,
                "sample": v.sample,
                "choice": v.choice,
                "status": v.status,
                "scores": v.scores,
                "rule": v.rule,
                "answer": v.raw,
            }


def make_pairs(systems: Systems) -> list[Pair]:
    """All pairs of systems on each question, systems in the order given."""
    pairs = []
    for one, other in combinations(systems, 2):
        for first, second in zip(systems[one], systems[other], strict=True):
            pairs.append(Pair(_text(one, first), _text(other, second), first.category))
    return pairs


def _text(system: str, answer: Answer) -> Candidate:
    return Candidate(answer.id, system, answer.output, answer.question)


def run_battle(
    judge: Judge,
    systems: Systems,
    task: Task,
    metrics: Sequence[str] = (OVERALL,),
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> Battle:
    """Let a judge compare systems, two or more.

    The judge is asked about each pair in both orders; Bradley-Terry strengths go by the first metric; `seed`
    is that of resampling. Errors are those of the judge; the same call goes on from what is stored.
    """
    verdicts = _compared(judge, make_pairs(systems), task, metrics, progress)
    if judge.cached_model:
        # While answers are still to come there is nothing to count.
        judge.cached_model.context.stop_if_waiting()

    by_pair = verdicts_by_pair(verdicts)
    contests = []
    for one, other in combinations(systems, 2):
        contests += [_contest(one, other, metric, by_pair) for metric in metrics]

    by_first_metric = [contest for contest in contests if contest.metric == metrics[0]]
    usage, cost = taken(judge.cached_model)
    return Battle(
        model=judge.model,
        protocol=judge.protocol,
        settings=judge.settings,
        systems=list(systems),
        contests=contests,
        strengths=_strengths(list(systems), by_first_metric, seed),
        verdicts=verdicts,
        usage=usage,
        cost=cost,
    )


def _compared(
    judge: Judge,
    pairs: Sequence[Pair],
    task: Task,
    metrics: Sequence[str],
    progress: Progress | None,
) -> list[PairVerdict]:
    """The verdicts of a judge in the order of the pairs, whatever order the answers came in."""
    cached_model = judge.cached_model
    # Two orders each. Final words come on top, so the number of answers may outgrow this.
    total = len(pairs) * len(metrics) * 2 * judge.answers
    before = replace(cached_model.session_usage) if cached_model else None
    if cached_model:
        # Replies that are stored under this name were paid for by this battle before it was stopped.
        settings = json.dumps(dict(judge.settings), sort_keys=True)
        texts = [pair.first.text + pair.second.text for pair in pairs]
        cached_model.run = text_hash(settings + "".join(texts))

    verdicts: list[PairVerdict] = []
    for verdict in judge.verdicts(pairs, task, metrics):
        verdicts.append(verdict)
        if progress:
            cost = cached_model.spent(before) if cached_model and before else ""
            progress(judge.model, len(verdicts), max(total, len(verdicts)), cost)

    # By identity: two pairs may hold the same texts.
    place = {id(pair): number for number, pair in enumerate(pairs)}

    def asked_order(v: PairVerdict) -> tuple[object, ...]:
        return place[id(v.pair)], metrics.index(v.metric), v.final, v.order, v.sample

    return sorted(verdicts, key=asked_order)


def _contest(
    first: str, second: str, metric: str, by_pair: Mapping[PairKey, Sequence[PairVerdict]]
) -> Contest:
    outcomes: list[PairOutcome] = []
    by_category: dict[str, list[PairOutcome]] = {}
    for key, verdicts in by_pair.items():
        if key[1:] == (first, second, metric):  # whatever the example
            outcome = pair_outcome(verdicts)
            outcomes.append(outcome)
            if outcome.category:
                by_category.setdefault(outcome.category, []).append(outcome)
    figures = {name: pair_figures(some) for name, some in by_category.items()}
    return Contest(first, second, metric, pair_figures(outcomes), figures, outcomes)


def _strengths(systems: Sequence[str], contests: Sequence[Contest], seed: int) -> list[Strength]:
    if len(systems) < 3:  # of two the win rate says all
        return []

    place: dict[str, int] = {}  # question -> its number
    for contest in contests:
        for outcome in contest.outcomes:
            place.setdefault(outcome.example, len(place))
    n = len(place)

    # won[q, i, j] is what system i won against j on question q: 1, half of a tie, or 0.
    won = np.zeros((n, len(systems), len(systems)))
    for contest in contests:
        i, j = systems.index(contest.first), systems.index(contest.second)
        for outcome in contest.outcomes:
            # Without a verdict both places stay 0: the question counts for neither.
            if outcome.score is not None:
                sign = np.sign(outcome.score)
                won[place[outcome.example], i, j] = (1 + sign) / 2
                won[place[outcome.example], j, i] = (1 - sign) / 2
    values = bradley_terry(won.sum(axis=0))

    # Resamples: how often each question was drawn. Two decimals are printed, so a coarse model serves.
    limits: list[Interval | None] = [None] * len(systems)
    if n > 1:
        counts = np.random.default_rng(seed).multinomial(n, [1 / n] * n, size=_RESAMPLES)
        drawn = []
        for times in counts:
            drawn.append(bradley_terry(np.tensordot(times, won, axes=1), tolerance=1e-6))
        lows, highs = np.quantile(np.array(drawn), [0.025, 0.975], axis=0)
        limits = list(zip(lows.tolist(), highs.tolist(), strict=True))
    strengths = []
    for system, value, ci in zip(systems, values.tolist(), limits, strict=True):
        strengths.append(Strength(system, value, ci))
    return sorted(strengths, key=lambda each: -each.value)


def _contest_json(contest: Contest) -> dict[str, Any]:
    lists: dict[str, list[object]] = {"better": [], "worse": [], "tie": [], "invalid": []}
    for outcome in contest.outcomes:
        if outcome.score is None:
            lists[outcome.result].append({"id": outcome.example, "reason": outcome.reason})
        else:
            lists[outcome.result].append(outcome.example)
    return {
        "first": contest.first,
        "second": contest.second,
        "metric": contest.metric,
        **_figures_json(contest.figures),
        "by_category": {name: _figures_json(each) for name, each in contest.by_category.items()},
        **lists,
    }


def _figures_json(figures: PairFigures) -> dict[str, Any]:
    """The figures as JSON; undefined is null."""
    return {
        "n": figures.n,
        "wins": figures.wins,
        "losses": figures.losses,
        "ties": figures.ties,
        "n_invalid": figures.invalid,
        "win_rate": asdict(figures.win_rate),
        "win_rate_without_ties": asdict(figures.win_rate_without_ties),
        "mean_scores": figures.mean_scores,
        "p": figures.p,
        "d": figures.d,
        "position_bias": figures.bias and asdict(figures.bias),
    }
