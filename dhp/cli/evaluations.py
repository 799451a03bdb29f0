"""What `dhp evaluate` does: its files read, judges made, answers scored, results printed and written."""

import json as json_
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from dhp.cli.battles import Systems, fought, output_folder, print_battle, read_systems, write_battle
from dhp.cli.estimates import print_estimates
from dhp.cli.evaluation_options import EvaluationFiles, EvaluationOptions
from dhp.cli.output import output_console
from dhp.cli.pair_options import ContestOptions
from dhp.content.evaluation import evaluation_protocol
from dhp.content.pairwise import read_pairwise
from dhp.content.protocols import override, read_wording
from dhp.core.errors import InputError
from dhp.core.files import write_whole
from dhp.core.records import Candidate, Example, Rating
from dhp.core.seeding import text_hash
from dhp.core.specs import Task
from dhp.core.terminal_progress import progress_shown
from dhp.core.text import printable, spreadsheet_safe
from dhp.judge.api import Judge
from dhp.judge.check import checked_ratings
from dhp.judge.evaluation import CORRECTNESS, evaluation_judge, written_steps
from dhp.judge.factory import find_judge, find_judges
from dhp.llm.batch.batch import Waiting
from dhp.llm.cached_model import RequestContext
from dhp.llm.estimate import estimate_requests
from dhp.llm.settings import ModelSettings
from dhp.loaders.answers import check_match, read_answers
from dhp.loaders.evaluation import CategoryPlan, EvaluationPlan, read_plan
from dhp.report.labels import between, figure
from dhp.report.tables import plain_table
from dhp.runs.battle import Battle
from dhp.runs.evaluation import EvaluatedCell, Evaluation, evaluated_cells

_CLASSICAL: Mapping[str, tuple[str, ...]] = {
    "BLEU": ("bleu",),
    "ROUGE": ("rouge1", "rouge2", "rougeL"),
    "CHRF": ("chrf",),
}
"""ColossalEval's name -> ours; others are not computed here."""


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
                f"answers of '{name}': no answer is of the categories {', '.join(planned)}; found: "
                f"{', '.join(sorted({a.category or '(none)' for a in first}))}"
            )
        wanted = [a for a in first if a.category in planned]
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
            except Waiting:  # the requests of the other categories belong into the same batch
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
        """The category's task; correctness apart where the judge is told that it sees the correct answer."""
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
            print("second turns come on top: as many calls again, with longer prompts")
        if len(self.systems) > 1:
            self.battle(dry_run=True)

    def battle(self, *, dry_run: bool = False) -> Battle | None:
        """The battle of two models or more; None for one."""
        if len(self.systems) < 2:
            return None
        contest = ContestOptions(battle_prompts=self.files.battle_prompts, seed=self.options.seed)
        protocol = read_pairwise("battle", language=self.plan.language)
        known = {c.name for c in self.plan.categories}
        systems = {n: [a for a in answers if a.category in known] for n, answers in self.systems.items()}
        return fought(
            systems, self.model, contest, protocol, self.settings, dry_run=dry_run, context=self.context
        )


def evaluated(work: Work) -> tuple[Work, Evaluation, list[Rating], Battle | None]:
    """The work itself, the scores of all answers, and the battle."""
    model = work.asked.cached_model
    if model:
        model.run = text_hash(f"{work.model}{work.plan}{work.systems}")
    cells: list[EvaluatedCell] = []
    kept: list[Rating] = []
    protocols: list[str] = []
    settings: dict[str, dict[str, object]] = {}
    for plan, judge in work.judges():
        texts = work.texts(plan.name)
        judge.prepare(texts, task := judge.own_task(plan.task))
        ratings = []
        total = len(texts) * len(task.metrics) * judge.samples
        with suppress(Waiting), progress_shown("ratings") as show:
            for rating in checked_ratings(judge, texts, task):
                ratings.append(rating)
                show(f"{judge.model} on {plan.name}", len(ratings), max(total, len(ratings)), "")
        kept += ratings
        protocols.append(judge.protocol.partition("@")[0])
        settings.setdefault(plan.name, {"protocol": judge.protocol, **judge.settings})
        metrics = {m.name: (m.label, m.scale) for m in task.metrics}
        cells += evaluated_cells(ratings, plan.name, metrics, list(work.systems))
    for plan in work.plan.categories:
        cells += _classical(work, plan)
    battle = work.battle()
    if work.context.batch:
        work.context.batch.finish()
    usage = model.usage if model else None
    evaluation = Evaluation(
        work.asked.model,
        ", ".join(dict.fromkeys(protocols)),
        settings,
        cells,
        usage.lasting if usage else {},
        usage.cost(model.context.budget.prices) if usage and model else None,
    )
    return work, evaluation, kept, battle


def _classical(work: Work, plan: CategoryPlan) -> Iterator[EvaluatedCell]:
    """The classical metrics that the configuration asks for, where there are targets to compare with."""
    log = logging.getLogger("dhp")
    texts = work.texts(plan.name)
    for name in plan.classical if texts else ():
        if name not in _CLASSICAL:
            known = ", ".join(_CLASSICAL)
            log.warning("%s: metric '%s' is not computed here; those are: %s", plan.name, name, known)
        for ours in _CLASSICAL.get(name, ()):
            judge = find_judge(f"metric/{ours}?against=reference")
            task = judge.own_task(plan.task)
            (metric,) = task.metrics
            ratings = list(checked_ratings(judge, texts, task))
            found = {metric.name: (ours, metric.scale)}
            yield from evaluated_cells(ratings, plan.name, found, list(work.systems), "classical")


def shown(
    work: Work,
    evaluation: Evaluation,
    ratings: Sequence[Rating],
    battle: Battle | None,
    *,
    out: str | None,
    json: bool,
) -> None:
    """Print the results, and write them where `out` says."""
    if folder := output_folder(out, "evaluation.json"):
        _write(work, evaluation, ratings, battle, folder)
    if json:
        found = {**evaluation.to_json(), "battle": battle.to_json() if battle else None}
        print(json_.dumps(found, ensure_ascii=False, indent=1))
        return
    table = plain_table(f"{evaluation.judge}  ·  {evaluation.protocol}  ·  answers by category and metric")
    for heading in ("category", "metric", "model"):
        table.add_column(heading, overflow="fold")
    for heading in ("n", "mean", "95 %", "unread", "best", "worst"):
        table.add_column(heading, justify="right", overflow="fold")
    for c in evaluation.cells:
        best, worst = (", ".join(t.example for t in texts) for texts in (c.best, c.worst))
        figures = (str(c.n), figure(c.mean), between(c.ci), str(sum(c.unread.values())))
        table.add_row(*map(printable, (c.category, c.metric, c.model, *figures, best, worst)))
    output_console().print(table)
    if battle:
        print()
        print_battle(battle)
    if folder:
        print(f"\nwritten to {folder}: evaluation.json, evaluation.csv, ratings.jsonl, report.html")


def _write(
    work: Work, evaluation: Evaluation, ratings: Sequence[Rating], battle: Battle | None, folder: Path
) -> None:
    import csv
    import io

    from dhp.report.evaluation_page import evaluation_page

    if battle:
        write_battle(battle, folder / "battle")
    texts = {(t.example, t.variant): t for c in work.plan.categories for t in work.texts(c.name)}
    lines = io.StringIO()
    writer = csv.DictWriter(lines, list(evaluation.rows()[0]), lineterminator="\n")
    writer.writeheader()
    for row in evaluation.rows():
        writer.writerow({k: spreadsheet_safe(v) if isinstance(v, str) else v for k, v in row.items()})
    rated = (
        {"example": r.example, "model": r.variant, "metric": r.metric, "sample": r.sample, "score": r.score}
        | {"status": r.status, "answer": r.raw}
        for r in ratings
    )
    files = {
        "ratings.jsonl": "".join(json_.dumps(row, ensure_ascii=False) + "\n" for row in rated),
        "evaluation.csv": lines.getvalue(),
        "report.html": evaluation_page(evaluation, texts, battle),
        "evaluation.json": json_.dumps(evaluation.to_json(), ensure_ascii=False, indent=1) + "\n",
    }
    for name, text in files.items():
        write_whole(folder / name, lambda path, text=text: path.write_text(text, encoding="utf-8"))  # type: ignore[misc]


def discern(work: Work, *, json: bool, out: str | None) -> None:
    """Degrade the first model's answers and test whether the judge can tell, asked as in the evaluation."""
    from dhp.analysis.results import Results
    from dhp.content.catalog import read_suite
    from dhp.loaders.dataset import Dataset
    from dhp.report.formats import json_text
    from dhp.report.terminal import print_results
    from dhp.run import run

    name, answers = next(iter(work.systems.items()))
    found = []
    for plan, judge in work.judges():
        own = [a for a in answers if a.category == plan.name]
        examples = tuple(Example(a.id, a.question, a.output) for a in own)
        if work.options.with_reference:
            examples = tuple(replace(e, fields={"reference": work.targets[e.id]}) for e in examples)
        dataset = Dataset(f"{name}/{plan.name}", examples, plan.task, read_suite("general"), examples)
        folder = Path(out) / plan.task.task if out else None
        with progress_shown("ratings") as show:
            found += list(
                run(judge, dataset, settings=work.settings, seed=work.options.seed, out=folder, progress=show)
            )
    results = Results(found)
    print(json_text(results), end="") if json else print_results(results, output_console())
