"""`dhp report`: the page, the table and the charts of a finished run."""

from functools import partial

import click

from dhp.cli.command import Command
from dhp.cli.output import CSV, DETAILS, LATEX, MARKDOWN, TABLE, print_out, say
from dhp.core.checks import exclusive, requires
from dhp.core.progress import progress_shown
from dhp.report.printout import Printout


@click.command(
    cls=Command,
    rules=(
        exclusive("table", "figures", "out"),
        exclusive("csv", "markdown", "latex"),
        *(requires(form, "table") for form in ("details", "csv", "markdown", "latex")),
    ),
)
@click.argument("run")
@click.option("--out", metavar="FILE.html", help="File of the report; default: report.html in the run.")
@click.option("--figures", metavar="DIR", help="Write each chart here as SVG, PDF and CSV instead.")
@TABLE
@DETAILS
@CSV
@MARKDOWN
@LATEX
def report(
    run: str,
    out: str | None,
    figures: str | None,
    table: bool,
    details: bool,
    csv: bool,
    markdown: bool,
    latex: bool,
) -> None:
    """Rebuild the report of a finished run, or print its table.

    RUN is the folder of the run. With --table the page stays as it is; --csv, --markdown and --latex are
    other forms of the table.

    Example: dhp report runs/one --table
    """
    if table:
        _print_table(run, details=details, csv=csv, markdown=markdown, latex=latex)
        return
    if figures is not None:
        _write_figures(figures, run)
        return
    from dhp.report.page import write_report

    with progress_shown("done") as show:
        path = write_report(run, out, show)
    say(f"written to {path}")


def _print_table(run: str, *, details: bool, **forms: bool) -> None:
    """Print the table of a run, or with `details` the tables of its kinds of damage, too."""
    from dhp.report.notebook import frame, runs_frame
    from dhp.report.terminal import doses_table, kinds_table, runs_tables
    from dhp.runs.reader import read_run

    results = read_run(run).results
    plain = [each for each in results if not each.curves]
    parts = runs_tables(plain) if plain else []
    parts += [doses_table(curve) for each in results for curve in each.curves]
    for each in plain if details else ():
        parts += ["", kinds_table(each, details=True)]
    made = Printout(parts, frame=partial(frame if details else runs_frame, results))
    print_out(made, **forms)


def _write_figures(folder: str, run: str) -> None:
    """Write the charts of a run."""
    from dhp.report.figures import write_figures
    from dhp.runs.reader import read_run

    files = write_figures(read_run(run).results, folder)
    say(*(f"written: {path}" for path in files))
