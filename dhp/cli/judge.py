"""`dhp judge`: ratings of given texts, without degrading them."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dhp.cli.batch_options import BatchOptions, through_batches
from dhp.cli.judge_options import JudgeOptions
from dhp.cli.model_options import ModelOptions, ProtocolOptions
from dhp.cli.option_groups import GroupedCommand, option_group
from dhp.core.errors import InputError
from dhp.core.files import replacing
from dhp.runs.ratings_file import RatingsFile

if TYPE_CHECKING:
    import pandas as pd


@click.command(cls=GroupedCommand)
@click.argument("data")
@click.option("--model", multiple=True, required=True, metavar="MODEL", help="May be repeated.")
@click.option(
    "--protocol", multiple=True, default=("dhp",), metavar="NAME|FILE.yaml", help="See dhp protocols list."
)
@click.option(
    "--task",
    metavar="NAME|FILE.yaml",
    help="What the systems had to do; default: the set's, or summarization.",
)
@click.option("--out", required=True, metavar="FILE", help="Table of ratings: .csv, .jsonl or .parquet.")
@click.option("--dry-run", is_flag=True, help="Only say what it would take: calls, tokens, money, time.")
@option_group("protocols", ProtocolOptions)
@option_group("models", ModelOptions)
@option_group("batches", BatchOptions)
@option_group("judges", JudgeOptions)
def judge(
    data: str,
    model: tuple[str, ...],
    protocol: tuple[str, ...],
    task: str | None,
    out: str,
    dry_run: bool,
    protocols: ProtocolOptions,
    models: ModelOptions,
    batches: BatchOptions,
    judges: JudgeOptions,
) -> None:
    """Rate given texts without degrading them.

    DATA is a table with the columns source, output and optionally id, system, reference, or NAME=FILE of a
    published set: summeval, newsroom, realsumm, topical_chat, openmeva_roc, bagel. The table of ratings
    goes to dhp correlate.

    Example: dhp judge summeval=summeval.jsonl --model metric/rouge1 --out ratings.csv
    """
    from dhp.cli.estimates import print_estimates
    from dhp.cli.output import output_console
    from dhp.core.terminal_progress import progress_shown
    from dhp.loaders.rated import FROM_REFERENCE
    from dhp.run import estimate_texts, judge_parts

    target = Path(out)
    if target.suffix not in (".csv", ".jsonl", ".parquet"):
        raise InputError(f"--out {out}: allowed: a file that ends in .csv, .jsonl or .parquet")
    chosen = {
        "protocol": [protocols.changed(name) for name in protocol],
        "prompt_files": protocols.prompt_file,
        "metrics": protocols.metrics(judges.metric_scale(model)),
        "settings": models.settings(batches.settings(model, dry_run=dry_run)),
        "judge_settings": judges.settings(model),
        "task": task,
    }
    if dry_run:
        estimates = estimate_texts(model, data, **chosen)  # type: ignore[arg-type]
        print_estimates(estimates, output_console())
        return
    with progress_shown("ratings") as show:
        counts = through_batches(
            lambda: _written(judge_parts(model, data, progress=show, **chosen), target)  # type: ignore[arg-type]
        )
    print(f"written to {out}: {', '.join(f'{n:,} {status}' for status, n in counts.most_common())}")
    name = data.partition("=")[0]
    if (why := FROM_REFERENCE.get(name)) and not protocols.reference:
        print(f"note: {name}: {why}; --reference shows it to language models")


def _written(frames: "Iterable[pd.DataFrame]", target: Path) -> Counter[str]:
    """Write tables into a file, one after the other; returns how many rows have which status."""
    counts: Counter[str] = Counter()
    if target.suffix == ".parquet":
        with RatingsFile(target) as file:
            for frame in file.passing(frames):
                counts.update(frame["status"])
            file.finish()
        return counts
    with replacing(target) as new:
        for number, frame in enumerate(frames):
            counts.update(frame["status"])
            if target.suffix == ".csv":
                frame.to_csv(new, mode="a", header=not number, index=False)
            else:
                frame.to_json(new, mode="a", orient="records", lines=True, force_ascii=False)
    return counts
