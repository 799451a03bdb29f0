"""The user's own examples, with or without ready-made degraded texts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dhp.core.errors import InputError, suggest
from dhp.core.records import Example, PerturbedText, Variant
from dhp.core.tables import TABLE_SUFFIXES, Row, Table, as_text, read_table
from dhp.loaders.hub import HUB_PREFIX, hub_table
from dhp.loaders.pairs import read_pairs

_PAIR_COLUMNS = ("perturbed", "kind", "level")


@dataclass(frozen=True, slots=True)
class UserData:
    """What a user's file holds."""

    examples: list[Example]
    """In file order."""
    variants: tuple[Variant, ...] = ()
    """The kinds of ready-made degraded texts (method `given`); empty for a plain file."""
    perturbed: list[PerturbedText] = field(default_factory=list)
    """For each example each of `variants`: its text, or why there is none; empty for a plain file."""


def read_examples(path: Path, field_map: Mapping[str, str] | None = None) -> UserData:
    """Examples from a `.jsonl`, `.csv` or `.parquet` file, or from the Hugging Face Hub.

    A dataset of the Hub is given as `hf:ORG/NAME[:SPLIT]`, a local one as `hf:./FOLDER[:SPLIT]`; without a
    split it must have only one. That needs the library `datasets` (extra `data`); code that comes with a
    dataset is never run.

    `field_map` maps our names to the file's columns, e.g. {"output": "summary"}. Needed are `source` and
    `output`; without `id` the row numbers "1", "2", ... are the ids; every other column of strings or
    numbers becomes a field, nested values are left out.

    With a column `perturbed` (a degraded copy of the output) each row is one pair of example and kind:
    `kind` names the variant (default "perturbed"), `level` its level (default "given"); rows of one id
    must agree in source and output.

    Raises `InputError` (file, row, column, what is allowed) for a missing, empty, broken or unknown file,
    a missing column, an empty text, an id or (id, kind) that stands twice, and for a degraded text that
    equals its original.
    """
    name = str(path)
    table = hub_table(name.removeprefix(HUB_PREFIX)) if name.startswith(HUB_PREFIX) else read_table(path)
    return from_table(table, field_map)


def is_user_data(name: str) -> bool:
    """Whether `name` is one that `read_examples` takes: `hf:...`, or a file with a table's suffix."""
    return name.startswith(HUB_PREFIX) or Path(name).suffix.lower() in TABLE_SUFFIXES


def from_table(table: Table, field_map: Mapping[str, str] | None = None) -> UserData:
    """The examples of a table; see `read_examples`."""
    columns = _columns(table, field_map or {})
    if "perturbed" not in columns:
        return UserData(_plain(table, columns))
    extra = {name: c for name, c in columns.items() if name not in _PAIR_COLUMNS}
    found = ((row, _example(row, number, extra)) for number, row in enumerate(table.rows, 1))
    return UserData(*read_pairs(found, columns))


def _columns(table: Table, field_map: Mapping[str, str]) -> dict[str, str]:
    """Our name -> the table's column; a mapped column serves for nothing else."""
    for ours, theirs in field_map.items():
        if theirs not in table.columns:
            raise InputError(
                f"{table.name}: column '{theirs}', mapped to '{ours}', is missing; "
                f"{suggest(theirs, table.columns)}"
            )
    mapped = set(field_map.values())
    columns = {c: c for c in table.columns if c.strip() and c not in mapped} | dict(field_map)
    for needed in ("source", "output"):
        if needed not in columns:
            raise InputError(
                f"{table.name}: column '{needed}' is missing (another can be mapped to it); "
                f"{suggest(needed, table.columns)}"
            )
    return columns


def _plain(table: Table, columns: Mapping[str, str]) -> list[Example]:
    examples: dict[str, Example] = {}
    places: dict[str, str] = {}
    for number, row in enumerate(table.rows, 1):
        example = _example(row, number, columns)
        if example.id in examples:
            raise row.fault(f"id '{example.id}' stands twice (first at {places[example.id]}); allowed: once")
        examples[example.id], places[example.id] = example, row.place
    return list(examples.values())


def _example(row: Row, number: int, columns: Mapping[str, str]) -> Example:
    fields = {}
    for name, column in columns.items():
        text = as_text(row.values.get(column))
        if name not in ("id", "source", "output") and text is not None:
            fields[name] = row.encodable(column, text)
    return Example(
        id=row.text(columns["id"]) if "id" in columns else str(number),
        source=row.text(columns["source"]),
        output=row.text(columns["output"]),
        fields=fields,
    )
