"""Ready-made pairs: tables whose rows hold an example and a degraded copy of its output."""

import logging
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dhp.core.card_spec import PairColumns, PairMap
from dhp.core.diff import audit
from dhp.core.errors import InputError, listed, suggest
from dhp.core.records import Example, PerturbedText, Variant
from dhp.core.spool import spooled
from dhp.core.tables import Row, Table, as_text
from dhp.loaders.pair_rows import TEXTS, LeftOut, Pair, fits, read_row


@dataclass(frozen=True, slots=True)
class LoadedTexts:
    """What a table of texts holds."""

    examples: Sequence[Example]
    """Examples in the order of first occurrence."""
    variants: tuple[Variant, ...] = ()
    """The kinds of ready-made degraded texts (method `given`); empty for plain examples."""
    perturbed: list[PerturbedText] = field(default_factory=list)
    """The degraded texts there are, example by example; empty for plain examples."""
    columns: dict[str, str] = field(default_factory=dict, compare=False)
    """Column of a user's table -> what it stands for in prompts: source, output or a field."""


def chosen_rows(table: Table, where: Mapping[str, Sequence[str]]) -> Table:
    """The rows whose columns hold one of the values or patterns that `where` names, in any case."""
    for column in where:
        if not table.has(column):
            raise InputError(
                f"{table.name}: column '{column}' of --where is missing; {suggest(column, table.columns)}"
            )
    rows = table.rows
    for column, values in where.items():
        wanted = [value.casefold() for value in values]
        there: set[str] = set()
        rows = spooled(row for row in rows if fits(_normalised(row, column, there), wanted))
        if not rows:
            found = ", ".join(sorted(there)[:8])
            raise InputError(f"{table.name}: no row has {column} = {' or '.join(values)}; found: {found}")
    return Table(table.name, table.columns, rows)


def _normalised(row: Row, column: str, there: set[str]) -> str:
    """What a row has in a column, without its case; `there` takes it as it is."""
    there.add(said := (as_text(row.value(column)) or "").strip())
    return said.casefold()


def read_pairs(table: Table, form: PairMap, shown: Collection[str] = ()) -> LoadedTexts:
    """Examples, variants and degraded texts of a table of pairs.

    Parameters
    ----------
    table
        One row a pair, or several with `form.each`.
    form
        Which column holds what.
    shown
        Further fields that a judge sees. Rows that agree in id, source, output and these are of one example.

    Returns
    -------
    LoadedTexts
        Where an id stands for several examples, or an example has several texts of one kind, the later
        examples are called `ID~2`, `ID~3`, ..., and all of them have the field `cluster`, the id.

    Raises
    ------
    InputError
        For a column that is missing, a value that is none of those allowed, a kind with several levels, and
        where no pair is left. Pairs that are equal, tied, duplicate or without a text are left out and
        counted in a note.
    """
    table = chosen_rows(table, form.where)
    _check_columns(table, form)
    left_out: Counter[LeftOut] = Counter()
    pairs = list(_pairs(table, form, left_out))
    found = _grouped(pairs, [name for name in shown if name not in TEXTS], left_out)
    note = ", ".join(f"{count} {why}" for why, count in left_out.items())
    if not pairs:
        raise InputError(f"{table.name}: no pair is left ({note}); allowed: pairs of two different texts")
    if note:
        of = left_out.total() + len(found.perturbed)
        logging.getLogger("dhp").warning("%s: left out of %d pairs: %s", table.name, of, note)
    return found


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


def _pairs(table: Table, form: PairMap, left_out: "Counter[LeftOut]") -> Iterator[Pair]:
    for number, row in enumerate(table.rows, 1):
        for entry in form.each or [PairColumns()]:
            found = read_row(row, number, entry, form)
            if isinstance(found, Pair):
                yield found
            else:
                left_out[found] += 1


def _grouped(pairs: Sequence[Pair], shown: Sequence[str], left_out: "Counter[LeftOut]") -> LoadedTexts:
    """Pairs with the same id, source, output and shown fields as variants of one example."""
    harmful = {pair.kind for pair in pairs if not pair.control}
    members: dict[tuple[str | None, ...], list[str]] = {}
    families: dict[str, list[str]] = {}
    examples: dict[str, Example] = {}
    variants: dict[str, Variant] = {}
    texts: dict[tuple[str, str], str] = {}
    columns: dict[tuple[str, str], Mapping[str, str]] = {}
    for pair in pairs:
        variant = _variant(pair, harmful)
        known = variants.setdefault(variant.name, variant)
        if known.level != variant.level:
            raise pair.row.fault(
                f"kind '{variant.name}' has level '{variant.level}'; allowed: {known.level}, as before"
            )
        example = pair.example
        known_by = (example.id if pair.named else None, example.source, example.output)
        same = members.setdefault((*known_by, *(example.fields.get(name) for name in shown)), [])
        if any(texts.get((name, variant.name)) == pair.text for name in same):
            left_out["duplicate"] += 1
            continue
        own = next((name for name in same if (name, variant.name) not in texts), None)
        if own is None:
            base = same[0] if same and not pair.named else example.id
            own = _free(base, examples)
            same.append(own)
            families.setdefault(base, []).append(own)
            examples[own] = replace(example, id=own)
        texts[own, variant.name], columns[own, variant.name] = pair.text, pair.columns
    for name, family in families.items():
        for each in family if len(family) > 1 else ():
            examples[each] = replace(examples[each], fields={"cluster": name, **examples[each].fields})
    made = [
        PerturbedText(example, variant, text, None, audit(examples[example].output, text), (), columns[key])
        for example in examples
        for variant in variants
        if (text := texts.get(key := (example, variant))) is not None
    ]
    return LoadedTexts(list(examples.values()), tuple(variants.values()), made)


def _variant(pair: Pair, harmful: Collection[str]) -> Variant:
    """A control whose kind is also one of damage gets a name of its own."""
    kind = f"{pair.kind}_control" if pair.control and pair.kind in harmful else pair.kind
    name = kind if pair.degree is None else f"{kind}.{pair.degree}"
    return Variant(name, kind, "control" if pair.control else pair.level, "given", pair.degree)


def _free(name: str, taken: Collection[str]) -> str:
    """`name`, or the first of `name~2`, `name~3`, ... that is not taken."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}~{number}"
    return free
