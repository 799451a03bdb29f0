"""JSON, JSONL, CSV, TSV and Parquet files as tables, with a location for each row.

How a file is read:

1. `read_tables` opens it, or one after the other the tables in a folder or archive.
2. `read_rows` takes the reader for its suffix, which yields a `Row` for each row. JSON Lines and Parquet are
   read as they are needed, other formats as a whole.
3. A `Row` knows its file and line, so that an error names the place. A broken row is one that says why.
4. `table` collects them, and refuses broken ones unless the caller counts them.
"""

import ast
import csv
import io
import itertools
import json
import re
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from numbers import Number
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, TypeVar

from dhp.core.errors import InputError, listed, missing_column, one_of, require, unique
from dhp.core.files import (
    BROKEN_DATA,
    decoded,
    decoded_table,
    inner_files,
    opened,
    parse_careless_json,
    read_bytes,
    reason,
    text_lines,
    unpacked,
)
from dhp.core.records import as_call

T = TypeVar("T")


def separated(name: str, text: str, tabs: bool) -> tuple[list[str], list[list[str]]]:
    """The header and the values of each row.

    If `tabs` separate and quotation marks do not pair up, these are part of the texts. Otherwise commas
    separate, or semicolons, tabs or vertical bars if the header has more of those, or what a line `sep=;`
    before the header says. A row of another length than the header is left as it is. Raises `InputError` for
    a duplicate column and broken quotation marks.
    """
    if not tabs:
        first, _, rest = text.partition("\n")
        declared = _DECLARED_MARK.fullmatch(first.strip())
        if declared:
            return _read(name, rest, declared[1])
        return _read(name, text, mark_of(first))
    # In TSV a quotation mark may be a part of the text. Taken for one that encloses a value, it swallows tabs
    # and line ends: then rows have another length than the header, or the last value never ends.
    try:
        header, rows = _read(name, text, "\t")
        wrong = _ragged(header, rows)
        if wrong:
            # Caught below, so that such rows are read again without quotation marks.
            raise InputError(f"{name}: {wrong}")
        return header, rows
    except InputError as e:
        try:
            return _read(name, text, "\t", csv.QUOTE_NONE)
        except InputError:
            # At fault in both ways: what was found with quotation marks is told.
            raise e from None


_DECLARED_MARK = re.compile(r'"?sep=(.)"?', re.I)  # sep=; or "sep=,"
"""The first line by which Excel is told what separates the values."""


def mark_of(header: str) -> str:
    """What separates the values: a comma, a semicolon, a tab or a vertical bar."""
    # Of equal counts `max` takes the first: a header without any mark has commas.
    return max(",;\t|", key=header.count)


def _read(
    name: str, text: str, mark: str, quoting: Any = csv.QUOTE_MINIMAL
) -> tuple[list[str], list[list[str]]]:
    # A cell may hold a text of a million characters, more than the csv module allows. The limit holds for the
    # process: others get theirs back. A longer one than this fails on Windows.
    limit = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        # `newline=""` leaves line breaks within a quoted value as they are.
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, quoting=quoting, strict=True)
        header = next(reader, [])
        rows = [values for values in reader if values]  # blank lines are no rows
    except csv.Error as e:
        raise InputError(f"{name}: line {reader.line_num}: broken CSV ({e})") from None
    finally:
        csv.field_size_limit(limit)
    unique("column", header, name)
    return header, rows


def _ragged(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """What is wrong with the first row of another length than the header; empty without such a row."""
    for number, values in enumerate(rows, 1):
        if len(values) != len(header):
            return f"row {number}: {_length_fault(header, values)}"
    return ""


def _length_fault(header: Sequence[str], values: Sequence[str]) -> str:
    return f"{len(values)} values; must be {len(header)}, as in the header"


AT_ONCE = 1_000
"""Rows that are read at a time. Chosen."""


def parquet_table(name: str, file: BinaryIO, repeated: Sequence[str] = ()) -> Any:
    """The `pyarrow.Table` in a Parquet file, without notes on it; raises `InputError` for another file.

    Columns that hold few `repeated` texts are read as dictionaries, which need a tenth of the memory.
    """
    with _parquet(name, file, repeated) as parquet:
        return _sound(parquet.read()).replace_schema_metadata(None)


def group_count(name: str, file: BinaryIO) -> int:
    """The number of row groups of a Parquet file."""
    with _parquet(name, file) as parquet:
        return int(parquet.num_row_groups)


def row_groups(name: str, file: BinaryIO) -> Iterator[Any]:
    """The table of `parquet_table`, one row group after the other."""
    with _parquet(name, file) as parquet:
        for number in range(parquet.num_row_groups):
            yield _sound(parquet.read_row_group(number)).replace_schema_metadata(None)


def parquet_parts(name: str, file: BinaryIO) -> Iterator[Any]:
    """The `pyarrow.RecordBatch`es of a Parquet file; raises `InputError` for another format or a duplicate
    column."""
    with _parquet(name, file) as parquet:
        for part in parquet.iter_batches(AT_ONCE):
            unique("column", _sound(part).schema.names, name)
            yield part


@contextmanager
def _parquet(name: str, file: BinaryIO, repeated: Sequence[str] = ()) -> Iterator[Any]:
    import pyarrow
    import pyarrow.parquet

    try:
        parquet = pyarrow.parquet.ParquetFile(file)
        # Only texts can be read as dictionaries; for other types pyarrow raises.
        texts = {field.name for field in parquet.schema_arrow if _is_text(field.type)}
        few = [name for name in repeated if name in texts]
        if few:
            parquet = pyarrow.parquet.ParquetFile(file, read_dictionary=few)
        # Within the block, as pyarrow reads while the caller uses the file, and may fail only then.
        yield parquet
    except (OSError, UnicodeDecodeError, pyarrow.ArrowException) as e:
        raise InputError(f"{name}: not a Parquet file ({reason(e)})") from None


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def _sound(rows: Any) -> Any:
    """The rows, if all their texts and names are what Arrow says; else what pyarrow raises."""
    rows.validate(full=True)
    _ = rows.schema.names  # raises UnicodeDecodeError
    return rows


_FORMATS = (".json", ".jsonl", ".csv", ".tsv", ".parquet", ".xlsx")
TABLE_SUFFIXES = (*_FORMATS, ".zip")
"""The files that `read_table` takes."""
LONGEST_TEXT = 1_000_000
"""Characters of one text that a table may hold; judging a text takes time in proportion to its length."""
FILE, FOLDER, KEY = "@file", "@folder", "@key"
"""Columns that tell where a row stood: the name of its file without suffix and of the folder of that, for
tables of several files; the key of its list, for a JSON object of lists."""
_STEP = re.compile(r"\[(\d+)\]|\.?([^.\[\]]+)")
"""A step of a path: `a`, `.b` and `[0]` of `a.b[0]`; the groups are the number and the key."""


def as_text(value: object) -> str | None:
    """A string as it is, a number as its text; None for anything else (nested, absent, binary, NaN)."""
    if isinstance(value, str):
        return value
    is_number = isinstance(value, Number) and value == value  # NaN, which tables put for nothing, is not
    return str(value) if is_number else None


_MISSING = frozenset(
    (
        *("", "nan", "NaN", "NaT", "<NA>"),  # as pandas prints them
        *("#N/A", "#N/A N/A", "#NA", "#REF!", "#VALUE!", "#DIV/0!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!"),
        *("#CALC!", "#FIELD!", "#BLOCKED!", "#CONNECT!", "#UNKNOWN!", "#BUSY!", "#GETTING_DATA", "#ERROR!"),
        *("#NV", "#BEZUG!", "#WERT!", "#ZAHL!", "#ÜBERLAUF!"),  # German
        *("#N/D", "#VALEUR!", "#NOM?", "#NOMBRE!", "#NUL!"),  # French
        *("#¡REF!", "#¡VALOR!", "#¿NOMBRE?", "#¡NUM!", "#¡NULO!", "#¡DIV/0!"),  # Spanish
    )
)
"""How tables and the programs that write them print that there is no value: pandas, and the errors of
spreadsheets in English, German, French and Spanish."""


def is_blank(value: object) -> bool:
    """Whether a value is absent, or a text that only says so, such as `nan` or `#N/A`."""
    if isinstance(value, str):
        return value.strip() in _MISSING
    return value is None or value != value  # NaN differs from itself


def _object_in(value: object) -> object:
    """The object or list that a text holds, as JSON or as Python prints it; any other value as it is."""
    if not isinstance(value, str):
        return value
    text = value.strip().lstrip("\ufeff")
    fenced = _FENCED.fullmatch(text)
    if fenced:
        text = fenced[1]
    # Nothing but these: `5` and `null` are JSON too, and here they are texts.
    if text[:1] + text[-1:] in ("{}", "[]"):
        # Exports print objects as Python does, with single quotation marks, which are no JSON.
        with suppress(ValueError, RecursionError):
            return json.loads(text)
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            return ast.literal_eval(text)
    return value


_FENCED = re.compile(r"```\w*\s*([\[{].*[\]}])\s*```", re.S)
"""Models like to write JSON as a block of code."""


def _example_path(column: str, value: object) -> str:
    """What a path into an object or list looks like, for messages."""
    return f"{column}[0]" if isinstance(value, list) else f"{column}.KEY"


def _is_chat(value: object) -> bool:
    """Whether a value is a list of messages, each with the role of who speaks."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(each, Mapping) and "role" in each for each in value)


def _cell(value: object) -> object:
    """A cell of a format without nested values: the JSON text of messages as their list."""
    inner = _object_in(value)
    return inner if _is_chat(inner) else value


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table."""

    __reduce__ = as_call
    place: str
    """File and line (JSONL) or row (other formats; 1 is the first after the header)."""
    values: Mapping[str, object]
    """Values of the row: column -> value."""
    broken: str = ""
    """Why it cannot be read; it has no values then."""

    def fault(self, message: str) -> InputError:
        """An error that names this row."""
        return InputError(f"{self.place}: {message}")

    def value(self, column: str) -> object:
        """The value in a column, or at a path into a nested one such as `a.b[0]`; None if there is none."""
        # A column may have a dot in its own name, so that a whole name comes before a path.
        if column in self.values:
            return self.values[column]
        # Each step leads into the value that the one before it found, which may be JSON in a text.
        value: object = self.values
        for number, key in _STEP.findall(column):
            outer = _object_in(value)
            value = None
            if key and isinstance(outer, Mapping):
                value = outer.get(key)
            # `number` is a text: "0" counts as one, and only the empty text does not.
            elif number and isinstance(outer, list) and int(number) < len(outer):
                value = outer[int(number)]
        return value

    def has(self, column: str) -> bool:
        """Whether there is a value that is not blank."""
        return bool((as_text(self.value(column)) or "").strip())

    def text(self, column: str) -> str:
        """The text in `column`; absent, blank or not a text raises `InputError` with the place."""
        value = self.value(column)
        text = as_text(value)
        if value is not None and text is None:
            kind = type(value).__name__
            path = _example_path(column, value)
            raise self.fault(f"column '{column}' holds a {kind}; must be text, or a path to one, e.g. {path}")
        if text is None or not text.strip():
            raise self.fault(f"column '{column}' is empty; must hold text")
        return self.encodable(column, text)

    def check_no_object(self, column: str) -> None:
        """Raise `InputError` if `column` holds a JSON object or list, of which a part is the text."""
        value = self.value(column)
        inner = _object_in(value)
        if isinstance(inner, Mapping):
            keys = listed(list(map(str, inner)))
            what = f"object ({keys})"
        elif isinstance(inner, list) and inner is not value:
            # A list of numbers may be a text such as a citation, [1].
            if not any(isinstance(entry, str | dict) for entry in inner):
                return
            what = "list"
        else:
            return
        path = _example_path(column, inner)
        raise self.fault(
            f"column '{column}' holds a JSON {what}; say which part is the text, e.g. `fields` output={path}"
        )

    def encodable(self, column: str, text: str) -> str:
        r"""`text` itself; one too long, or a lone surrogate (JSON's `\ud800` alone), raises `InputError`."""
        if len(text) > LONGEST_TEXT:
            raise self.fault(
                f"column '{column}' holds {len(text):,} characters; must be at most {LONGEST_TEXT:,}"
            )
        try:
            text.encode()
        except UnicodeEncodeError:
            raise self.fault(f"column '{column}' holds a lone surrogate; must be Unicode text") from None
        return text


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a file, or of several."""

    name: str
    """The file, for error messages."""
    columns: tuple[str, ...]
    """Names of all columns, in order of first occurrence."""
    rows: Sequence[Row]
    """Rows of the table, at least one."""

    def has(self, column: str) -> bool:
        """Whether there is such a column, or the one that a path such as `a.b[0]` leads into."""
        # `a` of the path `a.b[0]`
        outermost = re.split(r"[.\[]", column, maxsplit=1)[0]
        return column in self.columns or outermost in self.columns

    def each(self, read: Callable[[Row], T]) -> Sequence[T]:
        """What is read of each row, in their order."""
        return tuple(map(read, self.rows))

    def with_rows(self, rows: Iterable[Row]) -> "Table":
        """The table with these of its rows, which may be none."""
        return replace(self, rows=tuple(rows))

    def need(self, columns: Iterable[str]) -> None:
        """Raise `InputError` at the first of `columns` that the table lacks, with the near name."""
        for column in columns:
            if not self.has(column):
                raise missing_column(self.name, column, self.columns)


def table(name: str, columns: Iterable[str], rows: Iterable[Row], *, broken: bool = False) -> Table:
    """A table called `name`. Raises `InputError` without rows, and unless `broken` for a broken row.

    `columns` may be a dictionary that is filled while the rows are read.
    """
    kept = tuple(rows if broken else map(sound, rows))
    if not kept:
        raise InputError(f"{name}: is empty; must have at least one row")
    # Only here, as `columns` may have been filled while the rows were read.
    return Table(name, tuple(columns), kept)


def sound(row: Row) -> Row:
    """The row; raises `InputError` if it is broken."""
    # The place of the row is added here; `broken` has the reason alone.
    if row.broken:
        raise row.fault(row.broken)
    return row


def from_arrow(name: str, parts: Iterable[Any]) -> Table:
    """The rows of `pyarrow` tables or parts of them, one after the other."""
    columns: dict[str, None] = {}
    return table(name, columns, _arrow_rows(name, parts, columns))


def _arrow_rows(name: str, parts: Iterable[Any], columns: dict[str, None]) -> Iterator[Row]:
    # Rows are counted on from part to part.
    numbers = itertools.count(1)
    for part in parts:
        columns.update(dict.fromkeys(part.schema.names))
        for values in part.to_pylist():
            yield Row(f"{name}: row {next(numbers)}", values)


def read_table(path: Path, *, broken: bool = False) -> Table:
    """The rows of a file, by its suffix, or of a folder `NAME.parquet` of parts; see `read_tables` for a
    `.zip`. `broken` says whether rows that cannot be read are among them; else they raise `InputError`."""
    if path.is_dir() and path.suffix.lower() == ".parquet":
        columns: dict[str, None] = {}
        return table(str(path), columns, _rows_of_parts(path, columns))
    if path.is_dir():
        raise InputError(f"{path}: is a folder; must be a file ({', '.join(TABLE_SUFFIXES)})")
    return read_tables(path, broken=broken)


def read_tables(path: Path, patterns: Sequence[str] = (), *, broken: bool = False) -> Table:
    """The rows of a file, or of all tables in a folder or `.zip`, one after the other.

    JSON is a list of objects, or an object of such lists or of columns. `patterns` such as `data/*.json`
    choose files of a folder by how their path ends, in any case; a file that is given itself is read under
    any name. Raises `InputError` for a missing, empty, broken or unknown file, and if no file fits.
    """
    suffix = path.suffix.lower()
    if path.exists() and not path.is_dir():
        one_of("kind of file", suffix, TABLE_SUFFIXES, str(path))
    # A single table; folders and archives of tables come below.
    if not path.is_dir() and suffix != ".zip":
        with opened(path) as file:
            return parsed(str(path), suffix, file, broken=broken)
    columns: dict[str, None] = {}
    rows: list[Row] = []
    files = _zipped(path, patterns) if suffix == ".zip" else _below(path, patterns)
    for inside, data in files:
        one = parsed(f"{path}/{inside}", inside.suffix.lower(), io.BytesIO(data), broken=broken)
        where = {FILE: inside.stem, FOLDER: inside.parent.name}
        # A dictionary in place of a set, as it keeps the order of first occurrence.
        columns.update(dict.fromkeys((*one.columns, *where)))
        for row in one.rows:
            rows.append(replace(row, values={**row.values, **where}))
    # No file was read, as each table brings columns at least from its place.
    if not columns:
        wanted = ", ".join(patterns or _FORMATS)
        raise InputError(f"{path}: no table in it; must be a folder or .zip that holds {wanted}")
    return table(str(path), columns, rows, broken=broken)


def _rows_of_parts(folder: Path, columns: dict[str, None]) -> Iterator[Row]:
    for part in inner_files(folder, [".parquet"], "parts of a table"):
        with opened(part) as file:
            yield from read_rows(str(part), ".parquet", file, columns)


def has_tables(folder: Path, patterns: Sequence[str] = ()) -> bool:
    """Whether `read_tables` finds any table in a folder."""
    return next(_below(folder, patterns), None) is not None


def _matches(inside: PurePosixPath, patterns: Sequence[str]) -> bool:
    """Whether a file of a folder or an archive is a table that is asked for, and not hidden."""
    if any(part.startswith((".", "__")) for part in inside.parts):  # __MACOSX/ of archives
        return False
    # `match` of a pure path tells capital letters from small ones.
    plain = PurePosixPath(inside.as_posix().lower())
    if plain.suffix not in _FORMATS:
        return False
    return not patterns or any(plain.match(pattern.lower()) for pattern in patterns)


def _below(folder: Path, patterns: Sequence[str]) -> Iterator[tuple[PurePosixPath, bytes]]:
    # Sorted, as file systems list a folder in orders of their own.
    for path in sorted(folder.rglob("*")):
        inside = PurePosixPath(path.relative_to(folder).as_posix())
        if path.suffix.lower() == ".zip":
            yield from _zipped(path, patterns)
        elif _matches(inside, patterns) and path.is_file():
            yield inside, read_bytes(path)


def _zipped(path: Path, patterns: Sequence[str]) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The tables in an archive; nothing is written to disk."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = 0  # of all that is unpacked, which together may not be too much
            for name in sorted(archive.namelist()):
                inside = PurePosixPath(name)
                if _matches(inside, patterns):
                    with archive.open(name) as member:
                        data = unpacked(str(path), member, size)
                    size += len(data)
                    yield inside, data
    except FileNotFoundError:
        raise InputError(f"{path}: does not exist") from None
    except (OSError, RuntimeError, NotImplementedError, zipfile.BadZipFile, *BROKEN_DATA) as e:
        raise InputError(f"{path}: broken archive ({reason(e)})") from None


def parsed(name: str, suffix: str, file: BinaryIO, *, broken: bool = False) -> Table:
    """The rows of a file with this suffix; raises `InputError` if it is of another kind."""
    columns: dict[str, None] = {}
    return table(name, columns, read_rows(name, suffix, file, columns), broken=broken)


def read_rows(name: str, suffix: str, file: BinaryIO, columns: dict[str, None]) -> Iterator[Row]:
    """The rows of `parsed` one by one, also broken ones; Parquet and JSON Lines are never in memory as a
    whole.

    `columns` takes the names of the columns as they occur.
    """
    if suffix == ".jsonl" and _holds_a_list(file):  # a list that bears the wrong name
        suffix = ".json"
    if suffix == ".parquet":
        yield from _arrow_rows(name, parquet_parts(name, file), columns)
    elif suffix in (".json", ".jsonl"):
        rows = json_lines(name, text_lines(name, file)) if suffix == ".jsonl" else _json_rows(name, file)
        for row in rows:
            # Objects need not have the same keys: each may bring a column.
            columns.update(dict.fromkeys(row.values))
            yield row
    elif suffix == ".xlsx":
        yield from _sheet_rows(name, file, columns)
    else:
        text = decoded_table(name, file.read())
        header, cells = separated(name, text, tabs=suffix == ".tsv")
        columns.update(dict.fromkeys(header))
        for number, values in enumerate(cells, 1):
            place = f"{name}: row {number}"
            if len(values) == len(header):
                yield Row(place, dict(zip(header, map(_cell, values), strict=True)))
            else:
                yield Row(place, {}, _length_fault(header, values))


def _holds_a_list(file: BinaryIO) -> bool:
    """Whether a file begins with a JSON list, as one of JSON Lines does not."""
    # Without the byte order mark of UTF-8 and what white space precedes the bracket.
    start = file.read(100).removeprefix(b"\xef\xbb\xbf").lstrip()
    file.seek(0)
    return start.startswith(b"[")


def _sheet_rows(name: str, file: BinaryIO, columns: dict[str, None]) -> Iterator[Row]:
    """The rows of the first sheet of a spreadsheet."""
    require("openpyxl", purpose=name, extra="excel")
    import pandas as pd

    try:
        # `object`: else whole numbers beside an empty cell would become 1.0, 2.0.
        sheet = pd.read_excel(file, dtype=object)
    except Exception as e:  # noqa: BLE001  whatever another package raises over a file is said in one line
        raise InputError(f"{name}: not a spreadsheet ({reason(e)})") from None
    header = list(map(str, sheet.columns))
    columns.update(dict.fromkeys(header))
    filled = sheet.where(sheet.notna(), None)  # pandas reads an empty cell as NaN
    for number, values in enumerate(filled.itertuples(index=False), 1):
        yield Row(f"{name}: row {number}", dict(zip(header, map(_cell, values), strict=True)))


def json_lines(name: str, lines: Iterable[str]) -> Iterator[Row]:
    """The rows of JSON Lines, one object per line, also broken ones; blank lines are skipped."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"{name}: line {number}"
        try:
            value = parse_careless_json(place, line)
        except InputError as e:
            yield Row(place, {}, str(e).removeprefix(f"{place}: "))
            continue
        if isinstance(value, dict):
            yield Row(place, value)
        else:
            yield Row(place, {}, f"a {type(value).__name__}; must be one JSON object per line")


def _json_rows(name: str, file: BinaryIO) -> Iterator[Row]:
    for number, values in enumerate(_objects(name, decoded(name, file.read())), 1):
        yield Row(f"{name}: row {number}", values)


def _objects(name: str, text: str) -> list[dict[str, object]]:
    """The rows of a JSON text: a list of objects, an object with one or more such lists, or with columns."""
    value = parse_careless_json(name, text)
    lists: dict[str, list[Any]] = {}
    if isinstance(value, list):
        lists = {"": value}
    elif isinstance(value, dict):
        # What stands beside the lists, such as a version, is passed over if they hold objects.
        lists = {key: entries for key, entries in value.items() if isinstance(entries, list)}

    # Lists of objects: each object is a row, which tells its list if there are several.
    every_entry: list[Any] = []
    for entries in lists.values():
        every_entry += entries
    if lists and all(isinstance(entry, dict) for entry in every_entry):
        if len(lists) == 1:
            return every_entry
        rows = []
        for key, entries in lists.items():
            rows += [{**entry, KEY: key} for entry in entries]
        return rows

    # Nothing but lists of one length: the columns of a table.
    lengths = {len(entries) for entries in lists.values()}
    if lists == value and len(lengths) == 1:
        across = zip(*lists.values(), strict=True)
        return [dict(zip(lists, values, strict=True)) for values in across]
    raise InputError(f"{name}: no table; must be a list of objects, or an object of lists")
