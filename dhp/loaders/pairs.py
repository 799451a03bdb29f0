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
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
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
DEFAULT_LEVEL = "given"
TEXTS = ("id", "source", "output")
_YES, _NO = ("1", "true", "yes", "control"), ("0", "false", "no", "")
_MIDDLE = 1.5
"""A preference for neither, of those from 1, the first text, to 2, the second."""
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


def read_row(row: Row, number: int | None, entry: PairColumns, form: PairMap) -> Pair | LeftOut:
    """The pair in a row, or why there is none; `number` stands in for an id, without one the texts."""
    columns, values = {**form.fields, **entry.fields}, {**form.values, **entry.values}

    def cell(name: str) -> str | None:
        if name in values or name not in columns:
            return values.get(name)
        read = said_before if name == "source" else said_last
        return read(row, columns[name])

    good, bad = cell("output"), cell("perturbed")
    if good is None or bad is None or ("source" in columns and cell("source") is None):
        return "without text"
    if good.strip() == bad.strip():
        return "equal"
    if "better" in columns:
        side = _better(row, columns["better"], columns["output"], columns["perturbed"])
        if side is None:
            return "tied"
        if side == 1:
            good, bad = bad, good
    others = [name for name in (*columns, *values) if name not in (*TEXTS, *PAIR_FIELDS)]
    texts = {name: _field(row, name, columns, values) for name in others}
    fields = {name: text for name, text in texts.items() if text is not None}
    source = cell("source") or ""
    if "id" in columns:
        identity = row.text(columns["id"])
    else:
        identity = id_of_texts(source, good, fields) if number is None else str(number)
    kind = _kind(row, cell("kind"), form.kind_pattern)
    level_of_kind = next((level for level, kinds in form.levels.items() if fits(kind, kinds)), DEFAULT_LEVEL)
    level = " ".join((cell("level") or level_of_kind).split())
    control = level == "control" or ("control" in columns and _is_control(row, columns["control"], form))
    degree = " ".join((cell("degree") or "").split()) or None
    example = Example(identity, source, good, fields)
    return Pair(row, example, "id" in columns, bad, kind, degree, level, control)


_ASKING = ("user", "human", "system", "developer")
"""Roles whose messages are no answers."""


def said_last(row: Row, column: str) -> str | None:
    """The text in a column, of messages that of the answer at their end; None for a blank or absent one."""
    value = row.value(column)
    messages = _messages(value)
    if messages:
        return None if is_unanswered(value) else row.encodable(column, messages[-1][1])
    return None if is_blank(value) else row.text(column)


def is_unanswered(value: object) -> bool:
    """Whether it is a list of messages without an answer at its end."""
    messages = _messages(value)
    return bool(messages) and (messages[-1][0] in _ASKING or not messages[-1][1].strip())


def said_before(row: Row, column: str) -> str | None:
    """The text in a column, of messages those before the answer."""
    messages = _messages(row.value(column))
    if not messages:
        return said_last(row, column)
    before = messages[:-1] if messages[-1][0] == "assistant" else messages
    texts = [text for _, text in before]
    if len(before) > 1:
        texts = [f"{role.capitalize()}: {text}" for role, text in before]
    return row.encodable(column, "\n\n".join(texts)) or None


_SAYS = ("content", "text", "message", "body", "value")
"""Names that hold the text of a message."""


def _messages(value: object) -> list[tuple[str, str]]:
    """Role and text of each of a list of messages; empty for anything else.

    Each message has a `role` and one text, under one of the names in `_SAYS`.
    """
    if not isinstance(value, list):
        return []
    messages = []
    for each in value:
        role = each.get("role") if isinstance(each, Mapping) else None
        if not role or not isinstance(role, str):
            return []
        texts = [each[name] for name in _SAYS if isinstance(each.get(name), str)]
        if not texts:
            return []
        messages.append((role, texts[0]))
    return messages


def _field(row: Row, name: str, columns: Mapping[str, str], values: Mapping[str, str]) -> str | None:
    if name in values:
        return values[name]
    text = as_text(row.value(columns[name]))
    return None if text is None else row.encodable(columns[name], text)


def _kind(row: Row, label: str | None, pattern: str | None) -> str:
    kind = " ".join((label or DEFAULT_KIND).split())
    if pattern is not None:
        match = re.search(pattern, kind)
        kind = match[1] if match else kind
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
    """0 or 1 for the column with the better text, as the label in `column` says; None if neither is.

    A label is the column's name or what tells it from the other, such as 1 and 2 or A and B, perhaps after
    other words (`model_a`), or an order such as `A>B`; or a number from 1, the first, to 2, the second, with
    1.5 for a tie.
    """
    label = (as_text(row.value(column)) or "").strip().casefold()
    winner = label = label.removesuffix(".0")  # as pandas writes 1 in a column with an empty cell
    ordered = re.fullmatch(r"([^<>=]+?)\s*(<+|>+)\s*([^<>=]+)", label)
    if ordered:
        winner = ordered[1] if ">" in ordered[2] else ordered[3]
    elif label in _TIES or "=" in label:
        return None
    names = first.casefold(), second.casefold()
    tails = _differing_ends(*names)
    # Columns `text_0` and `text_1` are named by 0 and 1, and not by first and second.
    if "0" not in tails and re.fullmatch(r"[12]|1\.\d+", label):
        number = float(label)
        return None if number == _MIDDLE else int(number > _MIDDLE)
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
    start = 0
    while one[start : start + 1] == other[start : start + 1] != "":
        start += 1
    ends = [re.findall(r"[^\W_]+", name[start:]) for name in (one, other)]
    while all(len(words) > 1 for words in ends) and ends[0][-1] == ends[1][-1]:
        ends = [words[:-1] for words in ends]
    return " ".join(ends[0]), " ".join(ends[1])


def fits(label: str, wanted: Sequence[str]) -> bool:
    """Whether a value is one of those wanted, or fits one of them as a pattern."""
    return label in wanted or any(fnmatchcase(label, pattern) for pattern in wanted)


def chosen_rows(table: Table, where: Mapping[str, Sequence[str]]) -> Table:
    """The rows whose columns hold one of the values or patterns that `where` names, in any case."""
    for column in where:  # all of them, before rows go by the first
        if not table.has(column):
            raise InputError(
                f"{table.name}: column '{column}' of --where is missing; {suggest(column, table.columns)}"
            )
    for column, values in where.items():
        wanted = [value.casefold() for value in values]
        labels: set[str] = set()
        table = table.with_rows(row for row in table.rows if fits(_normalised(row, column, labels), wanted))
        if not table.rows:
            some = ", ".join(sorted(labels)[:8])
            raise InputError(f"{table.name}: no row has {column} = {' or '.join(values)}; found: {some}")
    return table


def _normalised(row: Row, column: str, labels: set[str]) -> str:
    """What a row has in a column, without its case; `labels` takes it as it is."""
    label = (as_text(row.value(column)) or "").strip()
    labels.add(label)
    return label.casefold()


def read_pairs(name: str, table: Table, form: PairMap, task: Task, *, ordered: bool = True) -> Dataset:
    """The dataset in a table of pairs: examples in order of occurrence, with their degraded texts.

    A row is a pair, or several with `form.each`. Rows that agree in id, source, output and the fields that a
    judge is shown are of one example. Where an id stands for several examples, or an example has several
    texts of one kind, the later examples are called `ID~2`, `ID~3`, ..., and all of them have the field
    `cluster`, the id. Pairs that are equal, tied, duplicate or without a text are left out and counted in a
    note. Raises `InputError` for a column that is missing, a value that is not allowed, a kind with
    several levels, and if no pair is left.

    `ordered` says that the rows come in one order alone, as those of a published set: without ids it has the
    numbers of its rows. Otherwise texts without an id are known by themselves, and the set is the same in
    whatever order the rows come.
    """
    table = chosen_rows(table, form.where)
    _check_columns(table, form)
    left_out: Counter[LeftOut] = Counter()
    pairs = list(_pairs(table, form, left_out, numbered=ordered))
    if not ordered:
        pairs.sort(key=_place)
    examples, variants, texts = _grouped(pairs, [f for f in task.shown_fields if f not in TEXTS], left_out)
    note = ", ".join(f"{count} {why}" for why, count in left_out.items())
    if not pairs:
        raise InputError(f"{table.name}: no pair is left ({note}); allowed: pairs of two different texts")
    if note:
        of = left_out.total() + len(texts)
        logging.getLogger("dhp").warning("%s: left out of %d pairs: %s", table.name, of, note)
    return Dataset(name, examples, task, None, examples, variants, texts)


def _check_columns(table: Table, form: PairMap) -> None:
    for entry in form.each or [PairColumns()]:
        columns, values = {**form.fields, **entry.fields}, {**form.values, **entry.values}
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
    """Pairs with the same id, source, output and shown fields as variants of one example."""
    harmful = {pair.kind for pair in pairs if not pair.control}
    members: dict[tuple[str | None, ...], list[str]] = {}
    families: dict[str, list[str]] = {}
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
        example = pair.example
        named_id = example.id if pair.named else None
        shown_texts = [example.fields.get(name) for name in shown]
        same = members.setdefault((named_id, example.source, example.output, *shown_texts), [])
        if any(texts.get((name, variant.name)) == pair.text for name in same):
            left_out["duplicate"] += 1
            continue
        # An example has one text of a kind: a second one makes a second example with the same original.
        member = next((name for name in same if (name, variant.name) not in texts), None)
        if member is None:
            base = same[0] if same and not pair.named else example.id
            member = free_name(base, examples)
            same.append(member)
            families.setdefault(base, []).append(member)
            examples[member] = replace(example, id=member)
        texts[member, variant.name] = pair.text
    for name, family in families.items():
        if len(family) == 1:
            continue
        for each in family:  # they are not independent of each other
            examples[each] = replace(examples[each], fields={"cluster": name, **examples[each].fields})
    made = []
    for name, variant_name in product(examples, variants):
        text = texts.get((name, variant_name))
        if text is not None:
            made.append(PerturbedText(name, variant_name, text, None, audit(examples[name].output, text)))
    return tuple(examples.values()), tuple(variants.values()), tuple(made)


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
