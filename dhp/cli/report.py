"""`dhp report`: the page of a finished run, made again."""

import click

from dhp.core.text import printable


@click.command()
@click.argument("run")
@click.option("--out", metavar="FILE", help="Default: report.html in the run's folder.")
def report(run: str, out: str | None) -> None:
    """Make the report of a finished run again; RUN is its folder.

    Example: dhp report runs/one
    """
    from dhp.core.terminal_progress import progress_shown
    from dhp.report.page import write_report

    with progress_shown("done") as show:
        path = write_report(run, out, show)
    print(f"written to {printable(str(path))}")
