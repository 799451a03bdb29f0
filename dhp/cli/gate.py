"""`dhp gate`: check a run against limits, for scripts and continuous integration."""

import sys
import time
from dataclasses import replace
from pathlib import Path

import click

from dhp.cli.options import Command, settings
from dhp.cli.output import say
from dhp.cli.protocol_options import ALLOW
from dhp.core.text import printable
from dhp.runs.conditions import Gate


@click.command(cls=Command)
@click.argument("run")
@ALLOW
@click.option(
    "--junit", metavar="FILE", help="Write the outcome of each condition to this file as JUnit XML."
)
@click.option(
    "--history",
    metavar="FILE.jsonl",
    help="Add the outcome to this file, and draw all that it holds on FILE.html.",
)
@settings("conditions", Gate)
def gate(run: str, allow: tuple[str, ...], junit: str | None, history: str | None, conditions: Gate) -> None:
    """Exit with 1 unless every result of a run is good enough.

    One line says why. RUN is the folder of a finished run.

    A limit is met where the lower end of the interval reaches it, not met where the upper end lies below.
    What is undecided passes, and the line says how many texts would decide.

    Example: dhp gate runs/new --min-detection 80 --against runs/old --max-drop 5
    """
    from rich.text import Text

    from dhp.core.files import write_lines
    from dhp.report.gates import add_to_history, junit_xml
    from dhp.runs.gate import check_run

    start = time.perf_counter()
    outcome = check_run(run, replace(conditions, allow=allow))
    seconds = time.perf_counter() - start
    for doubt in outcome.doubts:
        print(f"dhp: warning: {printable(doubt)}", file=sys.stderr)
    if junit:
        write_lines(Path(junit), [junit_xml(outcome, seconds, require_proof=conditions.require_proof)])
    if history:
        against = None if conditions.against is None else str(conditions.against)
        add_to_history(Path(history), run, against, outcome)
    say(Text(printable(outcome.line), no_wrap=True))
    if not outcome.passed:
        raise click.exceptions.Exit(1)
