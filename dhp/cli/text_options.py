"""Options of texts that several commands share."""

from collections.abc import Callable
from functools import wraps

import click

from dhp.core.errors import InputError
from dhp.core.plugins import offered

DATASET = click.option(
    "--dataset",
    multiple=True,
    metavar="NAME|FILE",
    help="Texts: mini (default), mini/NAME, NAME, all, a table or log of your own, or hf:ORG/NAME; may be "
    "repeated.",
)
RELEASED = click.option(
    "--format",
    "form",
    metavar="NAME",
    help="Released scores: bump, judgebench, llmbar, rewardbench2 or trajectory.",
)
SEED = click.option("--seed", default=0, metavar="K", help="Seed of every random choice.")
ALLOW = click.option(
    "--allow",
    multiple=True,
    metavar="PART",
    help="Part of the signature that may differ between runs: protocol or metrics; may be repeated.",
)


class _ScheduleOption(click.Option):
    """The option of a schedule."""

    heading = "Which texts are rated next, given the ratings so far; otherwise all"


def schedule_options(command: Callable[..., object]) -> Callable[..., object]:
    """Let a command take the name of a schedule: each that a plug-in adds is an option."""
    known = offered("schedules")

    @wraps(command)
    def wrapper(**given: object) -> object:
        chosen = [name for name in known if given.pop(name)]
        if len(chosen) > 1:
            raise InputError(f"`{chosen[0]}`: cannot be used with `{chosen[1]}`; allowed: one of them")
        return command(**given, schedule=chosen[0] if chosen else "all")

    for name, (_, help_text) in reversed(known.items()):
        flag = f"--{name.replace('_', '-')}"
        click.option(flag, name, cls=_ScheduleOption, is_flag=True, help=help_text)(wrapper)
    return wrapper
