"""`dhp report`: the page of a finished run, made again."""

from pathlib import Path
from typing import Annotated

import typer

from dhp.core.text import printable


def report(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Folder of a finished run.")],
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Default: report.html in the run's folder.")
    ] = None,
) -> None:
    """Make the report of a finished run again.

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
