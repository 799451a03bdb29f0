"""`dhp report`: the page, the table and the charts of a finished run."""

from functools import partial

import click

from dhp.cli.command import Command
from dhp.cli.options import settings
from dhp.cli.output import TABLE, OutputOptions, print_out, say
from dhp.core.checks import exclusive, requires
from dhp.core.progress import progress_shown
from dhp.report.printout import Printout

_OF_TABLE = ("details", "csv", "markdown", "latex")
"""Output options of the table."""


@click.command(
    cls=Command,
    rules=[
        exclusive("table", "figures", "out"),
        requires("charts", "figures"),
        *[requires(f"output.{form}", "table") for form in _OF_TABLE],
    ],
)
@click.argument("run")
@click.option("--out", metavar="FILE.html", help="File of the report; default: report.html in the run.")
@click.option("--figures", metavar="DIR", help="Write the chart of judges by kinds here as SVG, PDF and CSV.")
@click.option(
    "--charts",
    metavar="NAMES",
    help="Write these charts of each result instead: overview, kinds, D, marks, certainty, doses.",
)
@TABLE
@settings("output", OutputOptions, only=_OF_TABLE)
def report(
    run: str,
    out: str | None,
    figures: str | None,
    charts: str | None,
    table: bool,
    output: OutputOptions,
) -> None:
    """Rebuild the report of a finished run, or print its table.

    RUN is the folder of the run. With --table the page stays as it is; --csv, --markdown and --latex are
    other forms of the table.

    Example: dhp report runs/one --table
    """
    if table:
        _print_table(run, output)
        return
    if figures is not None:
        _write_figures(figures, run, charts)
        return
    from dhp.report.page import write_report

    with progress_shown("done") as show:
        path = write_report(run, out, show)
    say(f"written to {path}")


def _print_table(run: str, output: OutputOptions) -> None:
    """Print the table of a run, or with details the tables of its kinds of damage, too."""
    from dhp.report.notebook import frame, runs_frame
    from dhp.report.result_parts import kinds_table
    from dhp.report.terminal import doses_table, runs_tables
    from dhp.runs.reader import read_run

    results = read_run(run).results
    # Results with doses have curves in place of averages, and a table of their own.
    plain = [each for each in results if not each.curves]
    parts = runs_tables(plain) if plain else []
    for each in results:
        parts += map(doses_table, each.curves)
    if output.details:
        for each in plain:
            parts += ["", kinds_table(each, details=1)]
    made = Printout(parts, frame=partial(frame if output.details else runs_frame, results))
    print_out(made, output)


def _write_figures(folder: str, run: str, charts: str | None) -> None:
    """Write charts of a run, by default the one that says most."""
    from dhp.report.figures import write_figures
    from dhp.runs.reader import read_run

    names = [name.strip() for name in charts.split(",")] if charts else []
    for path in write_figures(read_run(run).results, folder, names):
        say(f"written: {path}")
