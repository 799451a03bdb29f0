"""The `dhp` command: subcommands, and errors in one line with an exit code.

`main` runs the command line. `_run` sets up what every command needs, calls click, and turns what click
raises into a line and a code. What gets past it is worded in `main`: errors of ours, broken packages, files,
shortage of memory, and last of all our own faults.

Commands import most of the package within their functions, so that help and errors of usage need not wait.
"""

import gc
import io
import logging
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import NoReturn

import click

from dhp._version import __version__
from dhp.cli.command import help_all, is_whole_help
from dhp.cli.messages import Messages
from dhp.cli.options import option_names
from dhp.core.errors import DhpError, InputError, broken_installation, one_of
from dhp.core.plugins import load_target, offered
from dhp.core.shortage import shortage, spare_memory

_BROKEN_PIPE = 141
"""As shells have it: 128 and the number of the signal SIGPIPE."""
_FAULT_OF_OURS = 70
"""EX_SOFTWARE of sysexits.h."""
_DEBUG = "--debug"
_GARBAGE = (100_000, 20, 20)
"""How seldom the collector looks (Python's own: 700, 10, 10): a run makes many objects that live to its end.
Chosen, not measured."""


COMMANDS = {
    "init": ("init:init", "Write a dhp.yaml for your own data, prompt and model."),
    "benchmark": ("benchmark:benchmark", "Degrade texts, let a judge rate them, test whether it noticed."),
    "report": ("report:report", "Rebuild the report of a finished run, or print its table."),
    "compare": ("compare:compare", "Compare judges that rated the same texts."),
    "gate": ("gate:gate", "Exit with 1 unless every result of a run is good enough."),
    "leaderboard": ("leaderboard:leaderboard", "Write a static site of many runs, or add results."),
    "analyze": ("analyze:analyze", "Compute discernment scores from your own ratings."),
    "perturb": ("perturb:perturb", "Write, freeze, show or audit degraded texts."),
    "list": ("show:list_names", "List datasets, protocols, perturbers, judges and weights."),
    "show": ("show:show", "Show one dataset, protocol, perturber, judge or weights file."),
}
"""The commands that most people need, in the order of their use: module and object, what it does."""
MORE = {
    "judge": ("judge:judge", "Rate given texts without degrading them."),
    "doctor": ("installation:doctor", "Check which features work here and what the others need."),
    "data": ("installation:data", "Datasets: prepare published ones, check the bundled ones."),
}
"""The other commands of the core; plug-ins add theirs."""


def more_commands() -> dict[str, tuple[str, str]]:
    """The commands beside those that most people need: target and one line of help."""
    core: dict[str, tuple[str, str]] = {}
    for name, (target, help_line) in MORE.items():
        core[name] = (f"dhp.cli.{target}", help_line)
    offers = offered("commands")
    taken = sorted({*COMMANDS, *MORE} & offers.keys())
    if taken:
        raise InputError(f"plug-ins: a command '{taken[0]}' exists already; allowed: another name")
    return core | offers


class _Commands(click.Group):
    """Imports a command when it is needed: the list of commands imports none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *more_commands()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            target = f"dhp.cli.{COMMANDS[cmd_name][0]}"
        else:
            target, _ = more_commands().get(cmd_name, ("", ""))
        command: click.Command | None = load_target(target) if target else None
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-"):
            # Before click looks it up, as our error suggests a command of a near name.
            one_of("command", args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        more = more_commands()
        whole = is_whole_help(ctx)
        shown = COMMANDS | more if whole else COMMANDS
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_line) for name, (_, help_line) in shown.items()])
        if not whole:
            formatter.write_paragraph()
            formatter.write_text(f"more: {', '.join(more)}")


@click.group(cls=_Commands, context_settings={"show_default": True})
@click.version_option(__version__, message="dhp %(version)s", help="Show the version.")
@click.option(_DEBUG, is_flag=True, help="Show the traceback of an error; allowed anywhere.")
def app(debug: bool) -> None:
    """Can this judge tell good text from the same text made worse?"""


app.params.append(help_all("Show all commands."))


def _names(command: click.Command | None) -> Mapping[str, str]:
    """The options that parameters have in a command, else in `dhp benchmark`."""
    from dhp.cli.benchmark import benchmark

    return option_names(benchmark) | (option_names(command) if command else {})


_MESSAGES = Messages(_names)


def main(arguments: Sequence[str] | None = None, *, program: str = "dhp") -> NoReturn:
    """Run the command line and exit.

    0 done, 1 a gate or an installation failed, 2 bad input or usage, 3 stopped early, 70 a fault of ours.
    Errors are one line; `--debug`, anywhere, shows where they come from as well.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = _DEBUG in words
    try:
        for argument in words:
            _check_utf8(argument)
        # By hand, as click takes an option of the group only before the command.
        _run([argument for argument in words if argument != _DEBUG], program)
    except Exception as e:  # noqa: BLE001  the last place where it can be said in one line
        if debug:
            import traceback

            traceback.print_exc()
        short = shortage(e)
        if short:
            _MESSAGES.say(short)
            sys.stdout.flush()
            os._exit(3)  # libraries that are loaded in part may crash as the interpreter ends
        if isinstance(e, DhpError):
            _fail(e.message, e.exit_code)
        broken = broken_installation(e)
        if broken:
            _fail(broken, 2)
        if isinstance(e, OSError):  # a file that no reader or writer of ours expected to fail
            from dhp.core.writing import MAKE_ROOM, is_full

            full = is_full(e)
            advice = f"; {MAKE_ROOM}" if full else ""
            _fail(f"{e.filename or 'output'}: {e.strerror or e}{advice}", 3 if full else 2)
        from dhp.core.files import reason

        hint = "" if debug else f"; run it again with {_DEBUG} to see where"
        _fail(f"internal error, {type(e).__name__}: {reason(e)}{hint}", _FAULT_OF_OURS)


def _check_utf8(argument: str) -> None:
    """Raise `InputError` for an argument, a path perhaps, that no file or library could take as text."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        raise InputError(f"argument '{argument}': is not UTF-8; allowed: UTF-8, also in paths") from None


def _run(arguments: Sequence[str], program: str) -> NoReturn:
    gc.set_threshold(*_GARBAGE)
    spare_memory()
    warnings.showwarning = _MESSAGES.show_warning  # type: ignore[assignment]
    log = logging.getLogger("dhp")
    log.handlers = [_MESSAGES]
    log.setLevel(logging.INFO)
    _MESSAGES.begin()  # in tests several commands run in one process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character shows '?'
    try:
        # Not standalone, so that click raises its errors instead of printing them in several lines.
        code = app(arguments, prog_name=program, standalone_mode=False, obj=_MESSAGES)
    except SystemExit:  # how click and rich say that nobody reads on
        code = _BROKEN_PIPE
    except click.ClickException as e:
        message = e.format_message()
        if "\n" in message:  # the help page, shown when no command is given
            print(message)
            sys.exit(2)
        option = _repeatable(e, arguments) if "extra argument" in message else None
        if option:
            message += f"; {option} is repeated for each value"
        _fail(_explained(e) or message, 2)
    except (click.Abort, KeyboardInterrupt):
        _fail("stopped; repeat the command to resume", 3)
    sys.exit(code if isinstance(code, int) else 0)


def _explained(error: click.ClickException) -> str | None:
    """What to write if an argument is missing, or an option of `dhp benchmark` stands without the command."""
    if isinstance(error, click.MissingParameter) and error.ctx:
        return f"{error.format_message().rstrip('.')}; {error.ctx.command_path} --help says more"
    if isinstance(error, click.NoSuchOption) and error.ctx and error.ctx.command is app:
        from dhp.cli.benchmark import benchmark

        name = error.option_name
        for option in benchmark.params:
            if name in option.opts:
                return f"{name}: is an option of a command; write dhp benchmark {name} ..."
    return None


def _repeatable(error: click.ClickException, arguments: Sequence[str]) -> str | None:
    """The last argument that is an option which may be repeated, if there is one."""
    if not isinstance(error, click.UsageError) or error.ctx is None:
        return None
    names: set[str] = set()
    for option in error.ctx.command.params:
        if isinstance(option, click.Option) and option.multiple:
            names.update(option.opts)
    for argument in reversed(arguments):
        if argument in names:
            return argument
    return None


def _fail(message: str, code: int) -> NoReturn:
    _MESSAGES.say(message)
    sys.exit(code)
