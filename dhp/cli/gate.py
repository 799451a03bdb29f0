"""`dhp gate`: whether a run is good enough, for scripts and continuous integration."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from dhp.core.text import printable


def gate(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Folder of a finished run.")],
    min_d_min: Annotated[
        float | None, typer.Option("--min-d-min", metavar="X", help="Least D_min of every result.")
    ] = None,
    min_d_avg: Annotated[
        float | None, typer.Option("--min-d-avg", metavar="X", help="Least D_avg of every result.")
    ] = None,
    against: Annotated[
        str | None, typer.Option("--against", metavar="OLD_RUN", help="An earlier run, for --max-drop.")
    ] = None,
    max_drop: Annotated[
        float | None,
        typer.Option("--max-drop", metavar="X", help="Most that D_min and D_avg may fall against it."),
    ] = None,
) -> None:
    """Exit with 1, and one line why, unless every result of a run is good enough.

    Example: dhp gate runs/new --min-d-min 1 --min-d-avg 2 --against runs/old --max-drop 0.5
    """
    from dhp.runs.gate import Gate, check_run

    conditions = Gate(min_d_min, min_d_avg, max_drop, None if against is None else Path(against))
    verdict = check_run(run, conditions)
    for doubt in verdict.doubts:
        print(f"dhp: warning: {printable(doubt)}", file=sys.stderr)
    print(printable(verdict.line))
    if not verdict.met:
        raise typer.Exit(1)
