"""Options and forms of printed results."""

import io
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from dhp.cli.options import setting
from dhp.core.errors import InputError
from dhp.core.options import option

if TYPE_CHECKING:
    from rich.console import Console

    from dhp.analysis.results import Results
    from dhp.core.progress import Show


_WIDE = 200  # columns that are enough for every table


def output_console() -> "Console":
    """A console as wide as the terminal, or wide enough for every table in a file or pipe."""
    from rich.console import Console

    console = Console()
    if console.is_terminal or "COLUMNS" in os.environ:
        return console
    return Console(width=_WIDE)


def print_json(value: object) -> None:
    """Print plain values as JSON."""
    from json import dumps

    print(dumps(value, ensure_ascii=False, indent=1))


def print_for_programs(text: str) -> None:
    """Print what a program is to read: in UTF-8, whatever the terminal speaks."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace", newline="\n")
    print(text, end="")


def print_line(line: str, indent: int = 4) -> None:
    """Print a `printable` line for people: on a terminal wrapped between words, in files and pipes whole."""
    from dhp.core.text import printable

    line = printable(line)
    if sys.stdout.isatty():
        from shutil import get_terminal_size
        from textwrap import fill

        line = fill(
            line,
            get_terminal_size().columns,
            subsequent_indent=" " * indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
    print(line)


@dataclass(frozen=True)
class OutputOptions:
    """What is printed: tables for people, or one of these."""

    json: bool = field(default=False, metadata=option("Print the figures as JSON."))
    csv: bool = field(default=False, metadata=option("Print a table as CSV."))
    markdown: bool = field(default=False, metadata=option("Print tables in Markdown."))
    details: bool = field(default=False, metadata=option("Show each kind of damage with D, and all notes."))
    quiet: bool = field(default=False, metadata=option("Print nothing but errors."))

    def check(self, dry_run: bool = False) -> None:
        """Raise `InputError` for more than one of them, and for any in a dry run, which has no results."""
        given = [f"--{name}" for name, wanted in asdict(self).items() if wanted and name != "details"]
        if len(given) > 1:
            raise InputError(f"{' and '.join(given)}: contradict each other; give at most one")
        if given and dry_run:
            raise InputError(f"{given[0]}: cannot be used with --dry-run, which has no results to print")

    @contextmanager
    def working(self) -> Iterator["Show | None"]:
        """Yields what shows progress on standard error; where all shall be quiet, None, without notes."""
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
        """Print the results."""
        if self.quiet:
            return
        if not (self.json or self.csv or self.markdown):
            from dhp.report.terminal import print_results

            print_results(results, output_console(), details=self.details)
            return
        from dhp.report.tables import csv_text, json_text, markdown_text

        form = json_text if self.json else csv_text if self.csv else markdown_text
        print_for_programs(form(results))

    def show_both_ways(self, results: "Results") -> None:
        """Print pointwise beside pairwise figures, for people, where a model was asked in both ways."""
        if not (self.quiet or self.json or self.csv or self.markdown):
            from dhp.report.tables import print_both_ways

            print_both_ways(results, output_console())

    def say(self, line: str) -> None:
        """Print a line for people, beside what is for a program."""
        if not self.quiet:
            for_program = self.json or self.csv or self.markdown
            if for_program:
                print(line, file=sys.stderr)
            else:
                print()
                print_line(line)


JSON = setting(OutputOptions, "json")
