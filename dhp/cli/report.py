"""`dhp report`: rebuild the pages of a finished run."""

from pathlib import Path

import click

from dhp.cli.options import Command, plugin_flags
from dhp.cli.output import say
from dhp.core.errors import InputError
from dhp.core.plugins import load_target, offered


@click.command(cls=Command)
@click.argument("run")
@click.option("--out", metavar="PATH", help="File of the report, or folder of pages; default: in the run.")
@plugin_flags("pages", "pages")
def report(run: str, out: str | None, pages: str | None) -> None:
    """Rebuild the report of a finished run.

    RUN is the folder of the run.

    Example: dhp report runs/one
    """
    if pages is not None:
        _write_pages(pages, run, out)
        return
    from dhp.core.progress import progress_shown
    from dhp.report.page import write_report

    with progress_shown("done") as show:
        path = write_report(run, out, show)
    say(f"written to {path}")


def _write_pages(pages: str, run: str, out: str | None) -> None:
    """Write what a plug-in makes of the results."""
    from dhp.core.files import write_lines
    from dhp.runs.reader import read_run

    found = read_run(run)
    lines, files = load_target(offered("pages")[pages][0])(found.results)
    folder = found.folder if out is None else Path(out)
    if folder.is_file():
        raise InputError(f"--out {out}: is a file; allowed with --{pages.replace('_', '-')}: a folder")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        write_lines(folder / name, [text])
    say(*lines, f"written to {folder}: {', '.join(files)}")
