"""`dhp gate`: whether a finished run is good enough."""

import logging
import time
from dataclasses import replace
from pathlib import Path

import click

from dhp.cli.command import Command
from dhp.cli.options import settings
from dhp.cli.output import say
from dhp.cli.protocol_options import ALLOW, dry_run_option
from dhp.core.checks import exclusive
from dhp.core.progress import progress_shown
from dhp.core.writing import write_lines
from dhp.report.document import Code
from dhp.runs.conditions import Gate


@click.command(cls=Command, rules=(exclusive("dry_run", "junit"),))
@click.argument("run")
@ALLOW
@click.option(
    "--junit", metavar="FILE", help="Write the outcome of each condition to this file as JUnit XML."
)
@dry_run_option("Only print the chance that a judge that did not change fails this gate.")
@settings("conditions", Gate)
def gate(
    run: str,
    allow: tuple[str, ...],
    junit: str | None,
    dry_run: bool,
    conditions: Gate,
) -> None:
    """Exit with 1 unless every result of a run is good enough.

    One line says why. RUN is the folder of a finished run.

    A limit is met if the lower end of the interval reaches it, not met if the upper end lies below.
    What is undecided passes, and the line says how many texts would decide.

    Example: dhp gate runs/new --min-detection 80 --against runs/old --max-drop 5
    """
    from dhp.report.junit import junit_xml
    from dhp.runs.gate import check_run
    from dhp.runs.gate_chance import chance_of_failing

    # `allow` is an option that several commands share, so it is no option of `Gate`.
    conditions = replace(conditions, allow=allow)
    if dry_run:
        with progress_shown("rounds") as show:
            chance = chance_of_failing(run, conditions, progress=show)
        say(str(chance))
        return
    start = time.perf_counter()
    outcome = check_run(run, conditions)
    seconds = time.perf_counter() - start
    # On standard error: the outcome is the only line on standard output.
    for doubt in outcome.doubts:
        logging.getLogger("dhp").warning("warning: %s", doubt)
    if junit:
        write_lines(Path(junit), [junit_xml(outcome, seconds, require_proof=conditions.require_proof)])
    say(Code(outcome.sentence))
    if not outcome.passed:
        raise click.exceptions.Exit(1)
