"""`dhp benchmark`: degrade, judge, analyse."""

from pathlib import Path
from typing import Annotated

import typer

from dhp.cli.asking import ModelOptions, ProtocolOptions
from dhp.cli.grouped import grouped
from dhp.cli.options import ModelNames, StatisticsOptions, TextOptions


@grouped(texts=TextOptions, protocols=ProtocolOptions, models=ModelOptions, statistics=StatisticsOptions)
def benchmark(
    model: ModelNames,
    texts: TextOptions,
    protocols: ProtocolOptions,
    models: ModelOptions,
    statistics: StatisticsOptions,
    protocol: Annotated[
        list[str],
        typer.Option("--protocol", metavar="NAME|FILE.yaml", help="See dhp protocols list; may be repeated."),
    ] = ["dhp"],  # noqa: B006  typer reads defaults, never changes them
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what it would take: calls, tokens, money, time.")
    ] = False,
    out: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="Run folder; default: one of its own in runs/.")
    ] = None,
) -> None:
    """Degrade texts, let a model judge them, say whether it noticed.

    Example: python -m dhp.benchmark --model baseline/surface --dataset mini/summeval
    """
    from rich.console import Console

    from dhp.cli.estimates import print_estimates
    from dhp.cli.progress import progress_shown
    from dhp.pipeline import Way, estimate, run
    from dhp.report import print_results
    from dhp.runfolder import RunFolder

    way: Way = {
        "protocol": [protocols.changed(name) for name in protocol],
        "prompt_files": protocols.prompt_file,
        "metrics": protocols.metric,
        "asking": models.asking(),
        "seed": texts.seed,
    }
    if dry_run:
        print_estimates(estimate(model, texts.dataset, **way, **texts.choice()), Console())
        return
    folder = RunFolder(Path(out)) if out is not None else RunFolder(Path("runs"), own=True)
    with progress_shown("done") as show:
        results = run(
            model,
            texts.dataset,
            weights=statistics.weights,
            statistics=statistics.statistics,
            combination=statistics.combination,
            resamples=statistics.resamples,
            out=folder,
            progress=show,
            **way,
            **texts.choice(),
        )
    print_results(results, Console())
    files = sorted(path.name for path in folder.path.iterdir() if not path.name.startswith("."))
    print(f"\nwritten to {folder.path}: {', '.join(files)}")
