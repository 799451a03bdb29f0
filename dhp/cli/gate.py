"""`dhp gate`: check a run against limits, for scripts and continuous integration."""

import sys
from dataclasses import replace

import click

from dhp.cli.options import Command, settings
from dhp.cli.protocol_options import ALLOW
from dhp.core.text import printable
from dhp.runs.conditions import Gate


@click.command(cls=Command)
@click.argument("run")
@ALLOW
@settings("conditions", Gate)
def gate(run: str, allow: tuple[str, ...], conditions: Gate) -> None:
    """Exit with 1 unless every result of a run is good enough.

    One line says why. RUN is the folder of a finished run.

    A limit is met where the lower end of the interval reaches it, not met where the upper end lies below.
    What is undecided passes, and the line says how many texts would decide.

    Example: dhp gate runs/new --min-detection 80 --against runs/old --max-drop 5
    """
    from dhp.runs.gate import check_run

    found = check_run(run, replace(conditions, allow=allow))
    for doubt in found.doubts:
        print(f"dhp: warning: {printable(doubt)}", file=sys.stderr)
    print(printable(found.line))
    if not found.passed:
        raise click.exceptions.Exit(1)
