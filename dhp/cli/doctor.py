"""`dhp doctor`: check what this installation can do."""

import click

from dhp.cli.options import Command, setting, settings
from dhp.cli.output import JSON, print_out
from dhp.judge.adapters.settings import JudgeSettings
from dhp.llm.settings import ModelSettings


@click.command(cls=Command)
@setting(ModelSettings, "base_url")
@click.option(
    "--judge",
    metavar="MODEL",
    help="Also describe this judge, e.g. python:MODULE:OBJECT, without calling it.",
)
@settings("judge_settings", JudgeSettings, only=("fields",))
@JSON
def doctor(base_url: str | None, judge: str | None, judge_settings: JudgeSettings, json: bool) -> None:
    """Check which features work here and what the others need.

    Exits with 1 if the core does not work. With --base-url it lists the models of that server; no other
    server is asked.

    Example: dhp doctor --base-url http://localhost:8000/v1
    """
    from dataclasses import asdict

    from dhp.doctor import examine
    from dhp.report.printout import Printout, TextTable

    checks = examine(base_url, judge=judge, fields=judge_settings.fields)
    rows = [(check.state, check.name, check.says) for check in checks]
    print_out(Printout([TextTable("", (), rows)], [asdict(check) for check in checks]), json=json)
    if any(check.state == "failed" for check in checks):
        raise click.exceptions.Exit(1)
