"""`dhp report`: the page of a finished run, made again."""

from pathlib import Path

import click

from dhp.core.text import printable


@click.command()
@click.argument("run")
@click.option("--out", metavar="FILE", help="Default: report.html in the run's folder.")
def report(run: str, out: str | None) -> None:
    """Make the report of a finished run again; RUN is its folder.

    Example: dhp report runs/one
    """
    from dhp.core.files import write_whole
    from dhp.report.page import html_report
    from dhp.runs.reader import read_run

    found = read_run(run)
    page = html_report(found)
    path = found.folder / "report.html" if out is None else Path(out)
    write_whole(path, lambda new: new.write_text(page, encoding="utf-8"))
    print(f"written to {printable(str(path))}")
