"""Input of `dhp evaluate`: files, checks, and the judges of the categories."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dhp.cli.estimates import print_estimates
from dhp.cli.output import output_console
from dhp.content.protocols import evaluation_protocol, override, read_pairwise, read_wording
from dhp.core.errors import InputError, Waiting
from dhp.core.records import Candidate
from dhp.core.specs import Task
from dhp.judge.api import Judge
from dhp.judge.factory import find_judges
from dhp.llm.cached_model import RequestContext
from dhp.llm.estimate import estimate_requests
from dhp.llm.settings import ModelSettings
from dhp.loaders.answers import Answer, check_match, read_answers
from dhp.loaders.evaluation import OTHER, CategoryPlan, EvaluationPlan, read_plan
from dhp.plugins.arena.battle import Battle
from dhp.plugins.arena.battle_work import Systems, fought, read_systems
from dhp.plugins.arena.category_judge import CORRECTNESS, evaluation_judge, written_steps
from dhp.plugins.arena.evaluation_options import EvaluationFiles, EvaluationOptions
from dhp.plugins.arena.pair_options import Contest

_SHOWN = 20  # questions in a note


def _note_categories(plans: Sequence[CategoryPlan], answers: Sequence[Answer]) -> None:
    """Say which questions are asked by the prompt of `Other`, and which are not evaluated at all."""
    log, planned = logging.getLogger("dhp"), {plan.name: plan for plan in plans}
    questions: dict[str, list[str]] = {}
    for answer in answers:
        questions.setdefault(answer.category, []).append(answer.id)
    for category, ids in questions.items():
        shown = ", ".join(ids[:_SHOWN]) + (f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else "")
        if category not in planned:
            log.warning(
                "category '%s' has no metrics: left out are questions %s", category or "(none)", shown
            )
        elif planned[category].fallback:
            log.warning("category '%s' has no prompt: by that of '%s' questions %s", category, OTHER, shown)


@dataclass(frozen=True)
class Work:
    """Everything that an evaluation needs."""

    files: EvaluationFiles
    options: EvaluationOptions
    model: str
    settings: ModelSettings
    context: RequestContext
    plan: EvaluationPlan
    systems: Systems
    targets: Mapping[str, str]
    """Question -> the target answer; without those that are empty."""
    asked: Judge
    """The judge by name; a language model is asked in ways of its own."""

    @classmethod
    def prepared(
        cls, files: EvaluationFiles, options: EvaluationOptions, model: str, settings: ModelSettings
    ) -> "Work":
        """The files read and held against each other; raises `InputError` for any fault in them."""
        plan = read_plan(
            Path(files.config) if files.config else None,
            Path(files.prompts) if files.prompts else None,
            language=files.language,  # type: ignore[arg-type]
            all_metrics=options.all_metrics,
            steps=options.steps,
        )
        systems = read_systems(files.answers)
        name, first = next(iter(systems.items()))
        given = first
        if files.targets:
            given = read_answers(Path(files.targets), answered=False)
            check_match({files.targets: given, name: first})
        targets = {a.id: a.target for a in given if a.target}
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
        context = settings.context()
        (asked,) = find_judges(model, "dhp", settings, context, seed=options.seed)
        return cls(files, options, model, settings, context, plan, systems, targets, asked)

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
        changes: dict[str, object] = {"language": self.plan.language}
        if options.samples is not None:
            changes["samples"] = options.samples
        if options.temperature is not None:
            changes["temperature"] = options.temperature
        if options.extraction not in (None, "parse"):
            changes |= {"extraction": options.extraction, "answer": "score-only"}
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
                    options.with_reference or "none",  # type: ignore[arg-type]
                    seed=options.seed if self.settings.send_seed else None,
                )
                yield replace(plan, task=task), judge

    def _tasks(self, plan: CategoryPlan) -> list[Task]:
        """The category's task; correctness apart where the prompt calls the target the correct answer."""
        metrics = plan.task.metrics
        if plan.templates is not None or self.options.with_reference != "one-prompt":
            return [plan.task]
        parts = [[m for m in metrics if (m.name == CORRECTNESS) == alone] for alone in (False, True)]
        return [plan.task.model_copy(update={"metrics": part}) for part in parts if part]

    def _with_steps(self, plan: CategoryPlan, *, dry: bool) -> Mapping[str, str] | None:
        """The templates, with the evaluation steps that the model writes where there are none."""
        model = self.asked.cached_model
        if not plan.lacking or plan.templates is None or model is None:
            return plan.templates
        definitions = {m.name: m.definition for m in plan.task.metrics if m.name in plan.lacking}
        steps = {} if dry else written_steps(model, self.plan.content, plan.name, definitions)
        plain = {name: text.replace("{{", "{").replace("}}", "}") for name, text in steps.items()}
        return {k: text.replace("{{steps}}", plain.get(k, "")) for k, text in plan.templates.items()}

    def print_estimates(self) -> None:
        """What it would take; second turns cost as much again."""
        found = []
        for plan, judge in self.judges(dry=True):
            if judge.cached_model:
                requests = judge.requests(self.texts(plan.name), plan.task)
                found.append(estimate_requests(judge.cached_model, judge.protocol, plan.name, requests))
        print_estimates(found, output_console())
        if self.options.with_reference == "second-turn":
            print("plus second turns: as many calls again, with longer prompts")
        if len(self.systems) > 1:
            self.battle(dry_run=True)

    def battle(self, *, dry_run: bool = False) -> Battle | None:
        """The battle of two models or more; None for one."""
        if len(self.systems) < 2:
            return None
        contest = Contest(battle_prompts=self.files.battle_prompts, seed=self.options.seed)
        protocol = read_pairwise("battle", language=self.plan.language)
        known = {c.name for c in self.plan.categories}
        systems = {n: [a for a in answers if a.category in known] for n, answers in self.systems.items()}
        return fought(
            systems, self.model, contest, protocol, self.settings, dry_run=dry_run, context=self.context
        )
