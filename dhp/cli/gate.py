"""`dhp gate`: whether a run is good enough, for scripts and continuous integration."""

import sys
from pathlib import Path

import click

from dhp.cli.option_groups import ALLOW
from dhp.core.text import printable


@click.command()
@click.argument("run")
@click.option("--min-d-min", type=float, metavar="X", help="Least D_min of every result.")
@click.option("--min-d-avg", type=float, metavar="X", help="Least D_avg of every result.")
@click.option("--min-detection", type=float, metavar="PERCENT", help="Least detection of every result.")
@click.option("--against", metavar="OLD_RUN", help="An earlier run, for --max-drop.")
@click.option("--max-drop", type=float, metavar="POINTS", help="Points of detection that may be lost.")
@click.option("--allow", **ALLOW)
def gate(
    run: str,
    min_d_min: float | None,
    min_d_avg: float | None,
    min_detection: float | None,
    against: str | None,
    max_drop: float | None,
    allow: tuple[str, ...],
) -> None:
    """Exit with 1 unless every result of a run is good enough.

    One line says why. RUN is the folder of a finished run.

    A loss counts where it is proven: what is undecided passes, and is said.

    Example: dhp gate runs/new --min-detection 80 --against runs/old --max-drop 5
    """
    from dhp.runs.gate import Gate, check_run

    earlier = None if against is None else Path(against)
    conditions = Gate(min_d_min, min_d_avg, min_detection, max_drop, earlier, allow)
    verdict = check_run(run, conditions)
    for doubt in verdict.doubts:
        print(f"dhp: warning: {printable(doubt)}", file=sys.stderr)
    print(printable(verdict.line))
    if not verdict.met:
        raise click.exceptions.Exit(1)
