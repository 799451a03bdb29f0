"""Battles: systems compared pair by pair on the same questions, printed and written."""

import json
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dhp.cli.language_models import estimates_shown
from dhp.cli.missing import on_missing
from dhp.content.catalog import read_task
from dhp.core.errors import InputError, one_of
from dhp.core.files import indented_json, json_line
from dhp.core.progress import Progress, progress_shown
from dhp.core.protocol_spec import Protocol
from dhp.core.records import Candidate
from dhp.core.seeding import text_hash
from dhp.core.specs import Task
from dhp.core.writing import OutputFolder
from dhp.judge.api import Judge
from dhp.judge.factory import find_judges
from dhp.judge.judges.llm import LlmJudge
from dhp.judge.judges.recorded import RECORDED
from dhp.judge.pairs import OVERALL, Pair, PairVerdict
from dhp.llm.cached_model import RequestContext, taken
from dhp.llm.estimate import estimate_requests
from dhp.llm.settings import ModelSettings
from dhp.plugins.arena.input import Answer, check_match, read_answers, read_battle_prompts
from dhp.plugins.arena.statistics import (
    Interval,
    PairFigures,
    PairKey,
    PairOutcome,
    Share,
    bradley_terry,
    pair_figures,
    pair_outcome,
    verdicts_by_pair,
)
from dhp.report.charts import COLOURS, drawn
from dhp.report.document import Column, Part, Table
from dhp.report.labels import between, figure, percent, percents, percents_in_brackets
from dhp.report.printout import Printout
from dhp.report.web import page

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure


Systems = Mapping[str, Sequence[Answer]]
"""System -> its answers, one per question, in the same order."""

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
    return [
        Pair(_text(one, first), _text(other, second), first.category)
        for one, other in combinations(systems, 2)
        for first, second in zip(systems[one], systems[other], strict=True)
    ]


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
    verdicts = compared(judge, make_pairs(systems), task, metrics, progress)
    by_pair = verdicts_by_pair(verdicts)
    contests = [
        _contest(one, other, metric, by_pair) for one, other in combinations(systems, 2) for metric in metrics
    ]
    return Battle(
        judge.model,
        judge.protocol,
        judge.settings,
        list(systems),
        contests,
        _strengths(list(systems), [c for c in contests if c.metric == metrics[0]], seed),
        verdicts,
        *taken(judge.cached_model),
    )


def compared(
    judge: Judge,
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
    for verdict in judge.verdicts(pairs, task, metrics):
        verdicts.append(verdict)
        if progress:
            cost = cached_model.spent(before) if cached_model and before else ""
            progress(judge.model, len(verdicts), max(total, len(verdicts)), cost)
    place = {id(pair): number for number, pair in enumerate(pairs)}
    return sorted(
        verdicts, key=lambda v: (place[id(v.pair)], metrics.index(v.metric), v.final, v.order, v.sample)
    )


def _contest(
    first: str, second: str, metric: str, by_pair: Mapping[PairKey, Sequence[PairVerdict]]
) -> Contest:
    outcomes = [
        pair_outcome(verdicts) for key, verdicts in by_pair.items() if key[1:] == (first, second, metric)
    ]
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
    strengths = [
        Strength(name, float(value), None if end is None else (float(end[0]), float(end[1])))
        for name, value, end in zip(systems, values, ends, strict=True)
    ]
    return sorted(strengths, key=lambda s: -s.value)


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


_ASSETS = Path(__file__).parent / "assets"

_SHOWN_PAIRS = 300
"""Pairs of a contest whose texts are on the page; all are in `verdicts.jsonl`."""


@dataclass(frozen=True, slots=True)
class _ShownPair:
    """A pair with its texts and what was said of them."""

    outcome: PairOutcome
    pair: Pair
    verdicts: Sequence[PairVerdict]


@dataclass(frozen=True, slots=True)
class _ShownContest:
    """A contest with its pairs."""

    contest: Contest
    pairs: Sequence[_ShownPair]
    left_out: int


def battle_page(battle: Battle) -> str:
    """The page of a battle: one file that needs no network, every text in it escaped."""
    return page(
        _ASSETS / "battle.html",
        styles=("report.css", _ASSETS / "battle.css"),
        scripts=("tables.js",),
        battle=battle,
        contests=shown_contests(battle),
        tables=battle_tables(battle),
        chart=win_chart(battle.contests),
        settings=json.dumps(dict(battle.settings), ensure_ascii=False, indent=1),
    )


def shown_contests(battle: Battle) -> list[_ShownContest]:
    """The contests with the texts and answers of their pairs."""
    by_pair = verdicts_by_pair(battle.verdicts)
    shown = []
    for c in battle.contests:
        pairs = []
        for outcome in c.outcomes[:_SHOWN_PAIRS]:
            verdicts = by_pair[outcome.example, c.first, c.second, c.metric]
            pairs.append(_ShownPair(outcome, verdicts[0].pair, verdicts))
        shown.append(_ShownContest(c, pairs, max(0, len(c.outcomes) - _SHOWN_PAIRS)))
    return shown


def win_chart(contests: Sequence[Contest]) -> "Markup":
    """Stacked bars of won, tied and lost pairs, with the win rate and its interval, a row a contest."""
    labels = [
        f"{c.first} – {c.second}" + (f", {c.metric}" if c.metric != "overall" else "") for c in contests
    ]

    def draw(canvas: "Figure") -> None:
        axes = canvas.subplots()
        for row, c in enumerate(contests):
            left, n = 0.0, max(1, c.figures.n)
            for count, colour in ((c.figures.wins, "d"), (c.figures.ties, "line"), (c.figures.losses, "ew")):
                axes.barh(row, count / n, left=left, height=0.55, color=COLOURS[colour])
                left += count / n
            rate = c.figures.win_rate
            if rate.value is not None:
                for shade, width in (("page", 3.4), ("ink", 1.4)):  # an outline, so that it shows on a bar
                    if rate.ci:
                        axes.plot(rate.ci, (row, row), "|-", color=COLOURS[shade], lw=width, ms=6, mew=width)
                axes.plot(rate.value, row, "o", color=COLOURS["ink"], ms=4, clip_on=False)
        axes.axvline(0.5, color=COLOURS["ink"], linewidth=0.8, linestyle=(0, (4, 3)))
        axes.set_yticks(range(len(contests)), labels)
        axes.set_ylim(len(contests) - 0.4, -0.6)
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
        axes.tick_params(axis="y", length=0, labelcolor=COLOURS["ink"])
        axes.spines["left"].set_visible(False)

    summary = "; ".join(
        f"{label}: won {c.figures.wins}, tied {c.figures.ties}, lost {c.figures.losses}, win rate "
        f"{figure(c.figures.win_rate.value)}"
        for label, c in zip(labels, contests, strict=True)
    )
    return drawn(draw, 8.6, 0.7 + 0.4 * len(contests), f"Won, tied and lost pairs by contest: {summary}.")


def read_systems(entries: Sequence[str]) -> Systems:
    """Answer files, `NAME=FILE` or files whose names are those of the systems; their ids must agree."""
    files: dict[str, str] = {}
    for each in entries:
        name, equals, path = each.partition("=")
        if not equals or Path(each).exists():
            name, path = Path(each).stem, each
        if name in files:
            raise InputError(f"system '{name}': is given twice ({files[name]}, {path}); allowed: NAME=FILE")
        files[name] = path
    systems = {name: read_answers(Path(path)) for name, path in files.items()}
    distinct = len(set(files.values())) == len(files)
    check_match({files[name]: answers for name, answers in systems.items()} if distinct else systems)
    order = {answer.id: index for index, answer in enumerate(next(iter(systems.values())))}
    return {name: sorted(answers, key=lambda a: order[a.id]) for name, answers in systems.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class BattleSpec:
    """What a battle is asked."""

    systems: Systems
    model: str
    protocol: Protocol
    settings: ModelSettings
    task: str = "instruction"
    """What the systems had to do."""
    metrics: tuple[str, ...] = ()
    """Those to compare by; without any, answers are compared as a whole."""
    battle_prompts: str | None = None
    """A battle prompt file of ColossalEval, used as it is."""
    seed: int = 0
    """Seed of every random choice."""

    def asked(self, context: RequestContext) -> tuple[Judge, Task, Sequence[str]]:
        """The judge, and the task and metrics that it is asked about."""
        task = read_task(self.task)
        for name in self.metrics:
            one_of("metric", name, task.metric_names, "--metric")
        if self.model.startswith(RECORDED):
            raise InputError(
                f"model '{self.model}': compares no further texts; its comparisons: dhp battle --recorded"
            )
        (judge,) = find_judges(self.model, self.protocol, self.settings, context, seed=self.seed)
        if self.battle_prompts is not None:
            judge = self._prompted(judge, Path(self.battle_prompts))
        return judge, task, self.metrics or (OVERALL,)

    def _prompted(self, judge: Judge, battle_prompts: Path) -> Judge:
        """The judge, asked by a battle prompt file if it is a language model."""
        if self.protocol.final or self.metrics or self.protocol.answer != "two-scores":
            raise InputError(
                "--battle-prompts: asks for two scores as a whole; allowed: --protocol battle without "
                "--metric"
            )
        prompts = read_battle_prompts(battle_prompts)
        if not isinstance(judge, LlmJudge):
            return judge
        return LlmJudge(judge.cached_model, replace(judge.builder, pair_prompts=prompts))


def fought(spec: BattleSpec, context: RequestContext) -> Battle:
    """The battle; raises `Waiting` if verdicts come by a filler."""
    judge, task, metrics = spec.asked(context)
    with progress_shown("verdicts") as show:
        return run_battle(judge, spec.systems, task, metrics, seed=spec.seed, progress=show)


def battle_estimate(spec: BattleSpec, context: RequestContext) -> list[Part]:
    """What the battle would take."""
    judge, task, metrics = spec.asked(context)
    if not isinstance(judge, LlmJudge):
        return estimates_shown([])
    names = " against ".join(spec.systems)
    requests = judge.builder.pair_requests(make_pairs(spec.systems), task, metrics)
    named = judge.protocol, names
    short = partial(judge.short_request, task=task)
    estimates = [estimate_requests(judge.cached_model, *named, requests, "verdicts", short=short)]
    final = "plus final verdicts on contradicting pairs: at most as many calls again"
    return [*estimates_shown(estimates), *([final] if spec.protocol.final else [])]


FILES = ("verdicts.jsonl", "report.html", "battle.json")


def write_battle(battle: Battle, folder: OutputFolder, within: str = "") -> None:
    """Write the `FILES` of a battle, each whole or not at all; `within` starts their names."""
    folder.write(f"{within}verdicts.jsonl", map(json_line, battle.verdict_lines()))
    folder.write(f"{within}report.html", [battle_page(battle)])
    folder.write(f"{within}battle.json", [indented_json(battle.to_json())])


def fight(spec: BattleSpec) -> Battle:
    """The battle, once the filler of its settings has all replies."""
    return spec.settings.filled(partial(fought, spec))


def warn_of_missing(battle: Battle) -> None:
    """Say why many answers hold no verdict; raises `StoppedEarly` if most hold none."""
    counts = Counter[str](verdict.status for verdict in battle.verdicts)
    failures = Counter(verdict.raw or "" for verdict in battle.verdicts if verdict.status == "failed")
    line = on_missing(f"{battle.model} ({battle.protocol})", counts, failures)
    if line:
        logging.getLogger("dhp").warning("%s", line)


def battle_printout(battle: Battle, folder: OutputFolder | None) -> Printout:
    """The battle by itself, also written to the folder if there is one."""
    parts = battle_parts(battle)
    if folder:
        write_battle(battle, folder)
        parts += ["", f"written to {folder.path}: battle.json, verdicts.jsonl, report.html"]
    return Printout(parts, battle.to_json())


def battle_parts(battle: Battle) -> list[Part]:
    """Tables of the contests, of their categories, and of the strengths; and what is left out."""
    parts: list[Part] = []
    for table in battle_tables(battle):
        parts += ["", table] if parts else [table]
    for c in battle.contests:
        if c.figures.invalid:
            reasons = ", ".join(sorted({o.reason or "" for o in c.outcomes if o.score is None}))
            parts.append(
                f"note: {c.first} against {c.second}: {c.figures.invalid} pairs without a verdict in both "
                f"orders ({reasons}) are left out"
            )
    return parts


def battle_tables(battle: Battle) -> list[Table[Any]]:
    """The contests, those by category, and the strengths."""
    title = f"{battle.model}  ·  {battle.protocol}  ·  the first system against the second"
    tables: list[Table[Any]] = [Table(title, _contest_columns(_METRIC), [*map(_whole, battle.contests)])]
    of_categories = [each for contest in battle.contests for each in _by_category(contest)]
    if of_categories:
        tables.append(Table("by category", _contest_columns(_CATEGORY), of_categories))
    if battle.strengths:
        tables.append(Table("Bradley-Terry", _STRENGTHS, battle.strengths))
    return tables


@dataclass(frozen=True, slots=True)
class _Fought:
    """One row of a table of contests."""

    contest: Contest
    category: str
    """Empty for all categories together."""
    figures: PairFigures


def _whole(contest: Contest) -> _Fought:
    return _Fought(contest, "", contest.figures)


def _by_category(contest: Contest) -> list[_Fought]:
    return [_Fought(contest, name, figures) for name, figures in contest.by_category.items()]


def _flips(figures: PairFigures) -> str:
    """How many verdicts flip with the order, and how many of these go to the text shown first."""
    bias = figures.bias
    if bias is None:
        return "–"
    first = "" if bias.toward_first is None else f", {bias.toward_first:.0%} to the first"
    return f"{bias.share:.0%} [{percents(bias.ci)}]{first}"


_METRIC = Column[_Fought]("metric", lambda row: row.contest.metric, right=False)
_CATEGORY = Column[_Fought]("category", lambda row: row.category, right=False)
_SHARE = Column[Share](
    "share", lambda share: share.value, percent, ends=lambda share: share.ci, limits_form=percents_in_brackets
)
_FIGURES: tuple[Column[PairFigures], ...] = (
    Column("won", lambda figures: figures.wins),
    Column("lost", lambda figures: figures.losses),
    Column("tied", lambda figures: figures.ties),
    Column("invalid", lambda figures: figures.invalid, help="pairs without a verdict in both orders"),
    replace(_SHARE, heading="win rate", help="ties count half").on(lambda figures: figures.win_rate),
    replace(_SHARE, heading="without ties").on(lambda figures: figures.win_rate_without_ties),
    Column("p", lambda figures: figures.p, lambda p: f"{p:.3g}", "two-sided exact sign-flip test"),
    Column("flips", lambda figures: figures.bias and figures.bias.share, words=_flips),
)
_STRENGTHS: tuple[Column[Strength], ...] = (
    Column("system", lambda each: each.system, names=True, right=False),
    Column("strength", lambda each: each.value, figure, "log odds"),
    Column("95 %", lambda each: each.ci and each.ci[0], words=lambda each: between(each.ci)),
)


def _contest_columns(name: Column[_Fought]) -> list[Column[_Fought]]:
    """Two systems, a metric or category, and the figures of the first against the second."""
    return [
        Column("first", lambda row: row.contest.first, names=True, right=False),
        Column("second", lambda row: row.contest.second, right=False),
        name,
        *(column.on(lambda row: row.figures) for column in _FIGURES),
    ]
