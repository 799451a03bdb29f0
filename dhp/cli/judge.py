"""`dhp judge` and `dhp analyze`: rate given texts, and analyse given ratings."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dhp.analysis.config import AnalysisConfig
from dhp.analysis.own_table import RatingsForm
from dhp.cli.language_models import check_filler, estimates_shown
from dhp.cli.missing import on_missing
from dhp.cli.options import Command, setting, settings
from dhp.cli.output import HTML, OutputOptions, say
from dhp.cli.protocol_options import DRY_RUN, PROTOCOL, Criteria, ProtocolChanges, model_option
from dhp.core.errors import InputError
from dhp.core.files import Lock, replacing, unwritable
from dhp.core.progress import progress_shown, stage
from dhp.core.text import spreadsheet_safe
from dhp.judge.adapters.settings import JudgeSettings
from dhp.llm.settings import ModelSettings
from dhp.perturb.settings import Choice

if TYPE_CHECKING:
    import pandas as pd


@click.command(
    cls=Command,
    common="--model --out --task --prompt-file --metric --scale --base-url --samples --reference --protocol "
    "--max-calls --dry-run",
)
@click.argument("data")
@model_option(several=True, required=True)
@PROTOCOL
@setting(Choice, "task")
@click.option("--out", required=True, metavar="FILE", help="Table of ratings: .csv, .jsonl or .parquet.")
@DRY_RUN
@settings("criteria", Criteria)
@settings("changes", ProtocolChanges)
@settings("settings", ModelSettings)
@settings("judge_settings", JudgeSettings)
def judge(
    data: str,
    model: tuple[str, ...],
    protocol: tuple[str, ...],
    task: str | None,
    out: str,
    dry_run: bool,
    criteria: Criteria,
    changes: ProtocolChanges,
    settings: ModelSettings,
    judge_settings: JudgeSettings,
) -> None:
    """Rate given texts without degrading them.

    DATA is a table with the columns source, output and optionally id, system, reference, or NAME=FILE of a
    published set: summeval, newsroom, realsumm, topical_chat, openmeva_roc, bagel. The task is that of the
    set, for a table summarization, unless --task names another. The table of ratings goes to dhp correlate.

    Example: dhp judge summeval=summeval.jsonl --model baseline/surface --out ratings.csv
    """
    from dhp.loaders.rated import FROM_REFERENCE
    from dhp.run import RatingSpec, estimate_texts, rating_parts

    target = Path(out)
    if target.suffix not in (".csv", ".jsonl", ".parquet"):
        raise InputError(f"--out {out}: allowed: a file that ends in .csv, .jsonl or .parquet")
    kept = [p for p in target.iterdir() if p.suffix != ".parquet"] if target.is_dir() else []
    if kept or (target.is_dir() and target.suffix != ".parquet"):  # many ratings are a folder of such files
        raise InputError(f"--out {out}: is a folder; allowed: a file, new or to be replaced")
    check_filler(settings, model, dry_run=dry_run)
    spec = RatingSpec(
        model,
        data,
        protocol=[changes.changed(name) for name in protocol],
        prompt_files=changes.prompt_files,
        metrics=criteria.chosen(model),
        settings=settings,
        judge_settings=criteria.of_functions(model, judge_settings),
        task=task,
    )
    if dry_run:
        say(*estimates_shown(estimate_texts(spec)))
        return
    with Lock(target.with_name(f".{target.name}.lock"), f"`out` {out}"), progress_shown("ratings") as show:
        spec = replace(spec, progress=show)
        counts, failures = settings.filled(lambda context: _written(rating_parts(spec, context), target))
    say(f"written to {out}: {', '.join(f'{n:,} {status}' for status, n in counts.most_common())}")
    name = data.partition("=")[0]
    if (why := FROM_REFERENCE.get(name)) and not changes.reference:
        say(f"note: {name}: {why}; --reference shows it to language models")
    if line := on_missing(out, counts, failures):
        say(line)


def _written(frames: "Iterable[pd.DataFrame]", target: Path) -> tuple[Counter[str], Counter[str]]:
    """Write tables into a file, one after the other; returns how many rows have which status.

    And how many failed of which reason.
    """
    counts, failures = Counter[str](), Counter[str]()

    def counted(frame: "pd.DataFrame") -> None:
        counts.update(frame["status"])
        failures.update(frame.loc[frame["status"] == "failed", "raw"].dropna())

    if target.suffix == ".parquet":
        from dhp.runs.ratings_file import RatingsFile

        with RatingsFile(target) as file:
            for frame in file.tee(frames):
                counted(frame)
            file.finish()
        return counts, failures
    with replacing(target) as new:
        for number, frame in enumerate(frames):
            counted(frame)
            try:
                if target.suffix == ".csv":
                    frame.map(spreadsheet_safe).to_csv(new, mode="a", header=not number, index=False)
                else:
                    frame.to_json(new, mode="a", orient="records", lines=True, force_ascii=False)
            except OSError as e:
                raise unwritable(target, e) from None
    return counts, failures


_LOGS = (".json", ".eval")
"""Ends of the names of logs, whose judges scored no damaged copies yet."""


@click.command(cls=Command)
@click.argument("file")
@setting(Choice, "suite")
@settings("analysis", AnalysisConfig, only=("statistics", "combination", "weights", "floor", "pass_mark"))
@settings("form", RatingsForm)
@HTML
@settings("output", OutputOptions)
def analyze(
    file: str,
    suite: str | None,
    analysis: AnalysisConfig,
    form: RatingsForm,
    html: str | None,
    output: OutputOptions,
) -> None:
    """Compute discernment scores from your own ratings.

    FILE (.csv, .jsonl or .parquet) has the columns example, variant, score and optionally metric, sample,
    level, status, cluster, model, protocol, dataset. In place of a score it may hold a verdict with a
    confidence, or which text was preferred in both orders. Or it is wide, a row for each example, with the
    columns id and original and one for each kind of damage, which hold the scores.

    Example: dhp analyze ratings.csv --suite summeval
    """
    from dhp.analysis.analyze import analyze as analyse

    with output.working() as show, stage(show, f"analysing {file}"):
        try:
            results = analyse(file, suite=suite, analysis=analysis, form=form)
        except InputError as e:
            if Path(file).suffix not in _LOGS:
                raise
            remedy = "if it is a log, dhp benchmark --dataset FILE degrades its texts and has them judged"
            raise InputError(f"{e.message}; {remedy}") from None
        if html is not None:
            from dhp.report.page import write_report

            write_report(results, html, show)
    output.show(results)
    if html is not None:
        output.say(f"page  {html}")
