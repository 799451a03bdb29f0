"""`dhp doctor`: what this installation can do."""

from typing import Annotated

import typer

from dhp.core.text import printable


def doctor(
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", metavar="URL", help="Also ask this server for its models; up to /v1."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Say what works here and what is missing for what; exit with 1 if the core does not work.

    No server is asked but the one that you name.

    Example: dhp doctor --base-url http://localhost:8000/v1
    """
    from dataclasses import asdict
    from json import dumps

    from dhp.doctor import examine

    checks = examine(base_url)
    if json:
        print(dumps([asdict(check) for check in checks], ensure_ascii=False, indent=1))
    else:
        width = max(len(check.name) for check in checks)
        for check in checks:
            print(printable(f"{check.state:8} {check.name:{width}}  {check.says}"))
    if any(check.state == "failed" for check in checks):
        raise typer.Exit(1)
