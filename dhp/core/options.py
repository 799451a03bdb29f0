"""What callers give: keywords, options and numbers, refused with the near name or the range that is allowed.

The command line, configuration files, messages and the reference page are made of the options in the fields
of settings records (`dhp.cli.options`).
"""

import inspect
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, fields, is_dataclass
from functools import wraps
from numbers import Real
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, get_args

from dhp.core.errors import InputError, UnknownKeyword, suggest

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")
F = TypeVar("F", bound=Callable[..., Any])


def check_keywords(
    function: str, names: Iterable[str], allowed: Iterable[str], inner: Mapping[str, str] = {}
) -> None:
    """Raise `UnknownKeyword` for the first keyword that a function does not take, with the near name.

    `inner` holds what to write for keywords of the settings records that the function takes.
    """
    known = list(dict.fromkeys(allowed))
    for name in names:
        if name not in known:
            hint = f"write {inner[name]}" if name in inner else suggest(name.lower(), known)
            raise UnknownKeyword(f"{function}() has no keyword '{name}'; {hint}")


def near_keywords(call: F) -> F:
    """Let a function or class refuse an unknown keyword with the near name, as Python does from 3.13 on."""
    if isinstance(call, type):
        call.__init__ = _checked(call.__init__, call.__name__)  # type: ignore[misc]
        return call
    return _checked(call, call.__qualname__.rpartition("<locals>.")[2])


def _inner_keywords(record: object) -> dict[str, str]:
    """Field of a settings record in the defaults of a record -> how it is written as a keyword."""
    written: dict[str, str] = {}
    for field in fields(record) if is_dataclass(record) else ():
        kind = field.default_factory if isinstance(field.default_factory, type) else type(field.default)
        if not is_dataclass(kind):
            continue
        inner = {each.name: f"{each.name}=..." for each in fields(kind)} | _inner_keywords(kind)
        name = f"{field.name}=dhp.{kind.__name__}"
        written = {key: f"{name}({words})" for key, words in inner.items()} | written
    return written


def _checked(call: F, name: str, inner: Mapping[str, str] = {}) -> F:
    known = [each for each in inspect.signature(call).parameters if each not in ("self", "cls")]

    @wraps(call)
    def checked(*args: Any, **keywords: Any) -> Any:
        check_keywords(name, keywords, known, inner)
        return call(*args, **keywords)

    return checked  # type: ignore[return-value]


def keywords_of(record: Callable[P, S]) -> Callable[[Callable[[S], R]], Callable[P, R]]:
    """Let a function of one record be called with what the record is made of.

    So each keyword is declared once, as a field, and shows in the signature of every function that takes it.
    """

    def decorate(function: Callable[[S], R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **keywords: P.kwargs) -> R:
            return function(record(*args, **keywords))

        returned = inspect.signature(function).return_annotation
        signature = inspect.signature(record).replace(return_annotation=returned)
        call.__signature__ = signature  # type: ignore[attr-defined]
        return _checked(call, function.__name__, _inner_keywords(record))

    return decorate


def as_list(value: object) -> list[Any]:
    """One or several as a list; paths as text."""
    listed = list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
    return [str(entry) if isinstance(entry, Path) else entry for entry in listed]


def check_whole(name: str, value: object) -> None:
    """Raise `InputError` for what is not a whole number; numpy's count as such, True and False do not."""
    try:
        operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        whole = False
    else:
        whole = not isinstance(value, bool)
    if not whole:
        raise InputError(f"`{name}` {value!r}: is of type {type(value).__name__}; must be a whole number")


_ENDS = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:\.\.+|:|-|–)\s*(-?\d+(?:\.\d+)?)\s*")


def scale_ends(scale: object, name: str) -> tuple[float, float]:
    """The first and the last number of a scale, given as `1..10` or as two numbers; `name` is for messages.

    Raises `InputError` for anything else.
    """
    ends: object = scale
    if isinstance(scale, str):
        match = _ENDS.fullmatch(scale)
        ends = match.groups() if match else None
    try:
        first, last = map(float, ends)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        raise InputError(
            f"{name} {scale}: must have the form FIRST..LAST, e.g. 1..10, or be two numbers"
        ) from None
    return first, last


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
    repeatable: bool = False
    """Whether the option may be repeated."""
    read: Callable[[Any], Any] | None = None
    """Turns what is typed, a text, or a tuple of texts if the option may be repeated, into the value.

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
    """What is known of the setting in a field of a record; None if it is not an option."""
    declared = field.metadata.get("option")
    assert declared is None or isinstance(declared, Option)
    return declared


def check_numbers(record: Any, parameter: str = "") -> None:
    """Raise `InputError` for what is not a number if one belongs, and for a number outside its range.

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
            raise InputError(f"`{name}` {value!r}: is of type {type(value).__name__}; must be a number")
        if fault := known.fault(value):
            raise InputError(f"`{name}` {value:g}: {fault}")


def pairs_like(form: str, example: str) -> Callable[[Sequence[str]], dict[str, str]]:
    """Reads `NAME=VALUE` pairs as a mapping, for `Option.read`; `form` and `example` are for messages."""

    def read(pairs: Sequence[str]) -> dict[str, str]:
        mapping: dict[str, str] = {}
        for pair in pairs:
            name, equals, value = pair.partition("=")
            if not (name and equals and value):
                raise ValueError(f"'{pair}': must have the form {form}, e.g. {example}")
            if mapping.setdefault(name, value) != value:
                raise ValueError(f"'{pair}': '{name}' is mapped twice; map it once")
        return mapping

    return read
