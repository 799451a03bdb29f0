"""`dhp analyze`: discernment scores from a ratings table alone."""

from pathlib import Path

import click

from dhp.analysis.config import AnalysisConfig
from dhp.cli.options import Command, setting, settings
from dhp.cli.output import OutputOptions
from dhp.cli.protocol_options import RELEASED
from dhp.core.errors import InputError
from dhp.perturb.settings import Choice


@click.command(cls=Command)
@click.argument("file", nargs=-1, required=True)
@RELEASED
@setting(Choice, "suite")
@settings("analysis", AnalysisConfig, only=("statistics", "combination", "weights", "floor"))
@settings("output", OutputOptions)
def analyze(
    file: tuple[str, ...],
    form: str | None,
    suite: str | None,
    analysis: AnalysisConfig,
    output: OutputOptions,
) -> None:
    """Compute discernment scores from your own ratings.

    FILE (.csv, .jsonl or .parquet) has the columns example, variant, metric, score and optionally sample,
    level, status, model, protocol, dataset. With --format it holds released scores; several may hold several
    judges.

    Example: dhp analyze ratings.csv --suite summeval
    """
    from dhp.analysis.analyze import analyze as analyse
    from dhp.core.progress import stage
    from dhp.loaders.released import read_recorded_scores

    output.check()
    if form is None and len(file) > 1:
        raise InputError(f"{file[1]}: a second file; allowed: one, or several with --format")
    with output.working() as show, stage(show, f"analysing {', '.join(file)}"):
        table = file[0] if form is None else read_recorded_scores(form, *map(Path, file))
        results = analyse(table, suite=suite, analysis=analysis)
    output.show(results)
