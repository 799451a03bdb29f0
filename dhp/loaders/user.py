"""Datasets from tables of the user's own texts.

`open_table` reads the rows, `columns_of` finds which column holds what, and `from_table` makes the dataset:
of pairs if there is a column `perturbed`, else of examples. Before that, rows that cannot be used are left
out and counted by reason, if they are few (`unusable`).
"""

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from itertools import chain
from pathlib import Path

from dhp.core.errors import InputError, listed
from dhp.core.records import Example
from dhp.core.specs import PairMap, Task
from dhp.core.tables import (
    FILE,
    FOLDER,
    KEY,
    TABLE_SUFFIXES,
    Row,
    Table,
    as_text,
    is_blank,
    read_table,
)
from dhp.loaders.dataset import Dataset
from dhp.loaders.hub import HUB_PREFIX, hub_table
from dhp.loaders.inspect_log import LOG_SUFFIX
from dhp.loaders.left_out import leave_out
from dhp.loaders.pairs import (
    PAIR_FIELDS,
    chosen_rows,
    free_name,
    id_of_texts,
    is_unanswered,
    read_pairs,
    said_before,
    said_last,
)
from dhp.loaders.parts import is_parts, parts_table


def read_texts(
    path: str | Path,
    task: Task,
    fields: Mapping[str, str] = {},
    where: Mapping[str, Sequence[str]] = {},
    *,
    name: str = "",
) -> Dataset:
    """A dataset, without a suite, from a table or from the Hugging Face Hub; `name` is by default the path.

    `path` is a `.json`, `.jsonl`, `.csv`, `.tsv` or `.parquet` file or a `.zip` of these; a pattern of such
    files, `FOLDER/*.parquet`, also in a store, `s3://BUCKET/FOLDER/*.parquet`; a dataset of the Hub as
    `hf:ORG/NAME[:SPLIT]`, a local one as `hf:./FOLDER[:SPLIT]`, which needs the library `datasets` (extra
    `data`); code that comes with a dataset is never run.

    `fields` has our names -> the file's columns or paths into nested ones. Needed is `output`, and
    `source` if the task has one; without `id` a text is known by a hash of what its row holds; every other
    column of strings or numbers becomes a field, other values are left out. With a column `perturbed` (a
    degraded copy of the output) each row is a pair of example and variant: `kind` names the variant (default
    "perturbed"), `degree` its degree, `level` its level (default "given"), `control` marks a change that must
    not lower a score, `better` tells which of output and perturbed is the better one; see `read_pairs`.

    Raises `InputError` with file, row, column and what is allowed.
    """
    table = open_table(str(path))
    return from_table(name or str(path), table, task, columns_of(table, fields, task), where)


def open_table(name: str, *, broken: bool = False) -> Table:
    """The rows of what `read_texts` takes; also those that cannot be read, if `broken`."""
    if name.startswith(HUB_PREFIX):
        return hub_table(name.removeprefix(HUB_PREFIX))
    if is_parts(name) and not Path(name).exists():
        return parts_table(name, broken=broken)
    return read_table(Path(name), broken=broken)


def is_user_data(name: str) -> bool:
    """Whether `name` is that of a user's own texts: `hf:...`, or a file with the suffix of a table or log."""
    suffix = Path(name).suffix.lower()
    return name.startswith(HUB_PREFIX) or suffix in TABLE_SUFFIXES or suffix == LOG_SUFFIX


def from_table(
    name: str,
    table: Table,
    task: Task,
    columns: Mapping[str, str],
    where: Mapping[str, Sequence[str]],
    *,
    strict: bool = False,
) -> Dataset:
    """The texts of a table whose `columns_of` are known; see `read_texts`.

    Rows that cannot be used are left out with a note that counts them by reason, unless they are more than a
    tenth, or any if `strict`: then they raise `InputError`.
    """
    left_out = unusable(table, columns, where, strict=strict)
    if "perturbed" in columns:
        kept = table.with_rows(row for row in table.rows if row.place not in left_out)
        chosen = {column: list(values) for column, values in where.items()}
        # The rows are chosen there, by the same `where`.
        form = PairMap(fields=dict(columns), where=chosen)
        # Without an id the order of the rows must not matter: people sort their tables.
        return read_pairs(name, kept, form, task, ordered=False)
    if "better" in columns:
        raise InputError(
            f"{table.name}: `fields` better= needs two texts; map them by `fields` output=COLUMN and "
            f"`fields` perturbed=COLUMN; columns: {listed(table.columns)}"
        )
    examples = plain_examples(chosen_rows(table, where), columns, left_out)
    return Dataset(name, examples, task, None, examples)


def unusable(
    table: Table, columns: Mapping[str, str], where: Mapping[str, Sequence[str]], *, strict: bool
) -> frozenset[str]:
    """Places of the rows that cannot be read, or that lack a text that they must have.

    Raises `InputError` as `from_table`.
    """
    reasons: dict[str, list[str]] = {}
    # They have no values, and would fail wherever a column is looked at.
    broken = [row for row in table.rows if row.broken]
    for row in broken:
        reasons.setdefault(row.broken, []).append(row.place)
    whole = table.with_rows(row for row in table.rows if not row.broken) if broken else table
    rows = chosen_rows(whole, where).rows
    are_pairs = "perturbed" in columns
    for row in rows:
        for name in ("output", "perturbed"):
            if name in columns:
                row.check_no_object(columns[name])
        lack = None if are_pairs else _lack(row, columns)  # `read_pairs` counts pairs without a text itself
        if lack is not None:
            reasons.setdefault(lack, []).append(row.place)
    leave_out(table.name, reasons, len(rows) + len(broken), strict=strict)
    return frozenset(chain.from_iterable(reasons.values()))


def _lack(row: Row, columns: Mapping[str, str]) -> str | None:
    """What a row lacks of an example; None if nothing."""
    for name in ("id", "source", "output"):
        if name not in columns:
            continue
        column = columns[name]
        value = row.value(column)
        if is_blank(value):
            return f"column '{column}' is empty"
        if name == "output" and is_unanswered(value):
            return f"column '{column}' ends without an answer"
    return None


def columns_of(table: Table, field_map: Mapping[str, str], task: Task) -> dict[str, str]:
    """Our name -> the table's column; a mapped column serves for nothing else."""
    faults = []
    for ours, theirs in field_map.items():
        if not table.has(theirs):
            faults.append(f"`fields` {ours}={theirs}: column '{theirs}' is missing{_near(theirs, table)}")
    # A column `better` that nobody mapped may mean anything.
    not_ours = {*field_map.values(), FILE, FOLDER, KEY, "better"}
    named = [column for column in table.columns if column.strip() and column not in not_ours]
    # Columns with our names serve as they are; a mapping of the user's comes before them.
    columns = {column: column for column in named} | dict(field_map)
    needs_source = task.source_label is not None
    for needed in ("source", "output"):
        if needed == "source" and not needs_source:
            continue
        if needed not in columns:
            near = _near(needed, table)
            faults.append(f"column '{needed}' is missing; map it by `fields` {needed}=COLUMN{near}")
    if faults:
        raise InputError(f"{table.name}: {'; '.join(faults)}; allowed: {listed(table.columns)}")
    return columns


def _near(name: str, table: Table) -> str:
    """The column that may be meant, as a question."""
    close = get_close_matches(name, table.columns, n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""


def meanings(columns: Mapping[str, str]) -> dict[str, str]:
    """Name of a slot in a prompt file -> our name of the text: a slot may have that, or the column's own."""
    ours_alone, by_column = {}, {}
    for ours, theirs in columns.items():
        if ours not in ("id", *PAIR_FIELDS):
            ours_alone[ours] = ours
            by_column[theirs] = ours
    return ours_alone | by_column  # a column comes before a name of ours that it happens to have


def plain_examples(
    table: Table, columns: Mapping[str, str], left_out: Collection[str] = ()
) -> Sequence[Example]:
    """The examples of a table, a row each; `columns` has our name -> its column.

    Without an id an example is known by a hash of its texts (`id_of_texts`). Rows at the places `left_out`
    are passed over.
    """
    if left_out:
        table = table.with_rows(row for row in table.rows if row.place not in left_out)
    places: dict[str, str] = {}

    def read(row: Row) -> Example:
        example = _example(row, columns, places)
        if example.id in places:
            raise row.fault(f"duplicate id '{example.id}' (first at {places[example.id]})")
        places[example.id] = row.place
        return example

    return table.each(read)


def _example(row: Row, columns: Mapping[str, str], taken: Collection[str]) -> Example:
    """The example in a row; `taken` are the ids that others have."""
    fields = {}
    for name, column in columns.items():
        text = as_text(row.value(column))
        if name not in ("id", "source", "output") and text is not None:
            fields[name] = row.encodable(column, text)
    source = _source(row, columns["source"]) if "source" in columns else ""
    # Without an answer `text` raises the error that says what the column holds.
    output = said_last(row, columns["output"]) or row.text(columns["output"])
    if "id" in columns:
        identity = row.text(columns["id"])
    else:
        # Rows that hold the same have the same hash; each still gets an id of its own.
        identity = free_name(id_of_texts(source, output, fields), taken)
    return Example(identity, source, output, fields)


def _source(row: Row, column: str) -> str:
    """What the writer had; empty for messages with nothing before the answer."""
    text = said_before(row, column)
    if text is not None:
        return text
    are_messages = isinstance(row.value(column), list)
    return "" if are_messages else row.text(column)
