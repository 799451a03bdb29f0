"""`dhp benchmark`: degrade, judge, analyse."""

from pathlib import Path

import click

from dhp.cli.batch_options import BatchOptions, through_batches
from dhp.cli.config import config_option
from dhp.cli.judge_options import JudgeOptions
from dhp.cli.model_options import DEFAULT_PROTOCOL, ModelOptions, ProtocolOptions, refuse_unused
from dhp.cli.option_groups import GroupedCommand, StatisticsOptions, option_group
from dhp.cli.output import OutputOptions, output_console
from dhp.cli.text_options import TextOptions


@click.command(cls=GroupedCommand)
@click.option(
    "--model",
    multiple=True,
    required=True,
    metavar="MODEL",
    help="provider/name, e.g. baseline/surface, or python:MODULE:OBJECT; may be repeated.",
)
@click.option(
    "--protocol",
    multiple=True,
    default=(DEFAULT_PROTOCOL,),
    metavar="NAME|FILE.yaml",
    help="See dhp protocols list; may be repeated.",
)
@click.option("--dry-run", is_flag=True, help="Only say what it would take: calls, tokens, money, time.")
@click.option(
    "--stop-when-resolved", is_flag=True, help="Ask no more about damage noticed or missed beyond doubt."
)
@click.option(
    "--find-threshold", is_flag=True, help="Find the smallest damage seen: doses placed as ratings come in."
)
@click.option("--out", metavar="DIR", help="Run folder; default: one of its own in runs/.")
@config_option
@option_group("texts", TextOptions)
@option_group("protocols", ProtocolOptions)
@option_group("models", ModelOptions)
@option_group("batches", BatchOptions)
@option_group("judges", JudgeOptions)
@option_group("statistics", StatisticsOptions)
@option_group("output", OutputOptions)
def benchmark(
    model: tuple[str, ...],
    protocol: tuple[str, ...],
    dry_run: bool,
    stop_when_resolved: bool,
    find_threshold: bool,
    out: str | None,
    texts: TextOptions,
    protocols: ProtocolOptions,
    models: ModelOptions,
    batches: BatchOptions,
    judges: JudgeOptions,
    statistics: StatisticsOptions,
    output: OutputOptions,
) -> None:
    """Degrade texts, let a judge rate them, test if it noticed.

    Example: python -m dhp.benchmark --model baseline/surface --dataset mini/summeval
    """
    from dhp.cli.estimates import print_estimates
    from dhp.run import Way, estimate, run
    from dhp.runs.writer import RunFolder

    output.check(dry_run)
    refuse_unused(model, protocol, (protocols, models), texts.perturb_model is not None)
    way: Way = {
        "protocol": [protocols.changed(name) for name in protocol],
        "prompt_files": protocols.prompt_file,
        "metrics": protocols.metrics(judges.metric_scale(model)),
        "settings": models.settings(batches.settings((*model, texts.perturb_model), dry_run=dry_run)),
        "judge_settings": judges.settings(model),
        "seed": texts.seed,
        "analysis": statistics.config(stop_when_resolved=stop_when_resolved, find_threshold=find_threshold),
    }
    if dry_run:
        estimates = estimate(model, texts.dataset, **way, **texts.choice())
        print_estimates(estimates, output_console())
        if stop_when_resolved:
            print("at most: variants that are resolved early take less")
        if find_threshold:
            print("at most: doses are placed as ratings come in, and most texts are never asked about")
        return
    folder = RunFolder(Path(out)) if out is not None else RunFolder(Path("runs"), own=True)
    with output.working() as show:
        choice = texts.choice()
        results = through_batches(
            lambda: run(model, texts.dataset, out=folder, progress=show, **way, **choice)
        )
    output.show(results)
    output.show_both_ways(results)
    judged = any(result.controls for result in results)
    output.offer_controls(there=judged or texts.controls is not None or find_threshold or bool(texts.doses))
    files = sorted(path.name for path in folder.path.iterdir() if not path.name.startswith("."))
    output.say(f"written to {folder.path}: {', '.join(files)}")
