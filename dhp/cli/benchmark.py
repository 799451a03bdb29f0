"""`dhp benchmark`: degrade, judge, analyse."""

from pathlib import Path
from typing import Annotated

import typer

from dhp.cli.options import (
    CombinationName,
    Count,
    Data,
    Datasets,
    Fields,
    Models,
    Only,
    Perturbers,
    Seed,
    StatisticsName,
    SuiteName,
    TaskName,
    WeightsName,
    check_only,
    choice,
)


def benchmark(
    model: Models,
    dataset: Datasets = ["mini"],  # noqa: B006  typer reads defaults, never changes them
    data: Data = None,
    task: TaskName = None,
    field: Fields = [],  # noqa: B006
    suite: SuiteName = None,
    perturber: Perturbers = [],  # noqa: B006
    only: Only = "rule",
    n: Count = None,
    seed: Seed = 0,
    weights: WeightsName = None,
    statistics: StatisticsName = "default",
    combination: CombinationName = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="Run folder; default: one of its own in runs/.")
    ] = None,
) -> None:
    """Degrade texts, let a model judge them, say whether it noticed.

    Example: python -m dhp.benchmark --model baseline/surface --dataset mini/summeval
    """
    check_only(only)
    from rich.console import Console

    from dhp.cli.progress import progress_shown
    from dhp.pipeline import run
    from dhp.report import print_results
    from dhp.runfolder import RunFolder

    folder = RunFolder(Path(out)) if out is not None else RunFolder(Path("runs"), own=True)
    with progress_shown("ratings") as show:
        results = run(
            model,
            dataset,
            seed=seed,
            weights=weights,
            statistics=statistics,
            combination=combination,
            out=folder,
            progress=show,
            **choice(data, task, field, n, suite, perturber),
        )
    print_results(results, Console())
    files = "results.json, report.html, ratings.parquet, perturbed.jsonl, manifest.json"
    print(f"\nwritten to {folder.path}: {files}")
