"""`dhp analyze`: discernment scores from a ratings table alone."""

import click

from dhp.cli.option_groups import SUITE, GroupedCommand, StatisticsOptions, option_group
from dhp.cli.output import OutputOptions


@click.command(cls=GroupedCommand)
@click.argument("file")
@click.option("--suite", **SUITE)
@option_group("options", StatisticsOptions)
@option_group("output", OutputOptions)
def analyze(file: str, suite: str | None, options: StatisticsOptions, output: OutputOptions) -> None:
    """Discernment scores from ratings that you have.

    FILE (.csv, .jsonl or .parquet) has the columns example, variant, metric, score and optionally sample,
    level, status, model, protocol, dataset.

    Example: dhp analyze ratings.csv --suite summeval
    """
    from dhp.analysis.analyze import analyze as analyse

    output.check()
    output.show(analyse(file, suite=suite, analysis=options.config()))
