"""The `dhp` command: subcommands, and errors in one line with an exit code."""

import gc
import io
import logging
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import click

from dhp._version import __version__
from dhp.cli.messages import Messages
from dhp.core.errors import DhpError
from dhp.core.files import reason

_BROKEN_PIPE = 141  # as the shell has it
_FAULT_OF_OURS = 70
_DEBUG = "--debug"
_PATTERNS = "--batch-read"
_GARBAGE = (100_000, 20, 20)
"""How seldom the collector looks: a run makes many objects that live to its end."""


_COMMANDS = tuple(
    "benchmark audit perturb judge analyze compare gate power correlate correct report card jury battle"
    " evaluate doctor init batch data protocols weights leaderboard".split()
)
"""Each is the object of that name in the module of that name, which is imported when it is asked for."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"dhp.cli.{cmd_name}"), cmd_name)
        return command


@click.group(cls=_Commands, context_settings={"show_default": True})
@click.version_option(__version__, message="dhp %(version)s", help="Show the version.")
@click.option(_DEBUG, is_flag=True, help="Show where an error comes from; goes anywhere.")
def app(debug: bool) -> None:
    """Can this judge tell good text from the same text made worse?"""


def _options(command: click.Command = app) -> frozenset[str]:
    """The options of a command and of those below it."""
    found = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            if inner := command.get_command(context, name):
                found |= _options(inner)
    return frozenset(found)


_MESSAGES = Messages(_options)


def main(arguments: Sequence[str] | None = None, *, program: str = "dhp") -> NoReturn:
    """Run the command line and exit.

    0 done, 1 a gate or an installation failed, 2 bad input or usage, 3 stopped early, 70 a fault of ours.
    Errors are one line; `--debug`, anywhere, shows where they come from as well.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = _DEBUG in given
    try:
        _run([argument for argument in given if argument != _DEBUG], program)
    except Exception as e:  # noqa: BLE001  the last place where it can be said in one line
        if debug:
            import traceback

            traceback.print_exc()
        match e:
            case DhpError():
                _fail(str(e), e.exit_code)
            case OSError():  # a file that no reader or writer of ours expected to fail
                _fail(f"{e.filename or 'output'}: {e.strerror or e}", 2)
        hint = "" if debug else f"; run it again with {_DEBUG} to see where"
        _fail(f"internal error, {type(e).__name__}: {reason(e)}{hint}", _FAULT_OF_OURS)


def _run(arguments: Sequence[str], program: str) -> NoReturn:
    gc.set_threshold(*_GARBAGE)
    warnings.showwarning = _MESSAGES.show_warning  # type: ignore[assignment]
    logging.getLogger("dhp").handlers = [_MESSAGES]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character shows '?'
    try:
        code = app(arguments, prog_name=program, standalone_mode=False)
    except SystemExit:  # how click and rich say that nobody reads on
        code = _BROKEN_PIPE
    except click.ClickException as e:
        message = e.format_message()
        if "\n" in message:  # the help page, shown when no command is given
            print(message)
            sys.exit(2)
        if "extra argument" in message and _PATTERNS in arguments:
            message += f"; {_PATTERNS} is given once a file, or with a pattern in quotes"
        _fail(message, 2)
    except click.Abort:
        _fail("stopped; the same command goes on from here", 3)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int) -> NoReturn:
    _MESSAGES.say(message)
    sys.exit(code)
