"""Options of settings, and the keywords that callers state.

A setting is declared once, as a field that `option` makes. From there it goes two ways:

- In Python `keywords_of` lets a function take the fields of a record as its keywords, and makes the record.
- On the command line `dhp.cli.options` makes an option of each field. Configuration files, messages and the
  reference page follow from these.

Either way the record checks itself; see `dhp.core.checks.Checked`.
"""

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from dhp.core.errors import InputError, UnknownKeyword, suggest

R = TypeVar("R")
S = TypeVar("S")
F = TypeVar("F", bound=Callable[..., Any])


def check_keywords(function: str, names: Iterable[str], allowed: Iterable[str]) -> None:
    """Raise `UnknownKeyword` for the first keyword that a function does not take, with the near name."""
    known = list(dict.fromkeys(allowed))  # fields of inner records may have the name of an outer one
    for name in names:
        if name not in known:
            raise UnknownKeyword(f"{function}() has no keyword '{name}'; {suggest(name.lower(), known)}")


def near_keywords(call: F) -> F:
    """Let a function refuse an unknown keyword with the near name, as Python does from 3.13 on."""
    known = [each for each in inspect.signature(call).parameters if each not in ("self", "cls")]
    name = call.__qualname__.rpartition("<locals>.")[2]  # `Dataset.of`, but no name of a test around it

    @wraps(call)
    def checked(*args: Any, **keywords: Any) -> Any:
        check_keywords(name, keywords, known)
        return call(*args, **keywords)

    return checked  # type: ignore[return-value]


def keywords_of(record: type[S]) -> Callable[[Callable[[S], R]], Callable[..., R]]:
    """Let a function of one record be called with what the record is made of.

    So each keyword is declared once, as a field, and shows in the signature of functions that take it.
    Where a field is a record of settings, fields of that one may be given by themselves: `base_url=...` for
    `settings=ModelSettings(base_url=...)`.
    """
    inner = _inner_fields(record)
    known = [part.name for part in fields(record) if part.init]  # type: ignore[arg-type]
    known += inner

    def decorate(function: Callable[[S], R]) -> Callable[..., R]:
        @wraps(function)
        def call(*args: Any, **keywords: Any) -> R:
            check_keywords(function.__name__, keywords, known)
            return function(record(*args, **_gathered(record, keywords, inner)))

        # What editors and `help` show: the fields of the record as keywords.
        returned = inspect.signature(function).return_annotation
        signature = inspect.signature(record).replace(return_annotation=returned)
        call.__signature__ = signature  # type: ignore[attr-defined]
        return call

    return decorate


def _inner_fields(record: Any) -> dict[str, tuple[str, ...]]:
    """Field of the settings records in a record -> the fields that lead to it, the outermost first."""
    parts = fields(record)
    inner: dict[str, tuple[str, ...]] = {}
    # A record of settings is known by its default: `settings: ModelSettings = ModelSettings()`.
    for part in parts:
        # A factory that is a class is called; without a factory there stands a mark, which is no class.
        default = part.default_factory() if isinstance(part.default_factory, type) else part.default
        if not is_dataclass(default) or isinstance(default, type):
            continue
        # If two records have a field of one name, it is that of the outer or earlier record.
        further = {name: (part.name, *path) for name, path in _inner_fields(default).items()}
        direct = {each.name: (part.name,) for each in fields(default)}
        inner = further | direct | inner
    # A name that is also a field of the record itself means that field.
    names = {part.name for part in parts}
    return {name: path for name, path in inner.items() if name not in names}


def _gathered(
    record: Any, keywords: Mapping[str, Any], inner: Mapping[str, tuple[str, ...]]
) -> dict[str, Any]:
    """The keywords of a record, those of settings records put into these."""
    defaults = {part.name: part.default for part in fields(record)}
    # First the records that are given as a whole: a field that is given by itself changes them.
    gathered = {name: value for name, value in keywords.items() if name not in inner}
    for name, value in keywords.items():
        if name in inner:
            part, *path = inner[name]
            settings = gathered.get(part, defaults[part])
            gathered[part] = _with(settings, path, name, value)
    return gathered


def _with(record: Any, path: Sequence[str], name: str, value: object) -> Any:
    """A record with another value in one of its fields, or in one of a record that the path leads to."""
    # From the inside out: every record on the path gives way to a copy that holds the changed one.
    if path:
        outer, *rest = path
        name, value = outer, _with(getattr(record, outer), rest, name, value)
    return replace(record, **{name: value})


def as_list(value: object) -> list[Any]:
    """One or several as a list; paths as text."""
    several = value if isinstance(value, list | tuple | set | frozenset) else [value]
    listed: list[Any] = []
    for entry in several:
        listed.append(str(entry) if isinstance(entry, Path) else entry)
    return listed


_ENDS = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:\.\.+|:|-|–)\s*(-?\d+(?:\.\d+)?)\s*")
"""Two numbers as people write a range: `1..10`, `1-10`, `1:10`."""


def scale_ends(scale: object, name: str) -> tuple[float, float]:
    """The first and the last number of a scale, given as `1..10` or as two numbers; `name` is for messages.

    Raises `InputError` for anything else.
    """
    ends: object = scale
    if isinstance(scale, str):
        match = _ENDS.fullmatch(scale)
        ends = match.groups() if match else None
    try:
        # `None` raises TypeError; another number of ends, or one that is no number, ValueError.
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
    ge: float = -math.inf
    """The least number allowed."""
    le: float = math.inf
    """The greatest number allowed."""
    gt: float = -math.inf
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
        # Before the range, whose message would not say that .9 was probably meant as 90.
        if self.percent and 0 < value < 1:
            return f"is in per cent; for a share of {value:g} write {100 * value:g}"
        if self.ge <= value <= self.le and value > self.gt:
            return None
        bounds = []
        if math.isfinite(self.gt):
            bounds.append(f"more than {self.gt:g}")
        if math.isfinite(self.ge):
            bounds.append(f"{self.ge:g} or more")
        if math.isfinite(self.le):
            bounds.append(f"at most {self.le:g}")
        return f"must be {', '.join(bounds)}"


def option(help: str, *, default: Any = MISSING, default_factory: Any = MISSING, **known: Any) -> Any:
    """A field of a dataclass that is an option: its help, its default, and further fields of `Option`."""
    declared: Any = {"default": default, "default_factory": default_factory}
    return field(metadata={"option": Option(help=help, **known)}, **declared)


def option_of(field: "Field[Any]") -> Option | None:
    """What is known of the setting in a field of a record; None if it is not an option."""
    declared = field.metadata.get("option")
    assert declared is None or isinstance(declared, Option)
    return declared


def pairs_like(form: str, example: str) -> Callable[[Sequence[str]], dict[str, str]]:
    """Reads `NAME=VALUE` pairs as a mapping, for `Option.read`; `form` and `example` are for messages."""

    def read(pairs: Sequence[str]) -> dict[str, str]:
        mapping: dict[str, str] = {}
        for pair in pairs:
            name, equals, value = pair.partition("=")
            if not (name and equals and value):
                raise ValueError(f"'{pair}': must have the form {form}, e.g. {example}")
            # The same pair given twice says nothing new, and does no harm.
            if mapping.setdefault(name, value) != value:
                raise ValueError(f"'{pair}': '{name}' is mapped twice; map it once")
        return mapping

    return read
