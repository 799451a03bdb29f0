"""The `dhp` command: subcommands, and errors in one line with an exit code."""

import io
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer
from typer.exceptions import Abort, Exit, TyperException

from dhp.cli.analyze import analyze
from dhp.cli.benchmark import benchmark
from dhp.cli.compare import compare
from dhp.cli.data import data
from dhp.cli.doctor import doctor
from dhp.cli.gate import gate
from dhp.cli.leaderboard import leaderboard
from dhp.cli.perturb import perturb
from dhp.cli.power import power
from dhp.cli.protocols import protocols
from dhp.cli.report import report
from dhp.cli.weights import weights
from dhp.core.errors import DhpError
from dhp.core.files import reason
from dhp.core.text import printable

_BROKEN_PIPE = 141  # as the shell has it
_INTERRUPTED = 130  # what typer returns for Ctrl-C
_FAULT_OF_OURS = 70
_DEBUG = "--debug"

app = typer.Typer(
    help="Can this judge tell good text from the same text made worse?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(benchmark)
app.command()(perturb)
app.command()(analyze)
app.command()(compare)
app.command()(gate)
app.command()(power)
app.command()(report)
app.command()(doctor)
app.add_typer(data, name="data")
app.add_typer(protocols, name="protocols")
app.add_typer(weights, name="weights")
app.add_typer(leaderboard, name="leaderboard")


def _version(wanted: bool) -> None:
    if wanted:
        from dhp._version import __version__

        typer.echo(f"dhp {__version__}")
        raise Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option(_DEBUG, help="Show where an error comes from; goes anywhere.")
    ] = False,
) -> None:
    """Options before any subcommand."""


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
            traceback.print_exc()
        match e:
            case DhpError():
                _fail(str(e), e.exit_code)
            case OSError():  # a file that no reader or writer of ours expected to fail
                _fail(f"{e.filename or 'output'}: {e.strerror or e}", 2)
        hint = "" if debug else f"; run it again with {_DEBUG} to see where"
        _fail(f"internal error, {type(e).__name__}: {reason(e)}{hint}", _FAULT_OF_OURS)


def _run(arguments: Sequence[str], program: str) -> NoReturn:
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character shows '?'
    try:
        code = app(arguments, prog_name=program, standalone_mode=False)
    except SystemExit:  # how typer and rich say that nobody reads on
        code = _BROKEN_PIPE
    except TyperException as e:
        message = e.format_message()
        if "\n" in message:  # the help page, shown when no command is given
            print(message)
            sys.exit(2)
        _fail(message, 2)
    except Abort:
        code = _INTERRUPTED
    if code == _INTERRUPTED:
        _fail("stopped; the same command goes on from here", 3)
    sys.exit(code if isinstance(code, int) else 0)


def _show_warning(message: Warning | str, *_: object) -> None:
    print(f"dhp: {printable(str(message))}", file=sys.stderr)


def _fail(message: str, code: int) -> NoReturn:
    print(f"dhp: {printable(' '.join(message.split()))}", file=sys.stderr)
    sys.exit(code)
