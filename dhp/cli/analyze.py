"""`dhp analyze`: discernment scores from a ratings table alone."""

from dataclasses import asdict
from typing import Annotated

import typer

from dhp.cli.option_groups import grouped
from dhp.cli.options import OutputOptions, StatisticsOptions, SuiteName


@grouped(options=StatisticsOptions, output=OutputOptions)
def analyze(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Ratings: .csv, .jsonl or .parquet.")],
    options: StatisticsOptions,
    output: OutputOptions,
    suite: SuiteName = None,
) -> None:
    """Discernment scores from ratings that you have.

    FILE has the columns example, variant, metric, score and optionally sample, level, status, model,
    protocol, dataset.

    Example: dhp analyze ratings.csv --suite summeval
    """
    from dhp.analysis.analyze import analyze as analyse

    output.check()
    output.show(analyse(file, suite=suite, **asdict(options)))
