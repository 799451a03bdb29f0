"""Battles: systems compared pair by pair on the same questions."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from dhp.core.progress import Progress
from dhp.core.records import Candidate
from dhp.core.seeding import text_hash
from dhp.core.specs import Task
from dhp.judge.pairs import OVERALL, Pair, PairVerdict, PairwiseJudge
from dhp.plugins.arena.pair_figures import Interval, PairFigures, PairOutcome, pair_figures, pair_outcomes
from dhp.plugins.arena.statistics import bradley_terry

SCHEMA = "dhp.battle/1"
_RESAMPLES = 300


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
    texts: Mapping[tuple[str, str], Candidate]
    """(example, system) -> its text."""
    verdicts: Sequence[PairVerdict]
    usage: Mapping[str, int]
    """Paid calls and tokens of the language model; empty where none is asked."""
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

    def verdicts_by_pair(self) -> Mapping[tuple[str, str, str, str], Sequence[PairVerdict]]:
        """(example, first system, second system, metric) -> the answers of the judge."""
        found: dict[tuple[str, str, str, str], list[PairVerdict]] = defaultdict(list)
        for v in self.verdicts:
            found[v.pair.first.example, v.pair.first.variant, v.pair.second.variant, v.metric].append(v)
        return found

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


def make_pairs(texts: Mapping[str, Sequence[Candidate]], categories: Mapping[str, str]) -> list[Pair]:
    """All pairs of systems on each question, systems in the order given.

    `texts`: system -> its texts, one per question, in the same order of questions; `categories`: question ->
    its category.
    """
    return [
        Pair(first, second, categories.get(first.example, ""))
        for one, other in combinations(texts, 2)
        for first, second in zip(texts[one], texts[other], strict=True)
    ]


def run_battle(
    judge: PairwiseJudge,
    texts: Mapping[str, Sequence[Candidate]],
    categories: Mapping[str, str],
    task: Task,
    metrics: Sequence[str] = (OVERALL,),
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> Battle:
    """Let a judge compare systems.

    Parameters
    ----------
    judge
        Asked about each pair in both orders.
    texts, categories
        As for `make_pairs`; two systems or more.
    task
        What the systems had to do.
    metrics
        By which the texts are compared; Bradley-Terry strengths go by the first.
    seed
        Of resampling.
    progress
        Called as `progress(what, done, total, cost)`.

    Raises
    ------
    InputError, StoppedEarly
        As the judge; the same call goes on from what is stored.
    """
    pairs = make_pairs(texts, categories)
    verdicts = compared(judge, pairs, task, metrics, progress)
    cached_model = judge.cached_model
    contests = [
        _contest(one, other, metric, verdicts) for one, other in combinations(texts, 2) for metric in metrics
    ]
    usage = cached_model.usage if cached_model else None
    return Battle(
        judge.model,
        judge.protocol,
        judge.settings,
        list(texts),
        contests,
        _strengths(list(texts), [c for c in contests if c.metric == metrics[0]], seed),
        {(t.example, t.variant): t for each in texts.values() for t in each},
        verdicts,
        usage.lasting if usage else {},
        usage.cost(cached_model.context.budget.prices) if usage and cached_model else None,
    )


def compared(
    judge: PairwiseJudge,
    pairs: Sequence[Pair],
    task: Task,
    metrics: Sequence[str],
    progress: Progress | None = None,
) -> list[PairVerdict]:
    """The verdicts of a judge in the order of the pairs, whatever order the answers came in."""
    cached_model = judge.cached_model
    total = len(pairs) * len(metrics) * 2 * judge.answers
    before = replace(cached_model.session_usage) if cached_model else None
    if cached_model:
        settings = json.dumps(dict(judge.settings), sort_keys=True)
        cached_model.run = text_hash(settings + "".join(p.first.text + p.second.text for p in pairs))
    verdicts: list[PairVerdict] = []
    for verdict in judge.compare(pairs, task, metrics):
        verdicts.append(verdict)
        if progress:
            cost = cached_model.spent(before) if cached_model and before else ""
            progress(judge.model, len(verdicts), max(total, len(verdicts)), cost)
    place = {id(pair): number for number, pair in enumerate(pairs)}
    return sorted(
        verdicts, key=lambda v: (place[id(v.pair)], metrics.index(v.metric), v.final, v.order, v.sample)
    )


def _contest(first: str, second: str, metric: str, verdicts: Sequence[PairVerdict]) -> Contest:
    own = [
        v
        for v in verdicts
        if (v.pair.first.variant, v.pair.second.variant, v.metric) == (first, second, metric)
    ]
    outcomes = pair_outcomes(own)
    categories = dict.fromkeys(o.category for o in outcomes)
    by_category = {
        name: pair_figures([o for o in outcomes if o.category == name]) for name in categories if name
    }
    return Contest(first, second, metric, pair_figures(outcomes), by_category, outcomes)


def _strengths(systems: Sequence[str], contests: Sequence[Contest], seed: int) -> list[Strength]:
    if len(systems) < 3:
        return []
    examples = list(dict.fromkeys(o.example for c in contests for o in c.outcomes))
    place = {name: number for number, name in enumerate(examples)}
    k = len(systems)
    won = np.zeros((len(examples), k, k))
    for contest in contests:
        i, j = systems.index(contest.first), systems.index(contest.second)
        for o in contest.outcomes:
            if o.score is not None:
                won[place[o.example], i, j] = (1 + np.sign(o.score)) / 2
                won[place[o.example], j, i] = (1 - np.sign(o.score)) / 2
    values = bradley_terry(won.sum(axis=0))
    ends: Any = [None] * k
    if len(examples) > 1:
        rng = np.random.default_rng(seed)
        counts = rng.multinomial(len(examples), [1 / len(examples)] * len(examples), size=_RESAMPLES)
        drawn = [bradley_terry(np.tensordot(c, won, axes=1), tolerance=1e-6) for c in counts]
        ends = np.quantile(np.array(drawn), [0.025, 0.975], axis=0).T
    found = [
        Strength(name, float(value), None if end is None else (float(end[0]), float(end[1])))
        for name, value, end in zip(systems, values, ends, strict=True)
    ]
    return sorted(found, key=lambda s: -s.value)


def _contest_json(contest: Contest) -> dict[str, Any]:
    lists: dict[str, Any] = {
        result: [o.example for o in contest.outcomes if o.result == result]
        for result in ("better", "worse", "tie")
    }
    lists["invalid"] = [{"id": o.example, "reason": o.reason} for o in contest.outcomes if o.score is None]
    return {
        "first": contest.first,
        "second": contest.second,
        "metric": contest.metric,
        **figures_json(contest.figures),
        "by_category": {name: figures_json(f) for name, f in contest.by_category.items()},
        **lists,
    }


def figures_json(figures: PairFigures) -> dict[str, Any]:
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
