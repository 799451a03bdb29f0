"""`dhp analyze`: discernment scores from a ratings table alone."""

from typing import Annotated

import typer

from dhp.cli.grouped import grouped
from dhp.cli.options import StatisticsOptions, SuiteName


@grouped(options=StatisticsOptions)
def analyze(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Ratings: .csv, .jsonl or .parquet.")],
    options: StatisticsOptions,
    suite: SuiteName = None,
    json: Annotated[bool, typer.Option("--json", help="Print the results.json object.")] = False,
) -> None:
    """Discernment scores from ratings that you have.

    FILE has the columns example, variant, metric, score and optionally sample, level, status, model,
    protocol, dataset.

    Example: dhp analyze ratings.csv --suite summeval
    """
    from rich.console import Console

    from dhp.analysis import analyze as analyse
    from dhp.report import print_results

    results = analyse(
        file,
        suite=suite,
        weights=options.weights,
        statistics=options.statistics,
        combination=options.combination,
        resamples=options.resamples,
    )
    if json:
        from json import dumps

        print(dumps(results.to_json(), ensure_ascii=False, indent=1))
        return
    print_results(results, Console())
