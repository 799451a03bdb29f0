"""Checks of settings by their declarations: types, ranges, words, and which settings go together.

A record of settings is a dataclass with the base `Checked`. When one is made, from the command line, a file
of options or Python, three things happen in this order:

1. Its keywords are compared with its fields, so that a misspelt one is refused with the near name.
2. Each value is checked by the type of its field (`check_value`), and by the range of its option.
3. Its rules say what does not go together (`exclusive`, `requires`, `together`, or a function).

`pydantic`, which checks content, would double the time that `--help` takes.
"""

import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from numbers import Real
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Self, TypeGuard, Union, get_args, get_origin

from dhp.core.errors import InputError, suggest
from dhp.core.options import Option, check_keywords, option_of

Rule = Callable[[Any], str | None]
"""What is wrong with a record beyond its single fields, which it names in backquotes; None if nothing is."""


class Checked:
    """Base of settings records: refuses unknown keywords, values that no field allows, and broken rules.

    A field allows the values of its type; its `option` may give a range. Raises `UnknownKeyword` or
    `InputError`. A record with a `__post_init__` of its own calls this one at its end.
    """

    __slots__ = ()
    rules: ClassVar[Sequence[Rule]] = ()
    """What goes together, beside the rules of its bases."""
    parameter: ClassVar[str] = ""
    """The keyword that takes the record, which messages put before its fields: `limits` in `limits.cost`."""

    def __new__(cls, *_: object, **keywords: object) -> Self:
        # Here, as `__init__` is that of the dataclass: it would refuse a keyword without the near name.
        known: Any = cls
        allowed = [field.name for field in fields(known) if field.init]
        check_keywords(cls.__name__, keywords, allowed)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        """Check fields, then rules; those of a base come first."""
        record: Any = self
        for field in fields(record):
            name = f"{self.parameter}.{field.name}" if self.parameter else field.name
            check_value(name, getattr(self, field.name), field.type, option_of(field))
        # `vars`, as each class declares rules of its own; an attribute would hide those of the bases.
        for kind in reversed(type(self).__mro__):
            for rule in vars(kind).get("rules", ()):
                fault = rule(self)
                if fault:
                    raise InputError(fault)


def exclusive(*names: str) -> Rule:
    """The rule that at most one of these settings is stated."""

    def fault(record: Any) -> str | None:
        stated = [name for name in names if is_stated(record, name)]
        if len(stated) < 2:
            return None
        one, other = _spelt(record, stated[0]), _spelt(record, stated[1])
        return f"{one}: cannot be used with {other}; leave one of them out"

    return fault


def requires(name: str, *others: str) -> Rule:
    """The rule that one of the `others` is stated if `name` is."""

    def fault(record: Any) -> str | None:
        if not is_stated(record, name) or any(is_stated(record, other) for other in others):
            return None
        names = [f"`{other}`" for other in others]
        return f"{_spelt(record, name)}: requires {' or '.join(names)}"

    return fault


def together(name: str, *others: str) -> Rule:
    """The rule that `name` is stated if and only if one of the `others` is."""
    both_ways = [requires(name, *others)]
    both_ways += [requires(other, name) for other in others]

    def first_fault(record: Any) -> str | None:
        for rule in both_ways:
            fault = rule(record)
            if fault:
                return fault
        return None

    return first_fault


def is_stated(record: Any, name: str) -> bool:
    """Whether a setting differs from its default; without a default, whether it holds anything.

    A record that is no dataclass says so by its method `states`.
    A setting within a record is named with it, e.g. `limits.cost`.
    """
    if hasattr(record, "states"):
        return bool(record.states(name))
    outer, dot, rest = name.partition(".")
    if dot:
        return is_stated(getattr(record, outer), rest)
    by_name = {field.name: field for field in fields(record)}
    field = by_name[name]
    # Without a factory there stands MISSING, which cannot be called.
    default = field.default_factory() if callable(field.default_factory) else field.default
    value = getattr(record, name)
    if default is MISSING:
        return bool(value)
    if default is None:
        return value is not None
    return bool(value != default)


def first_stated(record: Any) -> str:
    """The name of the first setting of a record that is stated; at least one must be."""
    names = [field.name for field in fields(record)]
    stated = [name for name in names if is_stated(record, name)]
    return stated[0]


def _spelt(record: Any, name: str) -> str:
    """A setting in a message, within a record the first one that is stated; one that is on was turned off."""
    value = record
    for part in name.split("."):
        value = getattr(value, part, None)
    if is_dataclass(value):
        name = f"{name}.{first_stated(value)}"
    return f"`{name}=False`" if value is False else f"`{name}`"


def check_value(name: str, value: Any, kind: object, known: Option | None = None) -> Any:
    """The value; raises `InputError` unless it is of a type such as `int | None` and in an option's range.

    `name` is how messages call it. A type in quotes, and one that this module does not know, allows anything:
    such a value is checked where it is read.
    """
    wrong = _type_fault(value, kind)
    if wrong:
        part, fault = wrong
        raise InputError(f"`{name}` {shown(part)}: {fault}")
    # An option may allow words or None beside numbers: they have no range.
    range_fault = known.fault(value) if known is not None and _is_number(value) else None
    if range_fault:
        raise InputError(f"`{name}` {value:g}: {range_fault}")
    return value


def check_number(name: str, value: object, kind: type[int] | type[float] = float, **limits: Any) -> Any:
    """The value; raises `InputError` unless it is a number, or a whole one, within limits as in `Option`."""
    return check_value(name, value, kind, Option(help="", **limits))


def is_whole(value: object) -> bool:
    """Whether it is a whole number; numpy's count as such, True and False do not."""
    try:
        # By what the value can do: numpy's whole numbers are no `int`.
        operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return False
    return not isinstance(value, bool)  # which is an int to Python


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool)


_PLAIN: Mapping[object, tuple[Callable[[object], bool], str]] = {
    int: (is_whole, "a whole number"),
    float: (_is_number, "a number"),
    bool: (lambda value: isinstance(value, bool), "True or False"),
    str: (lambda value: isinstance(value, str), "a text"),
    Path: (lambda value: isinstance(value, PathLike), "a path"),
    # Within a union None is given as its type, alone as itself.
    NoneType: (lambda value: value is None, ""),
    None: (lambda value: value is None, ""),
}
"""Type -> whether a value is of it, and what messages call it."""

Fault = tuple[object, str]
"""The value that is wrong, or the part of it that is, and why."""


def _type_fault(value: object, kind: object) -> Fault | None:
    alternatives = _alternatives(kind)
    faults = [_fault(value, each) for each in alternatives]
    # One of the types allows it.
    if None in faults:
        return None
    # The fault of a part, or of a word, says more than that of the type.
    detailed = [fault for fault in faults if fault and fault[1]]
    if detailed:
        return detailed[0]
    names: list[str] = []
    for each in alternatives:
        name = _type_name(each)
        if name and name not in names:  # None has no name: to leave a setting out is not worth a word
            names.append(name)
    return value, f"is of type {type(value).__name__}; must be {' or '.join(names)}"


def _alternatives(kind: object) -> tuple[object, ...]:
    """The types of a union; of any other type that one."""
    if get_origin(kind) not in (Union, UnionType):
        return (kind,)
    alternatives: list[object] = []
    for argument in get_args(kind):
        alternatives += _alternatives(argument)
    return tuple(alternatives)


def _fault(value: object, kind: Any) -> Fault | None:
    """What is wrong with a value, by a type that is no union; a value of another type gets no words."""
    origin = get_origin(kind)
    if kind in _PLAIN:
        is_of_kind, _ = _PLAIN[kind]
        return None if is_of_kind(value) else (value, "")
    if origin is Literal:
        if value in get_args(kind):
            return None
        # No word at all: the message names the type, and no near word.
        if not isinstance(value, str):
            return value, ""
        words = list(map(str, get_args(kind)))
        return value, f"unknown; {suggest(value, words)}"
    if is_dataclass(kind):
        return None if isinstance(value, kind) else (value, "")  # type: ignore[arg-type]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            return value, ""
        key_kind, entry_kind = get_args(kind)
        keys = [(key, key_kind) for key in value]
        entries = [(entry, entry_kind) for entry in value.values()]
        return _first_fault(keys + entries)
    if isinstance(origin, type) and issubclass(origin, Collection):
        return _items_fault(value, origin, get_args(kind))
    return None


def _items_fault(value: object, origin: type, kinds: Sequence[Any]) -> Fault | None:
    """What is wrong with a list or another collection, or with one of its items."""
    # A list may stand for a tuple, as in Python callers and JSON; a text is no list of characters.
    accepted = (origin, list) if origin is tuple else origin
    if not isinstance(value, accepted) or isinstance(value, str | bytes):
        return value, ""
    assert isinstance(value, Collection)
    if origin is tuple and kinds[-1] is not Ellipsis:  # one type for each place
        if len(value) != len(kinds):
            return value, ""
        return _first_fault(zip(value, kinds, strict=True))
    return _first_fault([(each, kinds[0]) for each in value])


def words_of(kind: object) -> tuple[str, ...]:
    """The words that a type allows, if it allows none but these: of `Literal["fast", "sdk"] | None` both."""
    alternatives = [each for each in _alternatives(kind) if each is not NoneType]
    if not all(get_origin(each) is Literal for each in alternatives):
        return ()
    words: list[str] = []
    for each in alternatives:
        words += map(str, get_args(each))
    return tuple(words)


def _first_fault(items: Iterable[tuple[object, Any]]) -> Fault | None:
    for item, kind in items:
        fault = _type_fault(item, kind)
        if fault:
            return fault
    return None


def _type_name(kind: Any) -> str:
    origin = get_origin(kind)
    if kind in _PLAIN:
        return _PLAIN[kind][1]
    if origin is Literal:
        return " or ".join(map(str, get_args(kind)))
    if is_dataclass(kind):
        return f"a dhp.{kind.__name__}"  # type: ignore[union-attr]
    if issubclass(origin, Mapping):
        return "a mapping"
    several = origin is tuple and get_args(kind)[-1] is not Ellipsis
    return f"a list of {len(get_args(kind))}" if several else "a list"


def shown(value: object) -> str:
    """A value for a message: in one line, and not longer than one reads."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."
