"""Errors, warnings and notes of the package as lines that name options."""

import logging
import re
import sys
from collections.abc import Callable, Mapping

import click

from dhp.core.errors import unquoted

_PARAMETER = re.compile(r"`([a-z_]+(?:\.[a-z_]+)*)(=None|=False)?`")
"""How the library names a parameter in a message: `pass_mark`, `limits.cost`, `temperature=None`."""


class Messages(logging.Handler):
    """Prints errors, warnings and what the package logs, one line each."""

    def __init__(self, names: Callable[[click.Command | None], Mapping[str, str]]) -> None:
        """`names` gives the options that parameters have in a command."""
        super().__init__()
        self._names = names
        self.command: click.Command | None = None
        """The command that runs."""
        self._logged: set[str] = set()

    def begin(self) -> None:
        """Forget what was said by an earlier command."""
        self._logged.clear()

    def say(self, message: str) -> None:
        """Print a message."""
        from dhp.core.shown import printable

        if _PARAMETER.search(message):  # else no command need be imported
            names = self._names(self.command)
            message = _PARAMETER.sub(lambda match: _option(match, names), message)
        print(f"dhp: {printable(' '.join(unquoted(message).split()))}", file=sys.stderr)

    def emit(self, record: logging.LogRecord) -> None:
        """Print what is logged, once: a file that is read again has nothing new to tell."""
        message = record.getMessage()
        if message not in self._logged:
            self._logged.add(message)
            self.say(message)

    def show_warning(self, message: Warning | str, *_: object) -> None:
        """Replacement of `warnings.showwarning`."""
        self.say(str(message))


def _option(match: re.Match[str], names: Mapping[str, str]) -> str:
    """The option of a parameter; other names are left unchanged."""
    name, value = match[1], match[2] or ""
    group, _, rest = name.partition(".")
    if name not in names and group in names:  # the library knows more of the path than this command has
        name = rest
    # Settings that may be left to the model are None in the library and `default` on the command line.
    if value == "=None":
        return f"{names[name]} default" if name in names else match[0]
    return names.get(name + value, match[0])
