"""The `dhp` command: subcommands, and errors in one line with an exit code."""

import io
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer
from typer.exceptions import Abort, Exit, TyperException

from dhp.cli.analyze import analyze
from dhp.cli.benchmark import benchmark
from dhp.cli.data import data
from dhp.cli.perturb import perturb
from dhp.errors import DhpError
from dhp.text import printable

_INTERRUPTED = 130  # what typer returns for Ctrl-C

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
app.add_typer(data, name="data")


def _version(wanted: bool) -> None:
    if wanted:
        from dhp import __version__

        typer.echo(f"dhp {__version__}")
        raise Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options before any subcommand."""


def main(arguments: Sequence[str] | None = None, *, program: str = "dhp") -> NoReturn:
    """Run the command line and exit: 0 done, 2 bad input or usage, 3 stopped early."""
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character shows '?'
    try:
        code = app(arguments, prog_name=program, standalone_mode=False)
    except DhpError as e:
        _fail(str(e), e.exit_code)
    except TyperException as e:
        message = e.format_message()
        if "\n" in message:  # the help page, shown when no command is given
            print(message)
            sys.exit(2)
        _fail(message, 2)
    except Abort:
        code = _INTERRUPTED
    except OSError as e:  # a file that no reader or writer of ours expected to fail
        _fail(f"{e.filename or 'file'}: {e.strerror or e}", 2)
    if code == _INTERRUPTED:
        _fail("stopped; the same command starts again", 3)
    sys.exit(code if isinstance(code, int) else 0)


def _show_warning(message: Warning | str, *_: object) -> None:
    print(f"dhp: {printable(str(message))}", file=sys.stderr)


def _fail(message: str, code: int) -> NoReturn:
    print(f"dhp: {printable(' '.join(message.split()))}", file=sys.stderr)
    sys.exit(code)
