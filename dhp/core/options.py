"""Metadata of options in the fields of settings records.

The command line, configuration files, messages and the reference page are made of it (`dhp.cli.options`).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, fields
from numbers import Real
from typing import Any, get_args

from dhp.core.errors import InputError
from dhp.core.keywords import check_whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """What is known of a setting beside its type and its default."""

    help: str
    name: str = ""
    """Name on the command line, e.g. `--max-cost` or `--ties/--no-ties`; default: the name of the field."""
    metavar: str = ""
    """Placeholder of the value in the help text."""
    low: float = -math.inf
    """The least number allowed."""
    high: float = math.inf
    """The greatest number allowed."""
    above: float = -math.inf
    """Lower limit that is itself not allowed."""
    percent: bool = False
    """Whether it is a percentage: a number between 0 and 1 is refused then, as it is probably a share."""
    many: bool = False
    """Whether the option may be repeated."""
    read: Callable[[Any], Any] | None = None
    """Turns what is typed, a text, or a tuple of texts where the option may be repeated, into the value.

    Raises `ValueError` with the text and what is allowed.
    """

    def fault(self, value: float) -> str | None:
        """What is wrong with a number; None if nothing is."""
        if not math.isfinite(value):
            return "must be a finite number"
        if self.percent and 0 < value < 1:
            return f"is in per cent; for a share of {value:g} write {100 * value:g}"
        if self.low <= value <= self.high and value > self.above:
            return None
        least = f"more than {self.above:g}" if math.isfinite(self.above) else f"{self.low:g} or more"
        return f"allowed: {least}" + (f", at most {self.high:g}" if math.isfinite(self.high) else "")


def check_percent(parameter: str, value: float, low: float = 0, high: float = 100) -> None:
    """Raise `InputError` for a percentage out of range, and for a number between 0 and 1."""
    if fault := Option(help="", percent=True, low=low, high=high).fault(value):
        raise InputError(f"{parameter} {value:g}: {fault}")


def option(help: str, **known: Any) -> dict[str, Option]:
    """The metadata of a field that is an option: its help, and further fields of `Option`."""
    return {"option": Option(help=help, **known)}


def option_of(field: "Field[Any]") -> Option | None:
    """What is known of the setting in a field of a record; None where it is not an option."""
    found = field.metadata.get("option")
    assert found is None or isinstance(found, Option)
    return found


def check_numbers(record: Any, parameter: str = "") -> None:
    """Raise `InputError` for what is not a number where one belongs, and for a number outside its range.

    `parameter` is how messages call the record.
    """
    for field in fields(record):
        value, known = getattr(record, field.name), option_of(field)
        kinds = (field.type, *get_args(field.type))
        if known is None or value is None or not {int, float} & set(kinds):
            continue
        name = f"{parameter}.{field.name}" if parameter else field.name
        if int in kinds:
            check_whole(name, value)
        elif isinstance(value, bool) or not isinstance(value, Real):
            raise InputError(f"`{name}` {value!r}: is a {type(value).__name__}; allowed: a number")
        if fault := known.fault(value):
            raise InputError(f"`{name}` {value:g}: {fault}")


def pairs_like(form: str, example: str) -> Callable[[Sequence[str]], dict[str, str]]:
    """Reads `NAME=VALUE` pairs as a mapping, for `Option.read`; `form` and `example` are for messages."""

    def read(pairs: Sequence[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for pair in pairs:
            name, equals, value = pair.partition("=")
            if not (name and equals and value):
                raise ValueError(f"'{pair}': must have the form {form}, e.g. {example}")
            if found.setdefault(name, value) != value:
                raise ValueError(f"'{pair}': '{name}' is mapped twice; map it once")
        return found

    return read
