"""`dhp evaluate`: score answers by category and metric, from ColossalEval's files.

`evaluated` rates the answers of each category, adds the classical metrics and lets the models fight; `shown`
prints and writes what it gives. With --discernment `discern` runs the benchmark on the answers instead.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import click

from dhp.cli.command import Command
from dhp.cli.language_models import check_filler
from dhp.cli.options import settings, stated
from dhp.cli.output import JSON, OutputOptions, print_out, say
from dhp.cli.protocol_options import DRY_RUN, SEED, ProtocolChanges, model_option
from dhp.core.errors import InputError, one_of
from dhp.core.files import indented_json, json_line
from dhp.core.progress import progress_shown
from dhp.core.records import Candidate, Example, Rating
from dhp.core.seeding import text_hash
from dhp.core.signature import protocol_name
from dhp.core.specs import Task
from dhp.core.writing import OutputFolder, inner_folder, write_lines
from dhp.judge.api import Judge
from dhp.judge.factory import find_judge
from dhp.judge.ratings import checked_ratings, in_order
from dhp.judge.unreadable import readable
from dhp.llm.cached_model import RequestContext, taken
from dhp.llm.settings import ModelSettings
from dhp.plugins.arena.battle import Battle
from dhp.plugins.arena.battle_command import BATTLE_PROMPTS
from dhp.plugins.arena.battle_outputs import FILES as BATTLE_FILES
from dhp.plugins.arena.battle_outputs import battle_parts, write_battle
from dhp.plugins.arena.evaluation import EvaluatedCell, Evaluation, evaluated_cells
from dhp.plugins.arena.evaluation_page import cells_table
from dhp.plugins.arena.evaluation_work import (
    STEPS,
    EvaluationOptions,
    Work,
    content_language,
)
from dhp.plugins.arena.plan import CategoryPlan
from dhp.report.document import Part
from dhp.report.printout import Printout, text_for_programs
from dhp.runs.writer import RunFolder


@click.command(
    cls=Command,
    common="--model --answers --config --prompts --targets --with-reference --language --save-questions "
    "--discernment --base-url --max-calls --out --json --dry-run",
)
@model_option()
@click.option("--out", metavar="DIR", help="Writes evaluation.json, .csv, ratings, battle and report there.")
@JSON
@DRY_RUN
@click.option(
    "--discernment",
    is_flag=True,
    help="Instead: degrade the first answers and test whether the judge notices.",
)
@click.option("--save-questions", metavar="FILE", help="Only write the bundled example questions.")
@SEED
@BATTLE_PROMPTS
@settings("options", EvaluationOptions)
@settings("changes", ProtocolChanges, only=("language", "steps", "samples", "temperature", "extraction"))
@settings("settings", ModelSettings)
def evaluate(
    model: str | None,
    out: str | None,
    output: OutputOptions,
    dry_run: bool,
    discernment: bool,
    save_questions: str | None,
    seed: int,
    battle_prompts: str | None,
    options: EvaluationOptions,
    changes: ProtocolChanges,
    settings: ModelSettings,
) -> None:
    """Let a judge score answers by category and metric.

    Two models or more also fight each other. Files are those of ColossalEval, unchanged. Without --config and
    --prompts the bundled five categories and ten metrics are used, in English or by --language zh. With
    --steps auto the model writes the evaluation steps that are missing.

    Example: dhp evaluate --config config_en.json --answers m=answers.json --model openai/gpt-4o-mini --out ev
    """
    language = content_language(changes)
    if save_questions:
        from dhp.core.files import read_text
        from dhp.plugins.arena.content import questions_file

        text = read_text(questions_file(language))
        write_lines(Path(save_questions), [text])
        say(f"written to {save_questions}: five questions a category")
        return
    if model is None or not options.answers:
        raise InputError("dhp evaluate: must have --model and --answers, or --save-questions FILE")
    if changes.steps is not None:
        one_of("steps", changes.steps, STEPS, "--steps")
    check_filler(settings, (model,), dry_run=dry_run)

    # Reading is put off until there is a context, as a filler asks for the work more than once.
    def prepared(context: RequestContext) -> Work:
        return Work.prepared(
            options, changes, model, settings, context, battle_prompts=battle_prompts, seed=seed
        )

    if discernment:
        fillers = stated("settings.filler")
        if fillers:
            raise InputError(f"{fillers[0]}: cannot be used with --discernment; dhp benchmark takes it")
        discern(prepared(settings.context()), output, out=out)
    elif dry_run:
        say(*prepared(settings.context()).estimate())
    else:
        folder = None if out is None else OutputFolder(out, "evaluation", FILES)
        if folder:
            # Before the first request, which costs money.
            folder.check_free()
        with folder.claim() if folder else nullcontext():
            made = settings.filled(lambda context: evaluated(prepared(context)))
            shown(*made, folder=folder, output=output)


_CLASSICAL: Mapping[str, tuple[str, ...]] = {
    "BLEU": ("bleu",),
    "ROUGE": ("rouge1", "rouge2", "rougeL"),
    "CHRF": ("chrf",),
}
"""ColossalEval's name -> ours; others are not computed here."""


def evaluated(work: Work) -> tuple[Work, Evaluation, list[Rating], Battle | None]:
    """The work itself, the scores of all answers, and the battle."""
    model = work.asked.cached_model
    if model:
        # Replies that are stored under this name were paid for by this evaluation before it was stopped.
        model.run = text_hash(f"{work.contest.model}{work.plan}{work.systems}")

    # One judge a category, as prompts and metrics differ from one to another.
    cells: list[EvaluatedCell] = []
    kept: list[Rating] = []
    protocols: list[str] = []
    settings: dict[str, dict[str, object]] = {}
    for plan, judge in work.judges():
        texts = work.texts(plan.name)
        task = judge.own_task(plan.task)
        ratings = _rated(judge, texts, task, plan.name)
        if judge.waits:
            continue  # the requests of the other categories are to be collected too

        # Ratings may come in any order; from here on they are in that of the texts.
        ratings = in_order(ratings, texts, task)
        kept += ratings
        protocols.append(protocol_name(judge.protocol))
        # Correctness may have a judge of its own; then the first one stands for the category.
        settings.setdefault(plan.name, {"protocol": judge.protocol, **judge.settings})
        metrics = {}
        for metric in task.metrics:
            metrics[metric.name] = metric.label, metric.scale
        cells += evaluated_cells(ratings, plan.name, metrics, list(work.systems))

    # What needs no model, and the battle, whose requests wait beside those of the categories.
    for plan in work.plan.categories:
        cells += _classical(work, plan)
    battle = work.battle()
    work.context.stop_if_waiting()
    usage, cost = taken(model)
    protocol = ", ".join(dict.fromkeys(protocols))
    evaluation = Evaluation(work.asked.model, protocol, settings, cells, usage, cost)
    return work, evaluation, kept, battle


def _rated(judge: Judge, texts: Sequence[Candidate], task: Task, category: str) -> list[Rating]:
    """The ratings of a category in the order in which they come, with progress shown."""
    judge.prepare(texts, task)
    ratings: list[Rating] = []
    total = len(texts) * len(task.metrics) * judge.samples
    with progress_shown("ratings") as show:
        checked = checked_ratings(judge, texts, task)
        # Stops if the first answers cannot be read.
        for rating in readable(checked, judge, task, f"category '{category}'"):
            ratings.append(rating)
            # A judge may give more ratings than were counted on.
            show(f"{judge.model} on {category}", len(ratings), max(total, len(ratings)), "")
    return ratings


def _classical(work: Work, plan: CategoryPlan) -> Iterator[EvaluatedCell]:
    """The classical metrics that the configuration asks for, if there are targets to compare with."""
    log = logging.getLogger("dhp")
    texts = work.texts(plan.name)
    if not texts:
        return
    for name in plan.classical:
        if name not in _CLASSICAL:
            known = ", ".join(_CLASSICAL)
            log.warning("%s: metric '%s' is not computed here; those are: %s", plan.name, name, known)
        for ours in _CLASSICAL.get(name, ()):
            judge = find_judge(f"metric/{ours}?against=reference")
            task = judge.own_task(plan.task)
            (metric,) = task.metrics
            ratings = list(checked_ratings(judge, texts, task))
            scores = {metric.name: (ours, metric.scale)}
            yield from evaluated_cells(ratings, plan.name, scores, list(work.systems), "classical")


def shown(
    work: Work,
    evaluation: Evaluation,
    ratings: Sequence[Rating],
    battle: Battle | None,
    folder: OutputFolder | None,
    output: OutputOptions,
) -> None:
    """Print the results, and write them to the folder if there is one."""
    if folder:
        _write(work, evaluation, ratings, battle, folder)
    parts: list[Part] = [cells_table(evaluation)]
    if battle:
        parts += ["", *battle_parts(battle)]
    if folder:
        parts.append("")
        parts.append(f"written to {folder.path}: evaluation.json, evaluation.csv, ratings.jsonl, report.html")
    content = {**evaluation.to_json(), "battle": battle.to_json() if battle else None}
    print_out(Printout(parts, content), output)


FILES = (
    *(f"battle/{name}" for name in BATTLE_FILES),
    *("ratings.jsonl", "evaluation.csv", "report.html", "evaluation.json"),
)


def _write(
    work: Work, evaluation: Evaluation, ratings: Sequence[Rating], battle: Battle | None, folder: OutputFolder
) -> None:
    import pandas as pd

    from dhp.plugins.arena.evaluation_page import evaluation_page

    if battle:
        write_battle(battle, folder, "battle/")
    texts = {}
    for plan in work.plan.categories:
        for text in work.texts(plan.name):
            texts[text.example, text.variant] = text
    table = Printout((), frame=lambda: pd.DataFrame(evaluation.rows()))
    folder.write("ratings.jsonl", [json_line(_rating_row(rating)) for rating in ratings])
    folder.write("evaluation.csv", [text_for_programs(table, "csv")])
    folder.write("report.html", [evaluation_page(evaluation, texts, battle)])
    folder.write("evaluation.json", [indented_json(evaluation.to_json())])


def _rating_row(rating: Rating) -> dict[str, object]:
    return {
        "example": rating.example,
        "model": rating.variant,
        "metric": rating.metric,
        "sample": rating.sample,
        "score": rating.score,
        "status": rating.status,
        "answer": rating.raw,
    }


def discern(work: Work, output: OutputOptions, *, out: str | None) -> None:
    """Degrade the first model's answers and test whether the judge can tell, asked as in the evaluation."""
    from dhp.analysis.results import Result, Results
    from dhp.content.catalog import read_suite
    from dhp.loaders.dataset import Dataset
    from dhp.report.terminal import results_in_terminal
    from dhp.run import run

    name, *_ = work.systems
    folders = _run_folders(work, out)
    all_results: list[Result] = []
    for plan, judge in work.judges():
        of_category = [answer for answer in work.systems[name] if answer.category == plan.name]
        made = []
        for answer in of_category:
            example = Example(answer.id, answer.question, answer.output)
            if work.options.with_reference:
                example = replace(example, fields={"reference": work.targets[answer.id]})
            made.append(example)
        # The answers are also what foreign sentences and names are taken from.
        examples = tuple(made)
        dataset = Dataset(f"{name}/{plan.name}", examples, plan.task, read_suite("general"), examples)
        with progress_shown("ratings") as show:
            all_results += run(
                judge,
                dataset,
                settings=work.contest.settings,
                seed=work.contest.seed,
                out=folders.get(plan.name),
                progress=show,
            )
    results = Results(all_results)
    print_out(Printout(results_in_terminal(results), results.to_dict()), output)


def _run_folders(work: Work, out: str | None) -> dict[str, Path]:
    """The folder of each category's run; what stands in the way in one is found before the first call."""
    folders: dict[str, Path] = {}
    if out is None:
        return folders
    for plan in work.plan.categories:
        if work.is_judged(plan):
            folders[plan.name] = inner_folder(Path(out), plan.task.task)
            with RunFolder(folders[plan.name]) as folder:
                folder.check({})
    return folders
