"""`dhp benchmark`: degrade, judge, analyse."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from dhp.cli.model_options import ModelOptions, ProtocolOptions
from dhp.cli.option_groups import grouped
from dhp.cli.options import ModelNames, OutputOptions, StatisticsOptions, TextOptions


@grouped(
    texts=TextOptions,
    protocols=ProtocolOptions,
    models=ModelOptions,
    statistics=StatisticsOptions,
    output=OutputOptions,
)
def benchmark(
    model: ModelNames,
    texts: TextOptions,
    protocols: ProtocolOptions,
    models: ModelOptions,
    statistics: StatisticsOptions,
    output: OutputOptions,
    protocol: Annotated[
        list[str],
        typer.Option("--protocol", metavar="NAME|FILE.yaml", help="See dhp protocols list; may be repeated."),
    ] = ["dhp"],  # noqa: B006  typer reads defaults, never changes them
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what it would take: calls, tokens, money, time.")
    ] = False,
    stop_when_resolved: Annotated[
        bool, typer.Option("--stop-when-resolved", help="Ask no more where D is clearly above or below 1.")
    ] = False,
    out: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="Run folder; default: one of its own in runs/.")
    ] = None,
) -> None:
    """Degrade texts, let a model judge them, say whether it noticed.

    Example: python -m dhp.benchmark --model baseline/surface --dataset mini/summeval
    """
    from dhp.cli.console import output_console
    from dhp.cli.estimates import print_estimates
    from dhp.run import Way, estimate, run
    from dhp.runs.writer import RunFolder

    output.check(dry_run)
    way: Way = {
        "protocol": [protocols.changed(name) for name in protocol],
        "prompt_files": protocols.prompt_file,
        "metrics": protocols.metric,
        "settings": models.settings(),
        "seed": texts.seed,
        "stop_when_resolved": stop_when_resolved,
    }
    if dry_run:
        print_estimates(estimate(model, texts.dataset, **way, **texts.choice()), output_console())
        if stop_when_resolved:
            print("at most: variants that are resolved early take less")
        return
    folder = RunFolder(Path(out)) if out is not None else RunFolder(Path("runs"), own=True)
    with output.working("done") as show:
        results = run(
            model,
            texts.dataset,
            out=folder,
            progress=show,
            **asdict(statistics),
            **way,
            **texts.choice(),
        )
    output.show(results)
    files = sorted(path.name for path in folder.path.iterdir() if not path.name.startswith("."))
    output.say(f"written to {folder.path}: {', '.join(files)}")
