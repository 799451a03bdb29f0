"""Ready-made pairs: tables whose rows hold an example and a degraded copy of its output.

`read_pairs` reads a table in three steps. `read_row` makes a `Pair` of each row, or says why there is none:
columns are found by a `PairMap`, and texts may be messages, of which the last is judged (`said_last`) and the
others are the source (`said_before`). `_grouped` puts the pairs of one example together. What is left out is
counted in a note.
"""

import json
import logging
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import product
from typing import Literal, NamedTuple

from dhp.core.diff import audit
from dhp.core.errors import InputError, listed, suggest
from dhp.core.records import ORIGINAL, Example, PerturbedText, Variant
from dhp.core.seeding import natural_order, text_hash
from dhp.core.specs import PairColumns, PairMap, Task
from dhp.core.tables import Row, Table, as_text, is_blank
from dhp.loaders.dataset import Dataset

PAIR_FIELDS = ("perturbed", "kind", "degree", "level", "control", "better")
"""What a row of pairs says beside its example."""
DEFAULT_KIND = "perturbed"
"""The kind of damage of a row that does not name one."""
DEFAULT_LEVEL = "given"
"""The level of a kind of damage that nobody gave one."""
TEXTS = ("id", "source", "output")
"""Our names for the parts of an example; every other name is that of a further field."""
_YES, _NO = ("1", "true", "yes", "control"), ("0", "false", "no")
"""What a column `control` may say, in any case; an empty cell means no."""
_MIDDLE = 1.5
"""A preference for neither text. Preferences go from 1, the first text, to 2, the second."""
_TIES = ("", "tie", "tied", "equal", "both", "neither", "none")
"""Labels that prefer neither text."""
LeftOut = Literal["equal", "without text", "tied", "duplicate"]
"""Why there is no pair in a row, in the words of the note."""


class Pair(NamedTuple):
    """An example and a degraded copy of its output."""

    row: Row
    example: Example
    has_id: bool
    """Whether the row has an id."""
    text: str
    kind: str
    degree: str | None
    level: str
    control: bool


@dataclass(frozen=True, slots=True)
class _Cells:
    """What a row holds under our names."""

    row: Row
    columns: Mapping[str, str]
    """Our name -> the table's column."""
    values: Mapping[str, str]
    """Our name -> the text that all rows have; it comes before a column."""

    def text(self, name: str) -> str | None:
        """A text of the example or a word on the pair; None if there is no such column, or it is empty."""
        if name in self.values or name not in self.columns:
            return self.values.get(name)
        # The same messages may hold both: what was asked is the source, the answer is the text.
        read = said_before if name == "source" else said_last
        return read(self.row, self.columns[name])

    def word(self, name: str) -> str:
        """The same with single spaces; an empty string in place of None."""
        return single_spaced(self.text(name) or "")

    def fields(self) -> dict[str, str]:
        """The further fields of the example."""
        fields = {}
        for name in (*self.columns, *self.values):
            if name in TEXTS or name in PAIR_FIELDS:
                continue
            if name in self.values:
                fields[name] = self.values[name]
                continue
            column = self.columns[name]
            text = as_text(self.row.value(column))
            if text is not None:
                fields[name] = self.row.encodable(column, text)
        return fields


def read_row(row: Row, number: int | None, entry: PairColumns, form: PairMap) -> Pair | LeftOut:
    """The pair in a row, or why there is none.

    If no column has ids, `number` is the id; if that is None, a hash of the texts.
    """
    columns, values = _map_of(form, entry)
    cells = _Cells(row, columns, values)
    good, bad = cells.text("output"), cells.text("perturbed")
    if good is None or bad is None or ("source" in columns and cells.text("source") is None):
        return "without text"
    if good.strip() == bad.strip():
        return "equal"
    if "better" in columns:
        side = _better(row, columns["better"], columns["output"], columns["perturbed"])
        if side is None:
            return "tied"
        if side == 1:
            good, bad = bad, good
    source, fields = cells.text("source") or "", cells.fields()
    if "id" in columns:
        identity = row.text(columns["id"])
    elif number is not None:
        identity = str(number)
    else:
        identity = id_of_texts(source, good, fields)
    kind = _kind(row, cells.word("kind") or DEFAULT_KIND, form.kind_pattern)
    # The row's own word comes before the patterns of the card.
    level = cells.word("level") or _level_of_kind(kind, form)
    control = level == "control" or ("control" in columns and _is_control(row, columns["control"], form))
    example = Example(identity, source, good, fields)
    return Pair(row, example, "id" in columns, bad, kind, cells.word("degree") or None, level, control)


def _map_of(form: PairMap, entry: PairColumns) -> tuple[dict[str, str], dict[str, str]]:
    """Our name -> column, and our name -> constant text, of one pair of a row.

    `form` says what all pairs of a row have in common, `entry` what this one has of its own.
    """
    return {**form.fields, **entry.fields}, {**form.values, **entry.values}


def _level_of_kind(kind: str, form: PairMap) -> str:
    for level, kinds in form.levels.items():
        if fits(kind, kinds):
            return level
    return DEFAULT_LEVEL


def single_spaced(text: str) -> str:
    """A text on one line, its words separated by one space each."""
    return " ".join(text.split())


_ASKING = ("user", "human", "system", "developer")
"""Roles whose messages are no answers, as services and logs call them."""


def said_last(row: Row, column: str) -> str | None:
    """The text in a column; if it holds messages, that of the answer at their end.

    None for a blank or absent text, and for messages without an answer.
    """
    value = row.value(column)
    messages = _messages(value)
    if messages:
        return None if is_unanswered(value) else row.encodable(column, messages[-1].text)
    return None if is_blank(value) else row.text(column)


def is_unanswered(value: object) -> bool:
    """Whether it is a list of messages without an answer at its end."""
    messages = _messages(value)
    if not messages:
        return False
    last = messages[-1]
    return last.role in _ASKING or not last.text.strip()


def said_before(row: Row, column: str) -> str | None:
    """The text in a column; if it holds messages, those before the answer."""
    messages = _messages(row.value(column))
    if not messages:
        return said_last(row, column)
    if messages[-1].role not in _ASKING:  # the answer itself, whatever the service calls who gives it
        messages = messages[:-1]
    if len(messages) == 1:
        text = messages[0].text
    else:
        text = "\n\n".join(f"{message.role.capitalize()}: {message.text}" for message in messages)
    return row.encodable(column, text) or None


_SAYS = ("content", "text", "message", "body", "value")
"""Names that hold the text of a message, the more usual first."""


class _Message(NamedTuple):
    role: str
    text: str


def _messages(value: object) -> list[_Message]:
    """A list of messages; empty for anything else.

    Each message has a `role` and one text, under one of the names in `_SAYS`.
    """
    if not isinstance(value, list):
        return []
    messages = []
    for each in value:
        role = each.get("role") if isinstance(each, Mapping) else None
        if not role or not isinstance(role, str):
            return []
        # In the order of `_SAYS`, so that the first is under the most usual name.
        texts = [each[name] for name in _SAYS if isinstance(each.get(name), str)]
        if not texts:
            return []
        messages.append(_Message(role, texts[0]))
    return messages


def _kind(row: Row, label: str, pattern: str | None) -> str:
    """The kind of damage in a label: what the first group of `pattern` finds there, else the whole label."""
    match = re.search(pattern, label) if pattern is not None else None
    kind = match[1] if match else label
    if kind == ORIGINAL:
        raise row.fault(f"kind '{ORIGINAL}' names the undamaged text; allowed: any other name")
    return kind


def _is_control(row: Row, column: str, form: PairMap) -> bool:
    cell = (as_text(row.value(column)) or "").strip()
    word = cell.casefold()
    # What the card of a published set says of its own values comes before our words.
    if form.control_values:
        return word in [value.casefold() for value in form.control_values]
    if word in _YES:
        return True
    if not word or word in _NO:
        return False
    raise row.fault(f"column '{column}' is '{cell}'; allowed: {', '.join(_YES)} or {', '.join(_NO)}")


def _better(row: Row, column: str, first: str, second: str) -> int | None:
    """0 or 1 for the column with the better text, as the label in `column` says; None if neither is.

    A label is the column's name or what tells it from the other, such as 1 and 2 or A and B, perhaps after
    other words (`model_a`), or an order such as `A>B`; or a number from 1, the first, to 2, the second, with
    1.5 for a tie.
    """
    label = (as_text(row.value(column)) or "").strip().casefold()
    label = label.removesuffix(".0")  # pandas writes 1 as 1.0 in a column with an empty cell
    # Without a sign of order the label itself names the better text.
    winner = label
    ordered = _ORDER.fullmatch(label)
    if ordered:
        left, sign, right = ordered.groups()
        winner = left if ">" in sign else right
    elif label in _TIES or "=" in label:
        return None
    names = first.casefold(), second.casefold()
    ends = _differing_ends(*names)
    # Columns `text_0` and `text_1` are named by 0 and 1, and not by first and second.
    if "0" not in ends and _PREFERENCE.fullmatch(label):
        number = float(label)
        return None if number == _MIDDLE else int(number > _MIDDLE)
    is_first = _is_named(winner, names[0], ends[0])
    is_second = _is_named(winner, names[1], ends[1])
    # Neither column is named, or both may be.
    if is_first == is_second:
        raise row.fault(
            f"column '{column}' is '{label}'; allowed: '{ends[0]}' or '{ends[1]}' for the better of "
            f"'{first}' and '{second}', or 'tie'"
        )
    return 0 if is_first else 1


_ORDER = re.compile(r"([^<>=]+?)\s*(<+|>+)\s*([^<>=]+)")
"""Two names and which is the better: `A>B`, `a << b`."""
_PREFERENCE = re.compile(r"[12]|1\.\d+")
"""A preference from the first text to the second: `1`, `1.5`, `1.99`, `2`."""


def _is_named(label: str, name: str, end: str) -> bool:
    """Whether a label is the name of a column, its `end`, or that after other words, such as `model_a`."""
    if label in (name, end):
        return True
    return end != "" and re.search(rf"[\W_]{re.escape(end)}$", label) is not None


_WORD = re.compile(r"[^\W_]+")
"""Letters and digits: `model` and `a` of `model_a`."""


def _differing_ends(one: str, other: str) -> tuple[str, str]:
    """What tells two names apart: `a` and `b` of `model_a_text` and `model_b_text`.

    What both begin with and the last words that they share are left out. Of `text` and `text_2` it is an
    empty text and `2`.
    """
    start = 0
    # One name may be longer: they can begin alike only as far as the shorter one goes.
    for ours, theirs in zip(one, other, strict=False):
        if ours != theirs:
            break
        start += 1
    words, others = _WORD.findall(one[start:]), _WORD.findall(other[start:])
    while len(words) > 1 and len(others) > 1 and words[-1] == others[-1]:
        words.pop()
        others.pop()
    return " ".join(words), " ".join(others)


def fits(label: str, wanted: Sequence[str]) -> bool:
    """Whether a value is one of those wanted, or fits one of them as a pattern such as `num*`."""
    return label in wanted or any(fnmatchcase(label, pattern) for pattern in wanted)


def chosen_rows(table: Table, where: Mapping[str, Sequence[str]]) -> Table:
    """The rows whose columns hold one of the values or patterns that `where` names, in any case."""
    for column in where:  # all of them, before rows go by the first
        if not table.has(column):
            raise InputError(
                f"{table.name}: column '{column}' of --where is missing; {suggest(column, table.columns)}"
            )
    for column, values in where.items():
        table = _with_values(table, column, values)
    return table


_SHOWN = 8
"""Values of a column that a message shows, as examples. Chosen: they fit into a line or two."""


def _with_values(table: Table, column: str, values: Sequence[str]) -> Table:
    wanted = [value.casefold() for value in values]
    labels: set[str] = set()

    def is_wanted(row: Row) -> bool:
        label = (as_text(row.value(column)) or "").strip()
        labels.add(label)
        return fits(label.casefold(), wanted)

    # `is_wanted` also collects the values that there are, for the message below.
    chosen = table.with_rows(row for row in table.rows if is_wanted(row))
    if not chosen.rows:
        some = ", ".join(sorted(labels)[:_SHOWN])
        raise InputError(f"{table.name}: no row has {column} = {' or '.join(values)}; found: {some}")
    return chosen


def read_pairs(name: str, table: Table, form: PairMap, task: Task, *, ordered: bool = True) -> Dataset:
    """The dataset in a table of pairs: examples in order of occurrence, with their degraded texts.

    A row is a pair, or several with `form.each`. Rows that agree in id, source, output and the fields that a
    judge is shown are of one example. If an id stands for several examples, or an example has several texts
    of one kind, the later examples are called `ID~2`, `ID~3`, ..., and all of them have the field `cluster`,
    the id. Pairs that are equal, tied, duplicate or without a text are left out and counted in a note.
    Raises `InputError` for a column that is missing, a value that is not allowed, a kind with several levels,
    and if no pair is left.

    `ordered` says that the order of the rows is fixed, as in a published set: examples without ids are known
    by the numbers of their rows. Otherwise they are known by a hash of their texts, and the set is the same
    in whatever order the rows come.
    """
    table = chosen_rows(table, form.where)
    _check_columns(table, form)
    left_out: Counter[LeftOut] = Counter()
    pairs = list(_pairs(table, form, left_out, numbered=ordered))
    if not ordered:
        # Before they are grouped, as the order says which example is called `ID~2`.
        pairs.sort(key=_place)
    shown = [field for field in task.shown_fields if field not in TEXTS]
    examples, variants, texts = _grouped(pairs, shown, left_out)
    note = ", ".join(f"{count} {why}" for why, count in left_out.items())
    if not pairs:
        raise InputError(f"{table.name}: no pair is left ({note}); allowed: pairs of two different texts")
    if note:
        count = left_out.total() + len(texts)
        logging.getLogger("dhp").warning("%s: left out of %d pairs: %s", table.name, count, note)
    return Dataset(name, examples, task, None, examples, variants, texts)


def _check_columns(table: Table, form: PairMap) -> None:
    """Raise `InputError` for a column that is missing, or if no column is said to hold one of the two
    texts."""
    for entry in form.each or [PairColumns()]:
        columns, values = _map_of(form, entry)
        for ours, theirs in columns.items():
            if not table.has(theirs):
                raise InputError(
                    f"{table.name}: column '{theirs}' for '{ours}' is missing; map it by "
                    f"--field {ours}=COLUMN; {suggest(theirs, table.columns)}"
                )
        for needed in ("output", "perturbed"):
            if needed not in columns and needed not in values:
                raise InputError(
                    f"{table.name}: no column for '{needed}'; map it by --field {needed}=COLUMN; "
                    f"columns: {listed(table.columns)}"
                )


def _place(pair: Pair) -> tuple[object, ...]:
    """Sorts pairs by kind, then by example: the kinds, and which text is called ID~2, follow from it."""
    degree = pair.degree or ""
    return natural_order(pair.kind), natural_order(degree), natural_order(pair.example.id), pair.text


def _pairs(table: Table, form: PairMap, left_out: "Counter[LeftOut]", *, numbered: bool) -> Iterator[Pair]:
    """The pairs in the rows; `left_out` counts why others are no pair."""
    for number, row in enumerate(table.rows, 1):
        for entry in form.each or [PairColumns()]:
            pair = read_row(row, number if numbered else None, entry, form)
            if isinstance(pair, Pair):
                yield pair
            else:
                left_out[pair] += 1


def _grouped(
    pairs: Sequence[Pair], shown: Sequence[str], left_out: "Counter[LeftOut]"
) -> tuple[tuple[Example, ...], tuple[Variant, ...], tuple[PerturbedText, ...]]:
    """Pairs with the same id, source, output and shown fields as variants of one example.

    An example has one text of a kind. A second one makes a second example with the same original.
    """
    harmful = {pair.kind for pair in pairs if not pair.control}
    same_original: dict[tuple[str | None, ...], list[str]] = {}  # names of the examples with an original
    families: dict[str, list[str]] = {}  # id -> names of the examples that it stands for
    examples: dict[str, Example] = {}
    variants: dict[str, Variant] = {}
    texts: dict[tuple[str, str], str] = {}
    for pair in pairs:
        variant = _variant(pair, harmful)
        known = variants.setdefault(variant.name, variant)
        if known.level != variant.level:
            raise pair.row.fault(
                f"kind '{variant.name}' has level '{variant.level}'; allowed: {known.level}, as before"
            )
        same = same_original.setdefault(_original(pair, shown), [])
        # Among all examples with this original, as an earlier one may have this very text.
        if any(texts.get((name, variant.name)) == pair.text for name in same):
            left_out["duplicate"] += 1
            continue
        # The first example with this original that still lacks a text of this kind takes it.
        without_kind = [name for name in same if (name, variant.name) not in texts]
        if without_kind:
            name = without_kind[0]
        else:
            # Without an id further examples with this original are named after the first.
            base = same[0] if same and not pair.has_id else pair.example.id
            name = free_name(base, examples)
            same.append(name)
            families.setdefault(base, []).append(name)
            examples[name] = replace(pair.example, id=name)
        texts[name, variant.name] = pair.text
    for base, family in families.items():
        if len(family) > 1:  # they are not independent of each other
            for name in family:
                example = examples[name]
                examples[name] = replace(example, fields={"cluster": base, **example.fields})
    return tuple(examples.values()), tuple(variants.values()), _degraded(examples, variants, texts)


def _original(pair: Pair, shown: Sequence[str]) -> tuple[str | None, ...]:
    """What pairs of one example have in common."""
    example = pair.example
    shown_texts = [example.fields.get(name) for name in shown]
    return (example.id if pair.has_id else None, example.source, example.output, *shown_texts)


def _degraded(
    examples: Mapping[str, Example], variants: Iterable[str], texts: Mapping[tuple[str, str], str]
) -> tuple[PerturbedText, ...]:
    """The degraded texts with their audits, example by example."""
    made = []
    for name, variant in product(examples, variants):
        text = texts.get((name, variant))
        if text is not None:
            made.append(PerturbedText(name, variant, text, None, audit(examples[name].output, text)))
    return tuple(made)


def _variant(pair: Pair, harmful: Collection[str]) -> Variant:
    """A control whose kind is also one of damage gets a name of its own."""
    kind = f"{pair.kind}_control" if pair.control and pair.kind in harmful else pair.kind
    name = kind if pair.degree is None else f"{kind}.{pair.degree}"
    return Variant(name, kind, "control" if pair.control else pair.level, "given", pair.degree)


def id_of_texts(source: str, output: str, fields: Mapping[str, str]) -> str:
    """What an example without an id is known by, in whatever order the rows come: a hash of all it holds."""
    return text_hash(json.dumps([source, output, fields], sort_keys=True))


def free_name(name: str, taken: Collection[str]) -> str:
    """`name`, or the first of `name~2`, `name~3`, ... that is not taken."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}~{number}"
    return free
