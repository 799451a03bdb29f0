"""Checks of keywords, names and scales, with suggestions for unknown ones."""

import inspect
import operator
import re
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from dhp.core.errors import InputError, suggest

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")
F = TypeVar("F", bound=Callable[..., Any])


def check_keywords(function: str, names: Iterable[str], allowed: Iterable[str]) -> None:
    """Raise `TypeError` for the first keyword that a function does not take, with the near name."""
    known = list(allowed)
    for name in names:
        if name not in known:
            raise TypeError(f"{function}() has no keyword '{name}'; {suggest(name.lower(), known)}")


def near_keywords(call: F) -> F:
    """Let a function or class refuse an unknown keyword with the near name, as Python does from 3.13 on."""
    if isinstance(call, type):
        call.__init__ = _checked(call.__init__, call.__name__)  # type: ignore[misc]
        return call
    return _checked(call, call.__qualname__.rpartition("<locals>.")[2])


def _checked(call: F, name: str) -> F:
    known = [each for each in inspect.signature(call).parameters if each not in ("self", "cls")]

    @wraps(call)
    def checked(*args: Any, **given: Any) -> Any:
        check_keywords(name, given, known)
        return call(*args, **given)

    return checked  # type: ignore[return-value]


def keywords_of(record: Callable[P, S]) -> Callable[[Callable[[S], R]], Callable[P, R]]:
    """Let a function of one record be called with what the record is made of.

    So each keyword is declared once, as a field, and shows in the signature of every function that takes it.
    """

    def decorate(function: Callable[[S], R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **given: P.kwargs) -> R:
            return function(record(*args, **given))

        returned = inspect.signature(function).return_annotation
        signature = inspect.signature(record).replace(return_annotation=returned)
        call.__signature__ = signature  # type: ignore[attr-defined]
        return near_keywords(call)

    return decorate


def as_list(value: object) -> list[Any]:
    """One or several as a list; paths as text."""
    found = list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
    return [str(entry) if isinstance(entry, Path) else entry for entry in found]


def check_whole(name: str, value: object) -> None:
    """Raise `InputError` for what is not a whole number; numpy's count as such, True and False do not."""
    try:
        operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        whole = False
    else:
        whole = not isinstance(value, bool)
    if not whole:
        raise InputError(f"`{name}` {value!r}: is a {type(value).__name__}; allowed: a whole number")


_ENDS = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*(?:\.\.+|:|-|–)\s*(-?\d+(?:\.\d+)?)\s*")


def scale_ends(scale: object, name: str) -> tuple[float, float]:
    """The first and the last number of a scale, given as `1..10` or as two numbers; `name` is for messages.

    Raises `InputError` for anything else.
    """
    ends: object = scale
    if isinstance(scale, str):
        found = _ENDS.fullmatch(scale)
        ends = found.groups() if found else None
    try:
        first, last = map(float, ends)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        raise InputError(
            f"{name} {scale}: must have the form FIRST..LAST, e.g. 1..10, or be two numbers"
        ) from None
    return first, last
