"""Rows of a table of pairs: an example, a degraded copy and the kind of damage."""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

from dhp.core.card_spec import PairColumns, PairMap
from dhp.core.records import ORIGINAL, Example
from dhp.core.tables import Row, as_text

PAIR_FIELDS = ("perturbed", "kind", "degree", "level", "control", "better")
"""What a row of pairs says beside its example."""
DEFAULT_KIND = "perturbed"
DEFAULT_LEVEL = "given"
TEXTS = ("id", "source", "output")
_LONGEST_NUMBER = 40
"""Characters."""
_YES, _NO = ("1", "true", "yes", "control"), ("0", "false", "no", "")
_TIES = ("", "tie", "tied", "equal", "both", "neither", "none")
LeftOut = Literal["equal", "without text", "tied", "duplicate"]


class Pair(NamedTuple):
    """An example and a degraded copy of its output."""

    row: Row
    example: Example
    named: bool
    """Whether the row has an id."""
    text: str
    kind: str
    degree: str | None
    level: str
    control: bool
    columns: Mapping[str, str]


def read_row(row: Row, number: int, entry: PairColumns, form: PairMap) -> Pair | LeftOut:
    """The pair in a row, or why there is none; `number` stands in for an id."""
    columns, values = {**form.fields, **entry.fields}, {**form.values, **entry.values}

    def cell(name: str) -> str | None:
        return values[name] if name in values else _text(row, columns[name]) if name in columns else None

    good, bad = cell("output"), cell("perturbed")
    if good is None or bad is None or ("source" in columns and cell("source") is None):
        return "without text"
    if good.strip() == bad.strip():
        return "equal"
    if "better" in columns:
        side = _better(row, columns["better"], columns["output"], columns["perturbed"])
        if side is None:
            return "tied"
        good, bad = (good, bad) if side == 0 else (bad, good)
    others = [name for name in (*columns, *values) if name not in (*TEXTS, *PAIR_FIELDS)]
    fields = {name: text for name in others if (text := _field(row, name, columns, values)) is not None}
    identity = row.text(columns["id"]) if "id" in columns else str(number)
    kind = _kind(row, cell("kind"), form.kind_pattern)
    fitting = (lv for lv, kinds in form.levels.items() if fits(kind, kinds))
    level = " ".join((cell("level") or next(fitting, DEFAULT_LEVEL)).split())
    control = level == "control" or ("control" in columns and _is_control(row, columns["control"], form))
    degree = " ".join((cell("degree") or "").split()) or None
    example = Example(identity, cell("source") or "", good, fields)
    return Pair(row, example, "id" in columns, bad, kind, degree, level, control, _numbers(row))


def _numbers(row: Row) -> dict[str, str]:
    """The cells that hold numbers, and those of nested columns as `COLUMN.NAME`."""
    found = {}
    for column, value in row.values.items():
        cells = {column: value}
        if isinstance(value, Mapping):
            cells = {f"{column}.{name}": cell for name, cell in value.items()}
        for name, cell in cells.items():
            text = as_text(cell)
            if text is not None and len(text) <= _LONGEST_NUMBER and _is_number(text):
                found[name] = text
    return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _text(row: Row, column: str) -> str | None:
    """The text in a column; None for a blank or absent one."""
    value = row.value(column)
    absent = value is None or value != value or (isinstance(value, str) and not value.strip())
    return None if absent else row.text(column)


def _field(row: Row, name: str, columns: Mapping[str, str], values: Mapping[str, str]) -> str | None:
    if name in values:
        return values[name]
    text = as_text(row.value(columns[name]))
    return None if text is None else row.encodable(columns[name], text)


def _kind(row: Row, label: str | None, pattern: str | None) -> str:
    kind = " ".join((label or DEFAULT_KIND).split())
    if pattern is not None:
        found = re.search(pattern, kind)
        kind = found[1] if found else kind
    if kind == ORIGINAL:
        raise row.fault(f"kind '{ORIGINAL}' names the undamaged text; allowed: any other name")
    return kind


def _is_control(row: Row, column: str, form: PairMap) -> bool:
    cell = (as_text(row.value(column)) or "").strip()
    if form.control_values:
        return cell.casefold() in {value.casefold() for value in form.control_values}
    if cell.casefold() not in (*_YES, *_NO):
        raise row.fault(f"column '{column}' is '{cell}'; allowed: {', '.join(_YES)} or {', '.join(_NO[:-1])}")
    return cell.casefold() in _YES


def _better(row: Row, column: str, first: str, second: str) -> int | None:
    """0 or 1 for the column with the better text, as the label in `column` says; None where neither is.

    A label is the column's name or what tells it from the other, such as 1 and 2 or A and B, perhaps after
    other words (`model_a`), or an order such as `A>B`.
    """
    label = (as_text(row.value(column)) or "").strip().casefold()
    winner = label
    if ordered := re.fullmatch(r"([^<>=]+?)\s*(<+|>+)\s*([^<>=]+)", label):
        winner = ordered[1] if ">" in ordered[2] else ordered[3]
    elif label in _TIES or "=" in label:
        return None
    names = first.casefold(), second.casefold()
    tails = _differing_ends(*names)
    fits = [
        winner in (name, tail) or (tail != "" and re.search(rf"[\W_]{re.escape(tail)}$", winner) is not None)
        for name, tail in zip(names, tails, strict=True)
    ]
    if fits[0] == fits[1]:
        raise row.fault(
            f"column '{column}' is '{label}'; allowed: '{tails[0]}' or '{tails[1]}' for the better of "
            f"'{first}' and '{second}', or 'tie'"
        )
    return fits.index(True)


def _differing_ends(one: str, other: str) -> tuple[str, str]:
    """What tells two names apart, such as `1` and `2`: without the same start and the same last words."""
    unlike = (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    start = next(unlike, min(len(one), len(other)))
    ends = [re.findall(r"[^\W_]+", name[start:]) for name in (one, other)]
    while all(len(words) > 1 for words in ends) and ends[0][-1] == ends[1][-1]:
        ends = [words[:-1] for words in ends]
    return " ".join(ends[0]), " ".join(ends[1])


def fits(label: str, wanted: Sequence[str]) -> bool:
    """Whether a value is one of those wanted, or fits one of them as a pattern."""
    return label in wanted or any(fnmatchcase(label, pattern) for pattern in wanted)
