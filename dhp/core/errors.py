"""Exceptions and their exit codes; imports of optional packages."""

import importlib
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from types import ModuleType

from dhp.core.hiding import hidden

_MOST_NAMES = 200
"""Names that a message lists; of further ones it says the number. Chosen."""


_QUOTED = "`\u2060"
"""A backquote in words of others, with an invisible mark behind it."""


def quoted(words: str) -> str:
    """The words of others for a message: no name in them is taken for a parameter of ours."""
    return words.replace("`", _QUOTED)


def unquoted(message: str) -> str:
    """The message as it is shown."""
    return message.replace(_QUOTED, "`")


class _InOneLine(BaseException):
    """An error whose text says all: a notebook shows it in one line, without the calls that led to it."""

    def _render_traceback_(self) -> list[str]:
        """What IPython prints in place of a traceback."""
        return [f"{type(self).__name__}: {self}"]


class UnknownKeyword(_InOneLine, TypeError):
    """A keyword that a function does not take; says the near name."""


class DhpError(_InOneLine, Exception):
    """Base of every error this package raises on purpose; its text is one line for the user."""

    exit_code = 2

    @property
    def message(self) -> str:
        """The text in which the words of others are still `quoted`."""
        return super().__str__()

    def __str__(self) -> str:
        return hidden(unquoted(self.message))


class InputError(DhpError):
    """Bad input or usage: says what is wrong, where, and what is allowed (exit code 2)."""


class DiskFull(InputError):
    """There is no room for a file; the same command goes on when there is (exit code 3)."""

    exit_code = 3


class StoppedEarly(DhpError):
    """Stopped at a limit or because a server gave out; the same command goes on (exit code 3)."""

    exit_code = 3


class Unreadable(StoppedEarly):
    """Stopped because most of the first answers of a judge cannot be read."""


class Waiting(StoppedEarly):
    """Requests are left to a filler; the work is done again when their replies are there."""


class NotApplicable(Exception):
    """Raised by a perturber whose kind of damage is impossible in this text, with the reason."""


def suggest(name: str, allowed: Iterable[str]) -> str:
    """The tail of an error message: the near name, if there is one, and what is allowed."""
    import difflib

    options = sorted(allowed)
    close = difflib.get_close_matches(name, options, n=1, cutoff=0.6)
    hint = f"did you mean '{close[0]}'? " if close else ""
    return f"{hint}allowed: {listed(options) or 'none'}"


def missing_column(place: object, column: str, columns: Iterable[object]) -> InputError:
    """The error for a column that a table lacks, with the near name."""
    return InputError(f"{place}: column '{column}' is missing; {suggest(column, map(str, columns))}")


def one_of(kind: str, name: object, allowed: Collection[str], where: str = "") -> None:
    """Raise `InputError` with the near name unless `name` is allowed; `kind` says what is named."""
    if name not in allowed:
        start = f"{where}: " if where else ""
        raise InputError(f"{start}unknown {kind} '{name}'; {suggest(str(name), allowed)}")


def unique(kind: str, names: Iterable[object], where: str) -> None:
    """Raise `InputError` for the first name that came before; `kind` says what is named."""
    seen: set[object] = set()
    for name in names:
        if name in seen:
            raise InputError(f"{where}: duplicate {kind} '{name}'")
        seen.add(name)


def listed(names: Sequence[str]) -> str:
    """The names, of very many the first ones and how many more there are."""
    first = ", ".join(names[:_MOST_NAMES])
    further = len(names) - _MOST_NAMES
    return f"{first} and {further:,} more" if further > 0 else first


def install_command(extra: str) -> str:
    """What to type for an extra of this distribution."""
    return f'pip install -e ".[{extra}]"'


def require(*distributions: str, purpose: str, extra: str = "") -> None:
    """Raise `InputError` with the command to type unless all `distributions`, of an `extra`, are installed.

    Installed packages are asked for, nothing is imported: a folder of the same name in the working
    directory would pass for the library.
    """
    from importlib.metadata import PackageNotFoundError, version

    for distribution in distributions:
        try:
            version(distribution)
        except PackageNotFoundError:
            command = install_command(extra) if extra else f"pip install {' '.join(distributions)}"
            raise InputError(
                f"{purpose} needs the package '{distribution}', which is not installed; {command}"
            ) from None


def broken_installation(error: BaseException) -> str | None:
    """What to say if another package that dhp needs cannot be imported; None for other errors."""
    if not isinstance(error, ImportError):
        return None
    name = (error.name or "").partition(".")[0]
    if not name or name == "dhp":  # then it is a module of ours that is missing
        return None
    wrong = "is not installed" if isinstance(error, ModuleNotFoundError) else f"is broken ({error.msg})"
    return f"the package '{name}', which dhp needs, {wrong}; install dhp again"


def imported(load: Callable[[], object], place: str) -> object:
    """What `load` returns; whatever somebody else's module raises becomes an `InputError` at `place`."""
    # SystemExit, as a script of the user's may call `sys.exit` where it is imported.
    try:
        return load()
    except (Exception, SystemExit) as e:
        raise InputError(f"{place}: cannot be imported ({type(e).__name__}: {e})".splitlines()[0]) from e


def imported_module(name: str, place: str) -> ModuleType:
    """A module by its name, of the working directory too; raises `InputError` if it cannot be imported."""
    if "" not in sys.path:  # a console script has its own folder there, and not the working directory
        sys.path.insert(0, "")
    module = imported(lambda: importlib.import_module(name), place)
    assert isinstance(module, ModuleType)
    return module
