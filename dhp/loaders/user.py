"""The user's own examples, from files or memory, with or without ready-made degraded texts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, Union

from dhp.core.errors import InputError, listed
from dhp.core.keywords import as_list
from dhp.core.records import Example
from dhp.core.specs import PairMap, Suite, Task
from dhp.core.tables import FILE, FOLDER, KEY, TABLE_SUFFIXES, Row, Table, as_text, read_table, table
from dhp.loaders.inspect_log import LOG_SUFFIX
from dhp.loaders.pairs import PAIR_FIELDS, LoadedTexts, chosen_rows, read_pairs
from dhp.loaders.remote import HUB_PREFIX, hub_table, is_parts, parts_table

if TYPE_CHECKING:
    import pandas as pd


def read_examples(
    path: str | Path,
    field_map: Mapping[str, str] | None = None,
    where: Mapping[str, Sequence[str]] | None = None,
    task: Task | None = None,
) -> LoadedTexts:
    """Examples from a table, or from the Hugging Face Hub.

    `path` is a `.json`, `.jsonl`, `.csv`, `.tsv` or `.parquet` file or a `.zip` of these; a pattern of such
    files, `FOLDER/*.parquet`, also in a store, `s3://BUCKET/FOLDER/*.parquet`; a dataset of the Hub as
    `hf:ORG/NAME[:SPLIT]`, a local one as `hf:./FOLDER[:SPLIT]`, which needs the library `datasets` (extra
    `data`); code that comes with a dataset is never run.

    `field_map` has our names -> the file's columns or paths into nested ones. Needed is `output`, and
    `source` where the task has one; without `id` the row numbers are the ids; every other column of strings
    or numbers becomes a field, other values are left out. With a column `perturbed` (a degraded copy of the
    output) each row is a pair of example and variant: `kind` names the variant (default "perturbed"),
    `degree` its degree, `level` its level (default "given"), `control` marks a change that must not lower a
    score, `better` tells which of output and perturbed is the better one; see `read_pairs`. Raises
    `InputError` with file, row, column and what is allowed.
    """
    name = str(path)
    return from_table(open_table(name), field_map or {}, where or {}, task)


def open_table(name: str) -> Table:
    """The rows of what `read_examples` takes."""
    if name.startswith(HUB_PREFIX):
        return hub_table(name.removeprefix(HUB_PREFIX))
    return parts_table(name) if is_parts(name) and not Path(name).exists() else read_table(Path(name))


def is_user_data(name: str) -> bool:
    """Whether `name` is that of a user's own texts: `hf:...`, or a file with the suffix of a table or log."""
    return name.startswith(HUB_PREFIX) or Path(name).suffix.lower() in (*TABLE_SUFFIXES, LOG_SUFFIX)


def from_table(
    table: Table,
    field_map: Mapping[str, str],
    where: Mapping[str, Sequence[str]] = {},
    task: Task | None = None,
) -> LoadedTexts:
    """The examples of a table; see `read_examples`."""
    columns = _columns(table, field_map, task)
    if "perturbed" in columns:
        form = PairMap(fields=columns, where={column: list(values) for column, values in where.items()})
        pairs = read_pairs(table, form, task.shown_fields if task else ())
        return replace(pairs, columns=_meanings(columns))
    if "better" in field_map:
        raise InputError(
            f"{table.name}: `fields` better= needs two texts; map them by `fields` output=COLUMN and "
            f"`fields` perturbed=COLUMN; columns: {listed(table.columns)}"
        )
    return LoadedTexts(_plain(chosen_rows(table, where), columns), columns=_meanings(columns))


def _columns(table: Table, field_map: Mapping[str, str], task: Task | None) -> dict[str, str]:
    """Our name -> the table's column; a mapped column serves for nothing else."""
    faults = [
        f"`fields` {ours}={theirs}: column '{theirs}' is missing{_near(theirs, table)}"
        for ours, theirs in field_map.items()
        if not table.has(theirs)
    ]
    used = {*field_map.values(), FILE, FOLDER, KEY}
    own = {c: c for c in table.columns if c.strip() and c not in used and c != "better"}
    columns = own | dict(field_map)
    has_source = task is None or task.source_label is not None
    faults += [
        f"column '{needed}' is missing; map it by `fields` {needed}=COLUMN{_near(needed, table)}"
        for needed in ("source", "output") * has_source or ("output",)
        if needed not in columns
    ]
    if faults:
        raise InputError(f"{table.name}: {'; '.join(faults)}; allowed: {listed(table.columns)}")
    return columns


def _near(name: str, table: Table) -> str:
    """The column that may be meant, as a question."""
    close = get_close_matches(name, table.columns, n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""


def _meanings(columns: Mapping[str, str]) -> dict[str, str]:
    """Column -> what it stands for, for the slots of prompt files: our name, and its own."""
    texts = {ours: theirs for ours, theirs in columns.items() if ours not in ("id", *PAIR_FIELDS)}
    return {**{ours: ours for ours in texts}, **{theirs: ours for ours, theirs in texts.items()}}


def _plain(table: Table, columns: Mapping[str, str]) -> Sequence[Example]:
    numbers: dict[str, int] = {}

    def read(row: Row) -> Example:
        number = len(numbers)
        example = _example(row, number + 1, columns)
        if (first := numbers.setdefault(example.id, number)) != number:
            place = table.rows[first].place
            raise row.fault(f"duplicate id '{example.id}' (first at {place})")
        return example

    return table.each(read)


def _example(row: Row, number: int, columns: Mapping[str, str]) -> Example:
    fields = {}
    for name, column in columns.items():
        text = as_text(row.value(column))
        if name not in ("id", "source", "output") and text is not None:
            fields[name] = row.encodable(column, text)
    return Example(
        id=row.text(columns["id"]) if "id" in columns else str(number),
        source=row.text(columns["source"]) if "source" in columns else "",
        output=row.text(columns["output"]),
        fields=fields,
    )


Rows = Union["pd.DataFrame", Sequence[Mapping[str, object]]]
NAME = "table"
"""What such a table is called, in results too."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a plug-in that reads data which are no table of texts."""

    source: str | Rows
    """The file, or rows in memory."""
    name: str
    """Name of the dataset."""
    task: str | Task | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)
    language: str | None = None
    """Code of the language of the outputs, where it is declared."""
    judge_part: str | None = None
    """Part of a conversation that is judged."""
    suite: Suite | None = None
    """How the texts are to be degraded, where it is said."""


def are_rows(value: object) -> TypeGuard[Rows]:
    """Whether it is a table in memory."""
    listed = isinstance(value, list | tuple) and bool(value) and all(isinstance(e, Mapping) for e in value)
    return listed or (hasattr(value, "columns") and hasattr(value, "to_dict"))


def rows_table(given: Rows) -> Table:
    """The table; raises `InputError` for one without rows."""
    rows: Any = given
    if not isinstance(given, list | tuple):
        frame: Any = given
        rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    columns: dict[str, None] = {}

    def read() -> Any:
        for number, values in enumerate(rows, 1):
            named = {str(column): value for column, value in values.items()}
            columns.update(dict.fromkeys(named))
            yield Row(f"{NAME}: row {number}", named)

    return table(NAME, columns, read())


def entries(value: object) -> list[Any]:
    """One or several datasets as a list, in which a table in memory is one; empty for None."""
    if value is None:
        return []
    return [value] if are_rows(value) else as_list(value)
