"""What an evaluation is asked: files read, judges, requests and ratings.

`Work.prepared` reads all files and holds them against each other, before anything is asked. `Work.judges`
then gives the judge of each category, and `Work.battle` lets the models fight.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from dhp.cli.language_models import estimates_shown
from dhp.cli.protocol_options import AnswerChanges, ProtocolChanges
from dhp.content.catalog import override, read_pairwise, read_wording
from dhp.core.checks import Checked
from dhp.core.errors import InputError
from dhp.core.options import option
from dhp.core.records import Candidate
from dhp.core.specs import Language, Task
from dhp.judge.api import Judge
from dhp.judge.factory import find_judges
from dhp.llm.cached_model import RequestContext
from dhp.llm.estimate import estimate_requests
from dhp.llm.settings import ModelSettings
from dhp.plugins.arena.answers import Answer, check_match, read_answers
from dhp.plugins.arena.battle import Battle, Systems
from dhp.plugins.arena.battle_run import BattleSpec, battle_estimate, fought, read_systems
from dhp.plugins.arena.category_judge import CORRECTNESS, evaluation_judge, written_steps
from dhp.plugins.arena.content import evaluation_protocol
from dhp.plugins.arena.plan import AUTO, OTHER, CategoryPlan, EvaluationPlan, read_plan
from dhp.report.document import Part

STEPS = ("written", AUTO)
"""Evaluation steps: those written down, which is the default, or by the model for metrics that lack them."""


@dataclass(frozen=True)
class EvaluationOptions(Checked):
    """What is evaluated, in files of ColossalEval's form, and how answers are judged."""

    parameter = "options"

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
    with_reference: Literal["one-prompt", "second-turn"] | None = option(
        "Show the judge the target answer, at once or after its first answer.", default=None
    )
    all_metrics: bool = option("Also metrics that the config leaves out.", default=False)


def content_language(changes: AnswerChanges) -> Language:
    """The language of bundled content; raises `InputError` for a language without any."""
    if changes.language in (None, "en"):
        return "en"
    if changes.language == "zh":
        return "zh"
    raise InputError(f"--language '{changes.language}': allowed: en, zh")


_NAMED = 20
"""Questions that a note names. Chosen: a few lines of a terminal."""


def _note_categories(plans: Sequence[CategoryPlan], answers: Sequence[Answer]) -> None:
    """Say which questions are asked by the prompt of `Other`, and which are not evaluated at all."""
    log = logging.getLogger("dhp")
    planned = {plan.name: plan for plan in plans}
    questions: dict[str, list[str]] = {}
    for answer in answers:
        questions.setdefault(answer.category, []).append(answer.id)
    for category, ids in questions.items():
        more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
        shown = ", ".join(ids[:_NAMED]) + more
        if category not in planned:
            log.warning(
                "category '%s' has no metrics: left out are questions %s", category or "(none)", shown
            )
        elif planned[category].fallback:
            log.warning("category '%s' has no prompt: by that of '%s' questions %s", category, OTHER, shown)


def _read_targets(file: str | None, name: str, answers: Sequence[Answer]) -> dict[str, str]:
    """Question -> the target answer, of a file of targets, or beside the answers of the system `name`."""
    holders = answers
    if file:
        holders = read_answers(Path(file), answered=False)
        check_match({file: holders, name: answers})
    targets = {}
    for each in holders:
        if each.target:
            targets[each.id] = each.target
    return targets


def _check_planned(name: str, answers: Sequence[Answer], planned: Sequence[str]) -> None:
    """Raise `InputError` if no answer belongs to a planned category."""
    if not _of_categories(answers, planned):
        present = sorted({answer.category or "(none)" for answer in answers})
        raise InputError(
            f"answers of '{name}': no answer belongs to the categories {', '.join(planned)}; found: "
            f"{', '.join(present)}"
        )


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
            Path(options.config) if options.config else None,
            Path(options.prompts) if options.prompts else None,
            language=content_language(changes),
            all_metrics=options.all_metrics,
            steps=changes.steps or STEPS[0],
        )

        # All models answered the same questions, so that what holds of the first one's answers holds of all.
        systems = read_systems(options.answers)
        name, *_ = systems
        first = systems[name]
        targets = _read_targets(options.targets, name, first)
        planned = [category.name for category in plan.categories]
        _check_planned(name, first, planned)
        _note_categories(plan.categories, first)
        if options.with_reference:
            for answer in _of_categories(first, planned):
                if answer.id not in targets:
                    place = options.targets or f"answers of '{name}'"
                    raise InputError(f"{place}: id '{answer.id}' has no target, which --with-reference shows")

        # The protocol only finds the judge: a language model is asked by the prompts of each category.
        (asked,) = find_judges(model, "dhp", settings, context, seed=seed)
        # In the battle, too, only what is evaluated.
        compared = {}
        for system, answers in systems.items():
            compared[system] = _of_categories(answers, planned)
        contest = BattleSpec(
            systems=compared,
            model=model,
            protocol=read_pairwise("battle", language=plan.language, ask_again=False),  # as published
            settings=settings,
            battle_prompts=battle_prompts,
            seed=seed,
        )
        return cls(options, changes, contest, context, plan, systems, targets, asked)

    def texts(self, category: str) -> list[Candidate]:
        """The answers of a category, model by model."""
        texts = []
        for name, answers in self.systems.items():
            for each in _of_categories(answers, [category]):
                references: tuple[str, ...] = ()
                if each.id in self.targets:
                    references = (self.targets[each.id],)
                texts.append(Candidate(each.id, name, each.output, each.question, references=references))
        return texts

    def is_judged(self, plan: CategoryPlan) -> bool:
        """Whether a category has answers, and metrics of the judge."""
        # "none" is the metric of a category that has only classical ones.
        return plan.task.metric_names != ("none",) and bool(self.texts(plan.name))

    def judges(self, *, dry: bool = False) -> Iterator[tuple[CategoryPlan, Judge]]:
        """The judge of each category that has answers and metrics of the judge."""
        model, options = self.asked.cached_model, self.options
        changes = self.changes.values_with({}) | {"language": self.plan.language}
        if self.changes.extraction not in (None, "parse"):
            changes["answer"] = "score-only"  # probabilities are read off the first token: a bare score
        protocol = override(evaluation_protocol(), **changes)
        seed = self.contest.seed if self.contest.settings.send_seed else None
        for plan in self.plan.categories:
            if not self.is_judged(plan):
                continue
            if model is None:  # a judge without prompts: mock, a function, recorded scores
                yield plan, self.asked
                continue
            # Steps that the model is to write come first, as the prompts show them.
            steps: dict[str, str] = {}
            definitions = self._without_steps(plan)
            if definitions and not dry:  # a dry run asks nothing, so its prompts have none
                steps = written_steps(model, self.plan.content, plan.name, definitions)
                if len(steps) < len(definitions):
                    continue  # a filler answers later: this category waits
            templates = _with_steps(plan, steps)
            for task in self._tasks(plan):
                judge = evaluation_judge(
                    model,
                    protocol,
                    read_wording(self.plan.language),
                    task,
                    templates,
                    self.plan.content,
                    options.with_reference or "none",
                    seed=seed,
                )
                yield replace(plan, task=task), judge

    def _tasks(self, plan: CategoryPlan) -> list[Task]:
        """The category's task; correctness apart if the prompt calls the target the correct answer."""
        metrics = plan.task.metrics
        if plan.templates is not None or self.options.with_reference != "one-prompt":
            return [plan.task]
        correctness = [metric for metric in metrics if metric.name == CORRECTNESS]
        others = [metric for metric in metrics if metric.name != CORRECTNESS]
        tasks = []
        for part in (others, correctness):
            if part:
                tasks.append(plan.task.model_copy(update={"metrics": part}))
        return tasks

    def _without_steps(self, plan: CategoryPlan) -> dict[str, str]:
        """Metric -> definition, if its template lacks evaluation steps, which the model writes."""
        if plan.templates is None:
            return {}
        definitions = {}
        for metric in plan.task.metrics:
            if metric.name in plan.lacking:
                definitions[metric.name] = metric.definition
        return definitions

    def estimate(self) -> list[Part]:
        """What it would take."""
        estimates = []
        for plan, judge in self.judges(dry=True):
            if judge.cached_model:
                requests = judge.requests(self.texts(plan.name), plan.task)
                short = partial(judge.short_request, task=plan.task)
                estimate = estimate_requests(
                    judge.cached_model, judge.protocol, plan.name, requests, short=short
                )
                estimates.append(estimate)
        parts = estimates_shown(estimates)
        if self.options.with_reference == "second-turn":
            parts.append("plus second turns: as many calls again, with longer prompts")
        if len(self.systems) > 1:
            parts += battle_estimate(self.contest, self.context)
        return parts

    def battle(self) -> Battle | None:
        """The battle of two models or more; None for one."""
        if len(self.systems) < 2:
            return None
        return fought(self.contest, self.context)


def _of_categories(answers: Sequence[Answer], categories: Sequence[str]) -> list[Answer]:
    return [answer for answer in answers if answer.category in categories]


def _with_steps(plan: CategoryPlan, steps: Mapping[str, str]) -> Mapping[str, str] | None:
    """The templates of a category, with evaluation steps for those that lack them."""
    if not plan.lacking or plan.templates is None:
        return plan.templates
    templates = {}
    for name, text in plan.templates.items():
        # A model's doubled braces would be slots of the template.
        plain = steps.get(name, "").replace("{{", "{").replace("}}", "}")
        templates[name] = text.replace("{{steps}}", plain)
    return templates
