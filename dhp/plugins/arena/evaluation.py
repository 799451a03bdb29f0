"""Evaluation of answers by category: input, judges, means, intervals, page."""

import json
import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from dhp.cli.language_models import estimates_shown
from dhp.cli.protocol_options import AnswerChanges, ProtocolChanges
from dhp.content.catalog import override, read_pairwise, read_wording
from dhp.core.checks import checked
from dhp.core.errors import InputError, Waiting
from dhp.core.options import option
from dhp.core.records import Candidate, Rating
from dhp.core.specs import Language, Scale, Task
from dhp.judge.api import Judge
from dhp.judge.factory import find_judges
from dhp.llm.cached_model import RequestContext
from dhp.llm.estimate import estimate_requests
from dhp.llm.settings import ModelSettings
from dhp.plugins.arena.battle import (
    Battle,
    BattleSpec,
    Systems,
    battle_estimate,
    battle_tables,
    fought,
    read_systems,
    shown_contests,
    win_chart,
)
from dhp.plugins.arena.category_judge import CORRECTNESS, evaluation_judge, written_steps
from dhp.plugins.arena.content import evaluation_protocol
from dhp.plugins.arena.input import (
    OTHER,
    Answer,
    CategoryPlan,
    EvaluationPlan,
    check_match,
    read_answers,
    read_plan,
)
from dhp.report.charts import COLOURS, drawn
from dhp.report.document import Column, Part, Table, filled
from dhp.report.labels import between, figure
from dhp.report.web import page
from dhp.stats.influences import mean_influences, student_interval

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

STEPS = ("written", "auto")
"""Evaluation steps: those written down, which is the default, or by the model for metrics that lack them."""


@dataclass(frozen=True)
class EvaluationFiles:
    """What is evaluated; files in ColossalEval's form."""

    config: str | None = option(
        "Categories and metrics; default: all bundled ones.", default=None, metavar="FILE"
    )
    prompts: str | None = option(
        "Evaluation prompts; default: the bundled ones.", default=None, metavar="FILE"
    )
    targets: str | None = option("Questions, and good answers to them.", default=None, metavar="FILE")
    answers: tuple[str, ...] = option(
        "Answers of one model; may be repeated.", default=(), metavar="[MODEL=]FILE", repeatable=True
    )


@checked(name="options")
@dataclass(frozen=True)
class EvaluationOptions:
    """How answers are judged."""

    with_reference: Literal["one-prompt", "second-turn"] | None = option(
        "Show the judge the target answer, at once or after its first answer.", default=None
    )
    all_metrics: bool = option("Also metrics that the config leaves out.", default=False)


def content_language(changes: AnswerChanges) -> Language:
    """The language of bundled content; raises `InputError` if there is none in it."""
    match changes.language:
        case None | "en":
            return "en"
        case "zh":
            return "zh"
    raise InputError(f"--language '{changes.language}': allowed: en, zh")


SCHEMA = "dhp.evaluation/1"
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class EvaluatedText:
    """One answer's score by one metric: the mean over samples."""

    example: str
    score: float
    raw: str | None
    """The judge's first words on it."""


@dataclass(frozen=True, slots=True)
class EvaluatedCell:
    """One model's answers of one category by one metric."""

    model: str
    category: str
    metric: str
    """Name of the metric in the configuration."""
    kind: str
    """Kind of the metric, `judge` or `classical`."""
    scale: tuple[float, float]
    n: int
    """Answers with a score."""
    unread: Mapping[str, int]
    """Why answers have no score -> how many; they are not averaged in."""
    mean: float | None
    ci: tuple[float, float] | None
    """95 % confidence interval by Student's t over answers, within the scale; None with fewer than two."""
    best: Sequence[EvaluatedText]
    worst: Sequence[EvaluatedText]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All cells of an evaluation."""

    judge: str
    protocol: str
    settings: Mapping[str, object]
    """Category -> the judge's settings there."""
    cells: Sequence[EvaluatedCell]
    usage: Mapping[str, int]
    cost: float | None

    def to_json(self) -> dict[str, Any]:
        """The content of `evaluation.json`."""
        return {
            "schema": SCHEMA,
            "judge": {"model": self.judge, "protocol": self.protocol, "settings": dict(self.settings)},
            "results": [asdict(cell) for cell in self.cells],
            "usage": dict(self.usage),
            "cost": self.cost,
        }

    def rows(self) -> list[dict[str, object]]:
        """One row per model, category and metric."""
        return [
            {
                "model": c.model,
                "category": c.category,
                "metric": c.metric,
                "kind": c.kind,
                "n": c.n,
                "unread": sum(c.unread.values()),
                "mean": c.mean,
                "low": c.ci and c.ci[0],
                "high": c.ci and c.ci[1],
            }
            for c in self.cells
        ]


def evaluated_cells(
    ratings: Iterable[Rating],
    category: str,
    metrics: Mapping[str, tuple[str, Scale]],
    models: Sequence[str],
    kind: str = "judge",
) -> list[EvaluatedCell]:
    """The cells of one category.

    The variant of a rating is the model that answered. `metrics` has the name in ratings -> the name to show,
    and the scale; `kind` is `judge` or `classical`.
    """
    by_cell: dict[tuple[str, str], list[Rating]] = defaultdict(list)
    for rating in ratings:
        by_cell[rating.variant, rating.metric].append(rating)
    return [
        _cell(model, category, label, kind, scale, by_cell[model, name])
        for model in models
        for name, (label, scale) in metrics.items()
    ]


def _cell(
    model: str, category: str, metric: str, kind: str, scale: Scale, ratings: Sequence[Rating]
) -> EvaluatedCell:
    by_text: dict[str, list[Rating]] = defaultdict(list)
    for rating in ratings:
        by_text[rating.example].append(rating)
    texts, unread = [], Counter[str]()
    for example, of_text in by_text.items():
        scores = [r.score for r in of_text if r.score is not None]
        if scores:
            answer = next(r.raw for r in of_text if r.score is not None)
            texts.append(EvaluatedText(example, round(fmean(scores), 10), answer))
        else:
            unread[str(of_text[0].status)] += 1
    ordered = sorted(texts, key=lambda t: (-t.score, t.example))
    return EvaluatedCell(
        model,
        category,
        metric,
        kind,
        (scale.min, scale.max),
        len(texts),
        dict(unread),
        fmean(t.score for t in texts) if texts else None,
        mean_interval([t.score for t in texts], scale),
        ordered[:_SHOWN],
        sorted(texts, key=lambda t: (t.score, t.example))[:_SHOWN],
    )


def mean_interval(scores: Sequence[float], scale: Scale | None = None) -> tuple[float, float] | None:
    """The 95 % interval of a mean by Student's t, within any scale; None with fewer than two scores."""
    if len(scores) < 2:
        return None
    low, high = map(float, student_interval(mean_influences(scores)))
    return (low, high) if scale is None else (max(scale.min, low), min(scale.max, high))


_NAMED = 20  # questions in a note


def _note_categories(plans: Sequence[CategoryPlan], answers: Sequence[Answer]) -> None:
    """Say which questions are asked by the prompt of `Other`, and which are not evaluated at all."""
    log, planned = logging.getLogger("dhp"), {plan.name: plan for plan in plans}
    questions: dict[str, list[str]] = {}
    for answer in answers:
        questions.setdefault(answer.category, []).append(answer.id)
    for category, ids in questions.items():
        shown = ", ".join(ids[:_NAMED]) + (f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else "")
        if category not in planned:
            log.warning(
                "category '%s' has no metrics: left out are questions %s", category or "(none)", shown
            )
        elif planned[category].fallback:
            log.warning("category '%s' has no prompt: by that of '%s' questions %s", category, OTHER, shown)


@dataclass(frozen=True)
class Work:
    """Everything that an evaluation needs."""

    options: EvaluationOptions
    changes: ProtocolChanges
    contest: BattleSpec
    """The battle of the models that answered: the judge, its settings and the seed hold for all."""
    context: RequestContext
    plan: EvaluationPlan
    systems: Systems
    targets: Mapping[str, str]
    """Question -> the target answer; without those that are empty."""
    asked: Judge
    """The judge by name; a language model is asked in ways of its own."""

    @classmethod
    def prepared(
        cls,
        files: EvaluationFiles,
        options: EvaluationOptions,
        changes: ProtocolChanges,
        model: str,
        settings: ModelSettings,
        context: RequestContext,
        *,
        battle_prompts: str | None,
        seed: int,
    ) -> "Work":
        """The files read and held against each other; raises `InputError` for any fault in them."""
        plan = read_plan(
            Path(files.config) if files.config else None,
            Path(files.prompts) if files.prompts else None,
            language=content_language(changes),
            all_metrics=options.all_metrics,
            steps=changes.steps or STEPS[0],
        )
        systems = read_systems(files.answers)
        name, first = next(iter(systems.items()))
        target_answers = first
        if files.targets:
            target_answers = read_answers(Path(files.targets), answered=False)
            check_match({files.targets: target_answers, name: first})
        targets = {a.id: a.target for a in target_answers if a.target}
        planned = [c.name for c in plan.categories]
        if not any(a.category in planned for a in first):
            raise InputError(
                f"answers of '{name}': no answer belongs to the categories {', '.join(planned)}; found: "
                f"{', '.join(sorted({a.category or '(none)' for a in first}))}"
            )
        wanted = [a for a in first if a.category in planned]
        _note_categories(plan.categories, first)
        if options.with_reference and (lacking := [a.id for a in wanted if a.id not in targets]):
            where = files.targets or f"answers of '{name}'"
            raise InputError(f"{where}: id '{lacking[0]}' has no target, which --with-reference shows")
        (asked,) = find_judges(model, "dhp", settings, context, seed=seed)
        contest = BattleSpec(
            systems={n: [a for a in answers if a.category in planned] for n, answers in systems.items()},
            model=model,
            protocol=read_pairwise("battle", language=plan.language, ask_again=False),  # as published
            settings=settings,
            battle_prompts=battle_prompts,
            seed=seed,
        )
        return cls(options, changes, contest, context, plan, systems, targets, asked)

    def texts(self, category: str) -> list[Candidate]:
        """The answers of a category, model by model."""
        return [
            Candidate(
                a.id,
                name,
                a.output,
                a.question,
                references=(self.targets[a.id],) if a.id in self.targets else (),
            )
            for name, answers in self.systems.items()
            for a in answers
            if a.category == category
        ]

    def judges(self, *, dry: bool = False) -> Iterator[tuple[CategoryPlan, Judge]]:
        """The judge of each category that has answers and metrics of the judge."""
        model, options = self.asked.cached_model, self.options
        changes = self.changes.values_with({}) | {"language": self.plan.language}
        if self.changes.extraction not in (None, "parse"):
            changes["answer"] = "score-only"
        protocol = override(evaluation_protocol(), **changes)
        for plan in self.plan.categories:
            if plan.task.metric_names == ("none",) or not self.texts(plan.name):
                continue
            if model is None:
                yield plan, self.asked
                continue
            try:
                templates = self._with_steps(plan, dry=dry)
            except Waiting:  # those of the other categories are to be collected too
                continue
            for task in self._tasks(plan):
                judge = evaluation_judge(
                    model,
                    protocol,
                    read_wording(self.plan.language),
                    task,
                    templates,
                    self.plan.content,
                    options.with_reference or "none",
                    seed=self.contest.seed if self.contest.settings.send_seed else None,
                )
                yield replace(plan, task=task), judge

    def _tasks(self, plan: CategoryPlan) -> list[Task]:
        """The category's task; correctness apart if the prompt calls the target the correct answer."""
        metrics = plan.task.metrics
        if plan.templates is not None or self.options.with_reference != "one-prompt":
            return [plan.task]
        parts = [[m for m in metrics if (m.name == CORRECTNESS) == alone] for alone in (False, True)]
        return [plan.task.model_copy(update={"metrics": part}) for part in parts if part]

    def _with_steps(self, plan: CategoryPlan, *, dry: bool) -> Mapping[str, str] | None:
        """The templates, with the evaluation steps that the model writes if there are none."""
        model = self.asked.cached_model
        if not plan.lacking or plan.templates is None or model is None:
            return plan.templates
        definitions = {m.name: m.definition for m in plan.task.metrics if m.name in plan.lacking}
        steps = {} if dry else written_steps(model, self.plan.content, plan.name, definitions)
        plain = {name: text.replace("{{", "{").replace("}}", "}") for name, text in steps.items()}
        return {k: text.replace("{{steps}}", plain.get(k, "")) for k, text in plan.templates.items()}

    def estimate(self) -> list[Part]:
        """What it would take."""
        estimates = []
        for plan, judge in self.judges(dry=True):
            if judge.cached_model:
                requests = judge.requests(self.texts(plan.name), plan.task)
                short = partial(judge.short_request, task=plan.task)
                named = judge.protocol, plan.name
                estimates.append(estimate_requests(judge.cached_model, *named, requests, short=short))
        parts = estimates_shown(estimates)
        if self.options.with_reference == "second-turn":
            parts.append("plus second turns: as many calls again, with longer prompts")
        return [*parts, *(battle_estimate(self.contest, self.context) if len(self.systems) > 1 else [])]

    def battle(self) -> Battle | None:
        """The battle of two models or more; None for one."""
        return fought(self.contest, self.context) if len(self.systems) > 1 else None


_ASSETS = Path(__file__).parent / "assets"

_COLOURS = ("d", "ew", "yes", "no", "heat", "weak")


@dataclass(frozen=True, slots=True)
class _Section:
    """A category on the page."""

    name: str
    judged: Sequence[EvaluatedCell]
    """The cells whose metrics the judge scores."""
    table: Table[EvaluatedCell]
    chart: "Markup | None"


_CATEGORY = Column[EvaluatedCell]("category", lambda cell: cell.category, names=True, right=False)
_METRIC = Column[EvaluatedCell]("metric", lambda cell: cell.metric, names=True, right=False)
_MODEL = Column[EvaluatedCell]("model", lambda cell: cell.model, right=False)
_FIGURES: tuple[Column[EvaluatedCell], ...] = (
    Column("n", lambda cell: cell.n, help="answers with a score"),
    Column("mean", lambda cell: cell.mean, figure),
    Column("95 %", lambda cell: cell.ci and cell.ci[0], words=lambda cell: between(cell.ci)),
    Column(
        "unread",
        lambda cell: sum(cell.unread.values()),
        help="answers without a readable score, which are not averaged in",
        extra=lambda cell: {"strong": bool(cell.unread)},
    ),
)


def _examples(texts: Sequence[EvaluatedText]) -> str:
    return ", ".join(text.example for text in texts)


def _why_unread(cell: EvaluatedCell) -> str | None:
    reasons = [f"{count} {why.replace('_', ' ')}" for why, count in cell.unread.items()]
    return ", ".join(reasons) or None


def cells_table(evaluation: Evaluation) -> Table[EvaluatedCell]:
    """A row for each category, metric and model."""
    title = f"{evaluation.judge}  ·  {evaluation.protocol}  ·  answers by category and metric"
    best = Column[EvaluatedCell]("best", lambda cell: _examples(cell.best))
    worst = Column[EvaluatedCell]("worst", lambda cell: _examples(cell.worst))
    return Table(title, [_CATEGORY, _METRIC, _MODEL, *_FIGURES, best, worst], evaluation.cells)


def category_table(category: str, cells: Sequence[EvaluatedCell]) -> Table[EvaluatedCell]:
    """A row for each metric and model of a category, with the reasons why answers are unread."""
    by = Column[EvaluatedCell]("by", lambda cell: cell.kind, right=False)
    why = Column[EvaluatedCell](
        "why unread", _why_unread, words=lambda cell: _why_unread(cell) or "", right=False, optional=True
    )
    columns = filled([_METRIC, _MODEL, by, *_FIGURES, why], cells)
    return Table(category, columns, cells, css="overview", titled=False)


def evaluation_page(
    evaluation: Evaluation, texts: Mapping[tuple[str, str], Candidate], battle: Battle | None = None
) -> str:
    """The page of an evaluation: one file that needs no network, every text in it escaped.

    `texts`: (question, model) -> the answer.
    """
    names = dict.fromkeys(cell.category for cell in evaluation.cells)
    sections = []
    for name in names:
        cells = [cell for cell in evaluation.cells if cell.category == name]
        judged = [cell for cell in cells if cell.kind == "judge"]
        chart = scores_chart(name, judged) if judged else None
        sections.append(_Section(name, judged, category_table(name, cells), chart))
    return page(
        _ASSETS / "evaluation.html",
        styles=("report.css", _ASSETS / "battle.css"),
        scripts=("tables.js",),
        evaluation=evaluation,
        sections=sections,
        texts=texts,
        battle=battle,
        contests=shown_contests(battle) if battle else [],
        tables=battle_tables(battle) if battle else [],
        battle_chart=win_chart(battle.contests) if battle else None,
        settings=json.dumps(dict(evaluation.settings), ensure_ascii=False, indent=1),
    )


def scores_chart(category: str, cells: Sequence[EvaluatedCell]) -> "Markup":
    """Mean scores of one category with intervals: a group of bars per metric, a bar per model."""
    metrics = list(dict.fromkeys(cell.metric for cell in cells))
    models = list(dict.fromkeys(cell.model for cell in cells))
    height = 0.8 / len(models)

    def draw(canvas: "Figure") -> None:
        axes = canvas.subplots()
        for number, model in enumerate(models):
            for cell in (c for c in cells if c.model == model):
                row = metrics.index(cell.metric) + (number - (len(models) - 1) / 2) * height
                label = model if cell.metric == metrics[0] else None
                colour = COLOURS[_COLOURS[number % len(_COLOURS)]]
                low = cell.scale[0]
                axes.barh(
                    row, (cell.mean or low) - low, left=low, height=0.9 * height, color=colour, label=label
                )
                if cell.ci:
                    for shade, width in (
                        ("page", 3.0),
                        ("ink", 1.1),
                    ):  # an outline, so that it shows on a bar
                        axes.plot(cell.ci, (row, row), "|-", color=COLOURS[shade], lw=width, ms=4, mew=width)
        axes.set_yticks(range(len(metrics)), metrics)
        axes.set_ylim(len(metrics) - 0.4, -0.6)
        axes.set_xlim(min(c.scale[0] for c in cells), max(c.scale[1] for c in cells))
        axes.tick_params(axis="y", length=0, labelcolor=COLOURS["ink"])
        axes.grid(axis="x", linewidth=0.6)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=4, frameon=False)

    summary = "; ".join(f"{c.metric}, {c.model}: {figure(c.mean)}" for c in cells)
    rows = len(metrics) * (0.3 + 0.16 * len(models))
    return drawn(draw, 8.6, 0.9 + rows, f"Mean scores of {category}: {summary}.")
