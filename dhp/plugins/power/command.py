"""`dhp power`: compute how many examples a judge needs to notice damage."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from dhp.cli.command import Command
from dhp.cli.options import settings
from dhp.cli.output import OutputOptions, print_out
from dhp.cli.protocol_options import SEED
from dhp.core.checks import exclusive, requires
from dhp.core.errors import InputError
from dhp.core.progress import Progress, progress_of, stage
from dhp.plugins.power.question import Question
from dhp.report.document import Column, Part, Strong, Table
from dhp.report.labels import percent
from dhp.report.printout import Printout

if TYPE_CHECKING:
    from dhp.plugins.power.curve import NeededExamples
    from dhp.plugins.power.power import PowerAnalysis, VariantPower

_UNNOTICED = "what was not noticed in the pilot may be detected by chance alone"


@click.command(
    cls=Command,
    rules=(
        exclusive("run", "detection"),
        requires("metrics", "detection"),
        requires("correlation", "detection"),
        requires("tied", "detection"),
    ),
)
@click.argument("run", nargs=-1)
@click.option("--detection", type=float, metavar="PERCENT", help="Detection of every metric, e.g. 75.")
@click.option("--metrics", type=int, metavar="M", help="Number of metrics, with --detection; default 4.")
@click.option(
    "--correlation",
    type=float,
    metavar="C",
    help="Correlation of the metrics, with --detection; default: a range, from independent to alike.",
)
@click.option(
    "--tied", type=float, metavar="PERCENT", help="Percentage of tied scores, with --detection; default 0."
)
@SEED
@settings("output", OutputOptions, only=("json", "markdown", "html"))
@settings("question", Question)
def power(
    run: tuple[str, ...],
    detection: float | None,
    metrics: int | None,
    correlation: float | None,
    tied: float | None,
    seed: int,
    output: OutputOptions,
    question: Question,
) -> None:
    """Compute how many examples a judge needs to notice damage.

    Prints the number of examples for the verdict `noticed` with 80 or 90 % probability, and the
    probability of a miss at N. The detection is given, or that of pilot runs (each RUN is the folder of a
    finished run). How much several metrics tell depends on whether they move
    alike, so of a detection there is a range. All figures are simulated; their 95 % intervals cover the
    error of the simulation. The examples of a pilot stand for all others: with few of them the figures
    are less certain.

    Example: dhp power --detection 75 --tied 40
    """
    question = replace(question, seed=seed)
    named = {"metrics": metrics, "correlation": correlation, "tied": tied}
    stated = {name: value for name, value in named.items() if value is not None}
    with progress_of(True) as show:
        analyses = _analyses(run, detection, question, stated, show)
    print_out(Printout(_parts(analyses), [each.to_json() for each in analyses]), output)


def _analyses(
    runs: Sequence[str],
    detection: float | None,
    question: Question,
    settings: dict[str, int | float],
    progress: Progress | None,
) -> "list[PowerAnalysis]":
    """The analyses of the one source that is given."""
    from dhp.plugins.power.power import power, power_of_detection

    if detection is not None:
        with stage(progress, f"simulating {question.runs:,} runs"):
            return [power_of_detection(detection, question, **settings)]  # type: ignore[arg-type]
    if not runs:
        raise InputError("power: nothing to go by; allowed: RUN... or --detection")
    return power(*runs, question=question, progress=progress)


def _parts(analyses: "list[PowerAnalysis]") -> list[Part]:
    parts: list[Part] = []
    for each in analyses:
        kinds = "1 kind judged alone" if each.kinds == 1 else f"{each.kinds} kinds judged together"
        parts += ["", Strong(each.source)]
        parts += [f"{kinds}, noticed from {each.floor:.0%} on", _table(each), *_whole_range(each)]
        open_kinds = [row for row in each.variants if row.verdict and not row.verdict.is_noticed]
        if any(row.reachable for row in open_kinds):
            parts.append(_UNNOTICED)
    return [*parts, f"after each figure: its 95 % interval, from {analyses[0].runs:,} simulated runs"]


def _whole_range(analysis: "PowerAnalysis") -> list[Part]:
    """The range of rows that differ only in how the metrics depend on each other."""
    if analysis.range_80 is None:
        return []
    low, high = analysis.range_80
    return [
        f"{low:,} to {high:,} examples for 80 %: how alike the metrics move is not known; a pilot tells "
        "(dhp power RUN)"
    ]


def _table(analysis: "PowerAnalysis") -> "Table[VariantPower]":
    from dhp.content.catalog import variant_name

    # Of a pilot each row is a kind with its verdict, of a detection a way in which metrics may depend.
    pilot = analysis.pilot is not None
    columns: list[Column[VariantPower]]
    if pilot:
        columns = [
            Column("damage", lambda row: variant_name(row.variant), names=True, right=False),
            Column("verdict", lambda row: row.verdict, words=lambda row: row.verdict or "", right=False),
        ]
    else:
        columns = [Column("", lambda row: row.variant, names=True, right=False)]
    columns += [
        Column("detection", lambda row: row.detection, percent),
        Column(
            f"miss at {analysis.n}",
            lambda row: row.miss_ci and row.miss,
            percent,
            ends=lambda row: row.miss_ci,
        ),
        _needed("N for 80 %", lambda row: row.n_80, analysis.limit),
        _needed("N for 90 %", lambda row: row.n_90, analysis.limit),
    ]
    return Table("", columns, analysis.variants)


def _needed(
    heading: str, needed: "Callable[[VariantPower], NeededExamples | None]", limit: int
) -> "Column[VariantPower]":
    """The number of examples with its interval, or in words why there is none."""

    def number(row: "VariantPower") -> int | None:
        examples = needed(row)
        return None if examples is None or examples.low is None else examples.n

    def words(row: "VariantPower") -> str:
        examples = needed(row)
        if examples is None:
            return "–"
        if examples.n is None or examples.low is None:
            return f"> {limit:,}" if row.reachable else "never"
        high = " or more" if examples.high is None else f"–{examples.high:,}"
        return f"{examples.n:,} {examples.low:,}{high}"

    return Column(heading, number, words=words)
