"""Options and forms of printed results."""

import io
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dhp.cli.options import settings
from dhp.core.checks import Checked, exclusive
from dhp.core.hiding import hidden
from dhp.core.options import option
from dhp.core.writing import check_output, write_lines

if TYPE_CHECKING:
    from dhp.analysis.results import Results
    from dhp.core.progress import Show
    from dhp.report.document import Part
    from dhp.report.printout import Printout

_FORMS = ("json", "csv", "markdown", "latex")
"""Forms for programs, each an option."""
_ENDLESS = 1_000_000
"""Width of a file or pipe, in which no line is wrapped and no table broken."""


def say(*parts: "Part") -> None:
    """Print lines and tables for people."""
    from dhp.report.printout import Printout

    print_out(Printout(parts), OutputOptions())


def _writable_page(output: "OutputOptions") -> None:
    if output.html is not None:
        check_output(output.html)


@dataclass(frozen=True)
class OutputOptions(Checked):
    """What is printed: tables for people, or one of these."""

    rules = (
        exclusive("json", "csv", "markdown", "latex", "quiet"),
        _writable_page,
    )
    parameter = "output"

    json: bool = option("Print the figures as JSON.", default=False)
    csv: bool = option("Print a table as CSV.", default=False)
    markdown: bool = option("Print tables in Markdown.", default=False)
    latex: bool = option("Print tables in LaTeX.", default=False)
    html: str | None = option("Also write a page.", default=None, metavar="FILE")
    details: bool = option("Show each kind of damage with D, and all notes.", default=False)
    quiet: bool = option("Print nothing but errors.", default=False)

    @property
    def form(self) -> str | None:
        """The form for programs in which it is printed; None for people."""
        for form in _FORMS:
            if getattr(self, form):
                return form
        return None

    @contextmanager
    def working(self) -> Iterator["Show | None"]:
        """Yields what shows progress on standard error; None, without notes, if nothing is to be shown."""
        if self.quiet:
            log = logging.getLogger("dhp")
            level = log.level
            log.setLevel(logging.ERROR)
            try:
                with warnings.catch_warnings(action="ignore"):
                    yield None
            finally:
                log.setLevel(level)
            return
        from dhp.core.progress import progress_shown

        with progress_shown("done") as show:
            yield show

    def show(self, results: "Results") -> None:
        """Print the results; a page of results is a report, which the command writes."""
        if self.quiet:
            return
        from dhp.report.printout import Printout
        from dhp.report.terminal import both_ways_tables, results_in_markdown, results_in_terminal

        if self.markdown:
            parts = results_in_markdown(results)
        else:
            parts = results_in_terminal(results, details=self.details)
            for table in both_ways_tables(results):
                parts += ["", table]
        print_out(Printout(parts, results.to_dict(), results.to_frame), replace(self, html=None))

    def say(self, line: str) -> None:
        """Print a line for people: below a blank one, or on standard error beside what is for programs."""
        if self.form is not None:
            print(hidden(line), file=sys.stderr)
        elif not self.quiet:
            say("", line)


def print_out(made: "Printout", output: OutputOptions) -> None:
    """Print it for people, or for programs, in UTF-8 whatever the terminal speaks; write its page, too."""
    from dhp.report.printout import text_for_programs
    from dhp.report.terminal_printer import print_parts

    if output.html is not None:
        from dhp.report.web import document_page

        title = click.get_current_context().command.name or "dhp"
        write_lines(Path(output.html), [document_page(title.capitalize(), "", made.parts)])
    if output.form is None:
        from rich.console import Console

        console = Console()
        # rich takes 80 columns for a file. COLUMNS is how a user states another width.
        wide = not console.is_terminal and "COLUMNS" not in os.environ
        print_parts(made.parts, Console(width=_ENDLESS) if wide else console)
        return
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Programs read the same bytes on every system.
        sys.stdout.reconfigure(encoding="utf-8", errors="replace", newline="\n")
    print(hidden(text_for_programs(made, output.form)), end="")


TABLE = click.option("--table", is_flag=True, help="Print one table of all results instead.")
JSON = settings("output", OutputOptions, only=("json",))
