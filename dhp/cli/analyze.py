"""`dhp analyze`: discernment scores from a ratings table alone."""

from pathlib import Path

import click

from dhp.cli.option_groups import SUITE, GroupedCommand, StatisticsOptions, option_group
from dhp.cli.output import OutputOptions


@click.command(cls=GroupedCommand)
@click.argument("file")
@click.option("--suite", **SUITE)
@click.option("--format", "form", metavar="bump|llmbar", help="Scores that ship with published pairs.")
@option_group("options", StatisticsOptions)
@option_group("output", OutputOptions)
def analyze(
    file: str, suite: str | None, form: str | None, options: StatisticsOptions, output: OutputOptions
) -> None:
    """Discernment scores from ratings that you have.

    FILE (.csv, .jsonl or .parquet) has the columns example, variant, metric, score and optionally sample,
    level, status, model, protocol, dataset; with --format it is what BUMP or LLMBar ships.

    Example: dhp analyze ratings.csv --suite summeval
    """
    from dhp.analysis.analyze import analyze as analyse
    from dhp.core.progress import stage
    from dhp.loaders.recorded_scores import read_recorded_scores

    output.check()
    table = file if form is None else read_recorded_scores(form, Path(file))
    with output.working() as show, stage(show, f"analysing {file}"):
        results = analyse(table, suite=suite, analysis=options.config())
    output.show(results)
