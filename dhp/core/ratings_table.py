"""Reading a table of ratings: by rows or columns, in the forms that other programs write.

`read_ratings` tries in this order:

1. Parquet, which pyarrow reads as it is;
2. a log of another tool, which a plug-in reads;
3. a table with names of columns or paths that the user gives;
4. CSV and JSON Lines in columns of texts and numbers, which pyarrow reads whole, and fast;
5. whatever does not fit (a broken row, a value that is nested), row by row, which finds the fault and names
   its place.

Then `RatingsForm.applied` gives the columns our names. Large tables are read in parts (`ratings_parts`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhp.core.errors import InputError, missing_column
from dhp.core.files import inner_files, opened, read_bytes, reason
from dhp.core.own_table import RatingsForm
from dhp.core.plugins import load_target, offered
from dhp.core.rating_forms import ANSWER, ORDERS, OVERALL, VERDICT, as_ratings
from dhp.core.tables import (
    LONGEST_TEXT,
    group_count,
    mark_of,
    parquet_table,
    read_table,
    row_groups,
)

if TYPE_CHECKING:
    import pandas as pd


_NUMBERS = ("score", "missing_mass")
"""Columns in which 3 and 3.0 are the same; elsewhere they are different texts."""
_NAMES = "example variant metric sample model protocol dataset level status cluster".split()
"""Columns in which few names stand in many rows."""
_BOM = b"\xef\xbb\xbf"
"""The mark with which some programs begin a text in UTF-8."""


def ratings_columns(path: Path, *, categories: bool = False) -> Any:
    """The `pyarrow.Table` in a file; of CSV all but the scores are texts, names perhaps in dictionaries.

    None if the file has a fault, or values whose type a column does not tell: `read_table` reads these.
    """
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".tsv", ".jsonl"):
        return None
    import pyarrow

    try:
        data = read_bytes(path).removeprefix(_BOM)
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
        if suffix == ".jsonl":
            table = _of_lines(data)
        else:
            table = _separated(data, suffix == ".tsv", _NAMES if categories else ())
        return table if table is not None and _is_sound(table) else None
    except (InputError, UnicodeDecodeError, pyarrow.ArrowException):
        return None


def _separated(data: bytes, tabs: bool, repeated: Sequence[str]) -> Any:
    """The `pyarrow.Table` of CSV or TSV, `repeated` names in dictionaries; None for what pyarrow misreads."""
    from pyarrow import BufferReader, csv, dictionary, float64, int32, string

    mark = "\t" if tabs else mark_of(data.partition(b"\n")[0].decode())
    # pyarrow reads these in ways of its own, without an error.
    if data[:1] in (b"", b"\n") or b"\r" in data or b"\0" in data or not _is_quoted_well(data, mark):
        return None
    parse = csv.ParseOptions(delimiter=mark, newlines_in_values=b'"' in data)
    # The header first, as types are given column by column: pyarrow would guess them.
    names = csv.open_csv(BufferReader(data), parse_options=parse).schema.names
    # Texts, so that an id `007` keeps its zeros. A name that the file lacks is passed over.
    types = dict.fromkeys(names, string()) | dict.fromkeys(repeated, dictionary(int32(), string()))
    types["score"] = float64()
    convert = csv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=False)
    return csv.read_csv(BufferReader(data), parse_options=parse, convert_options=convert)


def _is_quoted_well(data: bytes, mark: str) -> bool:
    """Whether each quotation mark begins or ends a value, or is doubled inside one."""
    if b'"' not in data:
        return True
    # `a,"b",c` is split into `a,`, `b`, `,c`: an odd number, of which the second was quoted.
    pieces = data.split(b'"')
    if len(pieces) % 2 == 0:  # a mark without its second one
        return False
    # Every second piece lies outside quotation marks. An empty one is a mark that is doubled inside a value.
    first, *between, last = pieces[::2]
    bounds = (mark.encode(), b"\n")
    if (first and not first.endswith(bounds)) or (last and not last.startswith(bounds)):
        return False
    for piece in between:
        lies_between_values = piece.startswith(bounds) and piece.endswith(bounds)
        if piece and not lies_between_values:
            return False
    return True


def _of_lines(data: bytes) -> Any:
    """The `pyarrow.Table` of JSON Lines; None unless each line is one flat object."""
    from pyarrow import BufferReader, json

    data = data.strip()
    breaks = data.count(b"\n")
    # One object a line and none within it: pyarrow reads a deep nest recursively, which ends the process.
    is_flat = data.count(b"{") == 1 + breaks and b"[" not in data
    if not is_flat or breaks != data.count(b"}\n{") or b"\r" in data:
        return None
    table = json.read_json(BufferReader(data))
    return table if len(table) == 1 + breaks else None


def _is_sound(table: Any) -> bool:
    """Whether there are rows, columns have names of their own, and each holds short texts or numbers."""
    table.validate(full=True)  # raises if a text is not UTF-8
    names = table.schema.names
    if not len(table) or len(set(names)) < len(names):
        return False
    return all(_is_column(name, values) for name, values in zip(names, table.columns, strict=True))


def _is_column(name: str, values: Any) -> bool:
    """Whether all values are short texts, whole numbers or, in a column of numbers, finite ones."""
    from pyarrow import compute, types

    # Its different texts are checked, and not the rows, which repeat them.
    if types.is_dictionary(values.type):
        return all(_is_column(name, chunk.dictionary) for chunk in values.chunks)
    if types.is_string(values.type):
        longest = compute.max(compute.utf8_length(values)).as_py() or 0  # None if all cells are empty
        return longest <= LONGEST_TEXT
    # With an empty cell pandas would make floats of them, and 1 would read 1.0.
    if types.is_int64(values.type) and not values.null_count:
        return True
    # A column in which no cell holds anything.
    if types.is_null(values.type):
        return True
    is_number = types.is_int64(values.type) or types.is_float64(values.type)
    if name not in _NUMBERS or not is_number:
        return False
    # None if no cell holds a number, which is no fault.
    all_finite = compute.all(compute.is_finite(values)).as_py()
    return all_finite is not False


_PLACE = "dhp.place"
"""Where a table notes, in its `attrs`, the file that it comes from."""


class ScoresAlone(InputError):
    """Scores none of which is said to be of a damaged copy."""

    def __init__(self, message: str, frame: "pd.DataFrame", texts: str = "TEXTS") -> None:
        super().__init__(message)
        self.frame = frame
        """The scores, without a column `variant`."""
        self.texts = texts
        """The file with the texts, or a word for it."""


def read_ratings(
    path: Path, form: RatingsForm = RatingsForm(), *, categories: bool = False
) -> "pd.DataFrame":
    """A ratings table, not yet checked, from a table, a log or a folder of Parquet parts.

    `form` says what the file calls its columns, and where in an entry of a log they stand. With `categories`
    columns of names are categorical where the file allows it, in a quarter of the memory.

    Raises `InputError` with the file, and the row if there is one.
    """
    frame: pd.DataFrame
    logged = None if _is_parquet(path) else ratings_of_log(path, form.fields or {})
    if _is_parquet(path):
        frame = _read_parquet(path, _NAMES if categories else ())
    elif logged is not None:
        # The paths led into entries of the log, which are no columns any more.
        frame, form = logged, replace(form, fields=None)
    elif form.fields:
        frame = form.rows_of(path)
    else:
        columns = ratings_columns(path, categories=categories)
        frame = _read_rows(path) if columns is None else columns.to_pandas()
        del columns  # before its memory is given back
    _give_back()
    frame.attrs[_PLACE] = str(path)
    return form.applied(frame, str(path))


def _give_back() -> None:
    """Let Arrow give back the memory that reading took, which it keeps for the next reading."""
    import pyarrow

    pyarrow.default_memory_pool().release_unused()


def _read_rows(path: Path) -> "pd.DataFrame":
    import pandas as pd

    rows = read_table(path).rows
    for row in rows:
        for column, value in row.values.items():
            if isinstance(value, list | dict):
                kind = type(value).__name__
                raise row.fault(f"column '{column}' holds a {kind}; must be text or a number")
            if isinstance(value, str):
                row.encodable(column, value)
    return pd.DataFrame([row.values for row in rows], dtype=object)


def in_parts(path: Path) -> bool:
    """Whether `ratings_parts` finds several."""
    if not _is_parquet(path):
        return False
    count = 0
    for part in _parquet_files(path):
        with opened(part) as file:
            count += group_count(str(part), file)
    return count > 1


def ratings_parts(path: Path) -> "Iterator[pd.DataFrame]":
    """The table of `read_ratings` in parts: row groups of Parquet files, other files as a whole."""
    if not _is_parquet(path):
        yield read_ratings(path)
        return
    for part in _parquet_files(path):
        with opened(part) as file:
            for rows in row_groups(str(part), file):
                frame: pd.DataFrame = rows.to_pandas(ignore_metadata=True)
                frame.attrs[_PLACE] = str(path)
                yield frame
                del frame, rows  # before the next ones are read


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() == ".parquet" and path.exists()


def _parquet_files(path: Path) -> list[Path]:
    return inner_files(path, [".parquet"], "parts of a ratings table")


def _read_parquet(path: Path, repeated: Sequence[str]) -> "pd.DataFrame":
    """Columns as they are in the file, or in the parts of a folder, whatever index pandas noted there.

    Those that hold few `repeated` texts are categorical.
    """
    import pyarrow

    parts = _parquet_files(path)
    tables = []
    for part in parts:
        with opened(part) as file:
            tables.append(parquet_table(str(part), file, repeated))
    for part, table in zip(parts, tables, strict=True):
        for column in table.schema:
            if pyarrow.types.is_nested(column.type) and table[column.name].null_count < len(table):
                raise InputError(
                    f"{part}: column '{column.name}' holds a {column.type}; must be text or numbers"
                )
    try:
        whole = tables[0] if len(tables) == 1 else pyarrow.concat_tables(tables, promote_options="default")
    except pyarrow.ArrowException as e:
        raise InputError(f"{path}: its parts have different columns ({reason(e)})") from None
    del tables, table
    # Columns are given over one by one, not copied as a whole; they are read-only then.
    sparing = {"self_destruct": True, "split_blocks": True} if repeated else {}
    frame: pd.DataFrame = whole.to_pandas(ignore_metadata=True, **sparing)
    return frame


def place_of(frame: "pd.DataFrame") -> str:
    """Where a ratings table comes from, for error messages."""
    if not hasattr(frame, "attrs"):
        raise InputError(f"ratings: a {type(frame).__name__}; must be a pandas DataFrame or a file")
    return str(frame.attrs.get(_PLACE, "ratings"))


def read_judgements(path: Path, form: RatingsForm = RatingsForm()) -> "pd.DataFrame":
    """The judgements in a table or a log, each with a score, the reason for none, or an answer to be read.

    Raises `InputError` for any other file, and for a column that is missing.
    """
    frame = read_ratings(path, form)
    for column in ("example", "variant"):
        if column not in frame:
            raise missing_column(path, column, frame)
    frame = as_ratings(frame, str(path))
    if "score" not in frame and ANSWER not in frame:
        raise InputError(
            f"{path}: holds no judgements; allowed: a column 'score', or '{VERDICT}', or '{ORDERS[0]}' and "
            f"'{ORDERS[1]}', or '{ANSWER}'"
        )
    return frame if "metric" in frame else frame.assign(metric=OVERALL)


def ratings_of_log(path: Path, fields: Mapping[str, str] = {}) -> "pd.DataFrame | None":
    """The scores that a judge gave in the log of another tool, as a table of ratings; None for another file.

    `fields` has names of ours -> paths in an entry of the log.
    """
    # The first plug-in that knows the file reads it.
    for target in offered("log_ratings").values():
        table: pd.DataFrame | None = load_target(target)(path, fields)
        if table is not None:
            return table
    return None
