"""`dhp audit`: test a judge on the texts of a stored log."""

from pathlib import Path

import click

from dhp.cli.judge_options import JudgeOptions
from dhp.cli.model_options import ModelOptions, ProtocolOptions
from dhp.cli.option_groups import (
    COUNT,
    SEED,
    SUITE,
    GroupedCommand,
    StatisticsOptions,
    option_group,
    pair_map,
)
from dhp.cli.output import OutputOptions
from dhp.core.errors import InputError


@click.command(cls=GroupedCommand)
@click.argument("log")
@click.option(
    "--judge",
    "--model",
    "judge",
    multiple=True,
    metavar="MODEL",
    help="python:FILE.py:OBJECT, provider/name; repeatable. Default: the scorers of an inspect_ai log.",
)
@click.option("--protocol", multiple=True, default=("dhp",), metavar="NAME|FILE.yaml", help="For models.")
@click.option(
    "--task", metavar="NAME|FILE.yaml", help="What the writer had to do; default: instruction, or rag."
)
@click.option(
    "--field",
    multiple=True,
    metavar="OURS=THEIRS",
    help="Where input, output, reference, context or id stands, e.g. output=a.b[0].",
)
@click.option("--text-language", metavar="CODE", help="Language of the outputs, e.g. en.")
@click.option("--suite", **{**SUITE, "help": "Perturbers and parameters; default: general."})
@click.option("--n", **{**COUNT, "help": "Number of entries, chosen by the seed; default: all."})
@click.option("--seed", **SEED)
@click.option("--out", metavar="DIR", help="Run folder; default: one of its own in runs/.")
@option_group("judges", JudgeOptions)
@option_group("protocols", ProtocolOptions)
@option_group("models", ModelOptions)
@option_group("statistics", StatisticsOptions)
@option_group("output", OutputOptions)
def audit(
    log: str,
    judge: tuple[str, ...],
    protocol: tuple[str, ...],
    task: str | None,
    field: tuple[str, ...],
    text_language: str | None,
    suite: str | None,
    n: int | None,
    seed: int,
    out: str | None,
    judges: JudgeOptions,
    protocols: ProtocolOptions,
    models: ModelOptions,
    statistics: StatisticsOptions,
    output: OutputOptions,
) -> None:
    """Test a judge on the inputs and outputs of a stored log.

    LOG is a log of inspect_ai (.json, .eval), results.json of promptfoo, a test run of deepeval, or a table
    with inputs and outputs (.jsonl, .csv, ...), such as langfuse and openevals export. Its outputs are
    degraded, and the judge scores both.

    Example: dhp audit results.json --judge python:my_judge.py:judge --scale 0..1
    """
    from dhp.loaders.logs import log_dataset
    from dhp.run import run
    from dhp.runs.writer import RunFolder

    output.check()
    fields = pair_map("--field", field, "OURS=THEIRS", "output=response.text")
    texts = log_dataset(log, task=task, fields=fields, suite=suite, language=text_language)
    named = judge or ("python:",)  # the scorers of a log are objects, too
    folder = RunFolder(Path(out)) if out is not None else RunFolder(Path("runs"), own=True)
    with output.working() as show:
        results = run(
            judge or _own_scorers(log),
            texts,
            protocol=[protocols.changed(name) for name in protocol],
            prompt_files=protocols.prompt_file,
            metrics=protocols.metrics(judges.metric_scale(named)),
            settings=models.settings(),
            judge_settings=judges.settings(named),
            seed=seed,
            analysis=statistics.config(),
            n=n,
            out=folder,
            progress=show,
        )
    output.show(results)
    output.say(f"written to {folder.path}; open {folder.path / 'report.html'}")


def _own_scorers(log: str) -> list[object]:
    from dhp.judge.adapters.inspect_ai import log_scorers
    from dhp.loaders.logs import is_inspect_log

    if not is_inspect_log(log):
        raise InputError(
            f"{log}: names no scorer that can be called; say which by --judge python:FILE.py:OBJECT"
        )
    return log_scorers(log)
