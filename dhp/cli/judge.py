"""`dhp judge`: rate given texts without degrading them.

The ratings come in parts (`dhp.run.rating_parts`) and are written as they come (`_written`), so that neither
texts nor ratings need to fit into memory.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dhp.cli.command import Command
from dhp.cli.criteria import Criteria
from dhp.cli.language_models import check_filler, estimates_shown
from dhp.cli.missing import on_missing
from dhp.cli.options import setting, settings
from dhp.cli.output import say
from dhp.cli.protocol_options import DRY_RUN, PROTOCOL, ProtocolChanges, model_option
from dhp.core.errors import InputError
from dhp.core.hiding import hidden
from dhp.core.progress import progress_shown
from dhp.core.shown import spreadsheet_safe
from dhp.core.writing import check_output, output_path, writing
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

    target = output_path(out)
    if target.suffix not in (".csv", ".jsonl", ".parquet"):
        raise InputError(f"--out {out}: allowed: a file that ends in .csv, .jsonl or .parquet")
    if not target.is_dir():
        check_output(target)
    else:  # many ratings are a folder NAME.parquet of parts, and no other folder is replaced
        has_others = any(path.suffix != ".parquet" for path in target.iterdir())
        if has_others or target.suffix != ".parquet":
            raise InputError(f"--out {out}: is a folder; allowed: a file, new or to be replaced")
    check_filler(settings, model, dry_run=dry_run)
    spec = RatingSpec(
        model,
        data,
        protocol=[changes.changed(name) for name in protocol],
        prompt=changes.prompt,
        metrics=criteria.metrics,
        scale=criteria.scale,
        labels=criteria.words,
        settings=settings,
        judge_settings=judge_settings,
        task=task,
    ).with_scale()
    if dry_run:
        say(*estimates_shown(estimate_texts(spec)))
        return
    with progress_shown("ratings") as show:
        spec = replace(spec, progress=show)
        counts, failures = settings.filled(lambda context: _written(rating_parts(spec, context), target))
    by_status = [f"{count:,} {status}" for status, count in counts.most_common()]
    say(f"written to {out}: {', '.join(by_status)}")
    name = data.partition("=")[0]  # of a published set, if it is one: `summeval=FILE`
    why = FROM_REFERENCE.get(name)
    if why and not changes.reference:
        say(f"note: {name}: {why}; --reference shows it to language models")
    line = on_missing(out, counts, failures)
    if line:
        say(line)


def _written(frames: "Iterable[pd.DataFrame]", target: Path) -> tuple[Counter[str], Counter[str]]:
    """Write tables into a file, one after the other.

    Returns how many rows have which status, and how many of the failed ones which reason.
    """
    counts, failures = Counter[str](), Counter[str]()

    def counted(frame: "pd.DataFrame") -> None:
        counts.update(frame["status"])
        failures.update(frame.loc[frame["status"] == "failed", "raw"].dropna())

    if target.suffix == ".parquet":
        from dhp.runs.ratings_file import RatingsFile

        with RatingsFile(target) as ratings:
            for frame in ratings.tee(frames):
                counted(frame)
            ratings.finish()
        return counts, failures
    with writing(target) as file:
        for number, frame in enumerate(frames):
            counted(frame)
            if target.suffix == ".csv":
                # The names of the columns stand above the first table only.
                frame.map(spreadsheet_safe).to_csv(file, header=not number, index=False)
            else:
                lines = frame.to_json(orient="records", lines=True, force_ascii=False)
                file.write(hidden(lines).encode())
    return counts, failures
