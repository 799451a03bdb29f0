"""`dhp power`: compute how many examples a judge needs to notice damage."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from dhp.cli.command import Command
from dhp.cli.options import settings
from dhp.cli.output import JSON, print_out
from dhp.cli.protocol_options import SEED
from dhp.core.checks import exclusive, requires
from dhp.core.errors import InputError
from dhp.core.progress import Progress, progress_of, stage
from dhp.core.text import printable
from dhp.plugins.power.question import Question
from dhp.report.printout import Part, Printout, TextTable

if TYPE_CHECKING:
    from dhp.plugins.power.curve import NeededExamples
    from dhp.plugins.power.power import PowerAnalysis, VariantPower

_UNNOTICED = "what was not noticed in the pilot may be detected by chance alone"


@click.command(
    cls=Command,
    rules=(
        exclusive("run", "detection", "model"),
        requires("metrics", "detection", "model"),
        requires("correlation", "detection"),
        requires("tied", "detection"),
    ),
)
@click.argument("run", nargs=-1)
@click.option("--detection", type=float, metavar="PERCENT", help="Detection of every metric, e.g. 75.")
@click.option("--model", metavar="mock/KIND", help="A mock judge, with its dials.")
@click.option(
    "--metrics", type=int, metavar="M", help="Number of metrics, with --detection or --model; default 4."
)
@click.option(
    "--correlation",
    type=float,
    metavar="C",
    help="Correlation of the metrics, with --detection; default 0.5.",
)
@click.option(
    "--tied", type=float, metavar="PERCENT", help="Percentage of tied scores, with --detection; default 0."
)
@SEED
@JSON
@settings("question", Question)
def power(
    run: tuple[str, ...],
    detection: float | None,
    model: str | None,
    metrics: int | None,
    correlation: float | None,
    tied: float | None,
    seed: int,
    json: bool,
    question: Question,
) -> None:
    """Compute how many examples a judge needs to notice damage.

    Prints the number of examples for the verdict `noticed` with 80 or 90 % probability, and the
    probability of a miss at N. The detection is given, or that of pilot runs (each RUN is the folder of a
    finished run), or that of a mock judge. All figures are simulated; their 95 % intervals cover the
    error of the simulation. The examples of a pilot stand for all others: with few of them the figures
    are less certain.

    Example: dhp power --detection 75 --tied 40
    """
    question = replace(question, seed=seed)
    named = {"metrics": metrics, "correlation": correlation, "tied": tied}
    with progress_of(True) as show:
        analyses = _analyses(
            run, detection, model, question, {k: v for k, v in named.items() if v is not None}, show
        )
    print_out(Printout(_parts(analyses), [each.to_json() for each in analyses]), json=json)


def _analyses(
    runs: Sequence[str],
    detection: float | None,
    model: str | None,
    question: Question,
    settings: dict[str, int | float],
    progress: Progress | None,
) -> "list[PowerAnalysis]":
    """The analyses of the one source that is given."""
    from dhp.plugins.power.power import power, power_of_detection, power_of_mock

    if detection is not None:
        with stage(progress, f"simulating {question.runs:,} runs"):
            return [power_of_detection(detection, question, **settings)]  # type: ignore[arg-type]
    if model is not None:
        return [power_of_mock(model, question, progress=progress, **settings)]  # type: ignore[arg-type]
    if not runs:
        raise InputError("power: nothing to go by; allowed: one of RUN..., --detection, --model")
    return power(*runs, question=question, progress=progress)


def _parts(analyses: "list[PowerAnalysis]") -> list[Part]:
    from rich.text import Text

    parts: list[Part] = []
    for each in analyses:
        kinds = "1 kind judged alone" if each.kinds == 1 else f"{each.kinds} kinds judged together"
        parts += ["", Text(printable(each.source), style="bold")]
        parts += [f"{kinds}, noticed from {each.floor:.0%} on", _table(each)]
        open_kinds = [row for row in each.variants if row.verdict and not row.verdict.is_noticed]
        if any(row.reachable for row in open_kinds):
            parts.append(_UNNOTICED)
    return [*parts, f"after each figure: its 95 % interval, from {analyses[0].runs:,} simulated runs"]


def _table(analysis: "PowerAnalysis") -> TextTable:
    from dhp.content.catalog import variant_name
    from dhp.report.labels import percent

    figures = ("detection", f"miss at {analysis.n}", "N for 80 %", "N for 90 %")
    pilot = analysis.pilot is not None
    rows = []
    for row in analysis.variants:
        needed = (_needed(each, row, analysis.limit) for each in (row.n_80, row.n_90))
        names = (variant_name(row.variant), row.verdict or "") if pilot else (row.variant,)
        rows.append((*names, percent(row.detection), _miss(row), *needed))
    return TextTable("", ("damage", *(["verdict"] if pilot else []), *figures), rows, figures)


def _miss(row: "VariantPower") -> str:
    from dhp.report.labels import percent, percents

    if row.miss is None or row.miss_ci is None:
        return "–"
    return f"{percent(row.miss)} {percents(row.miss_ci)}"


def _needed(needed: "NeededExamples | None", row: "VariantPower", limit: int) -> str:
    if needed is None:
        return "–"
    beyond = f"> {limit:,}"
    if needed.n is None or needed.low is None:
        return beyond if row.reachable else "never"
    high = " or more" if needed.high is None else f"–{needed.high:,}"
    return f"{needed.n:,} {needed.low:,}{high}"
