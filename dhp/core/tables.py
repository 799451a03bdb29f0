"""JSONL, CSV and Parquet as one kind of table, each row with its place for error messages."""

import csv
import io
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Number
from pathlib import Path
from typing import Any

from dhp.core.errors import InputError, suggest
from dhp.core.files import parse_json, read_lines, read_text, reason

TABLE_SUFFIXES = (".jsonl", ".csv", ".parquet")


def as_text(value: object) -> str | None:
    """A string as it is, a number as its text; None for anything else (nested, absent, binary, NaN)."""
    if isinstance(value, str):
        return value
    is_number = isinstance(value, Number) and value == value  # NaN is how tables say absent
    return str(value) if is_number else None


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table."""

    place: str
    """File and line (JSONL) or row (CSV, Parquet; 1 is the first after the header)."""
    values: Mapping[str, object]
    """Column -> value."""

    def fault(self, message: str) -> InputError:
        """An error that names this row."""
        return InputError(f"{self.place}: {message}")

    def has(self, column: str) -> bool:
        """Whether there is a value that is not blank."""
        return bool((as_text(self.values.get(column)) or "").strip())

    def text(self, column: str) -> str:
        """The text in `column`; absent, blank or not a text raises `InputError` with the place."""
        value = self.values.get(column)
        text = as_text(value)
        if value is not None and text is None:
            raise self.fault(f"column '{column}' holds a {type(value).__name__}; allowed: text")
        if text is None or not text.strip():
            raise self.fault(f"column '{column}' is empty; allowed: text")
        return self.encodable(column, text)

    def encodable(self, column: str, text: str) -> str:
        r"""`text` itself; half a character (JSON's `\ud800` alone) raises `InputError`."""
        try:
            text.encode()
        except UnicodeEncodeError:
            raise self.fault(f"column '{column}' holds half a character; allowed: Unicode text") from None
        return text


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a file."""

    name: str
    """The file, for error messages."""
    columns: tuple[str, ...]
    """All columns, in the order in which they first occur."""
    rows: tuple[Row, ...]
    """At least one."""

    def need(self, columns: Iterable[str]) -> None:
        """Raise `InputError` at the first of `columns` that the table lacks, with the near name."""
        for column in columns:
            if column not in self.columns:
                raise InputError(
                    f"{self.name}: column '{column}' is missing; {suggest(column, self.columns)}"
                )


def table(name: str, columns: Iterable[str], rows: Iterable[Row]) -> Table:
    """A table of `name`; one without rows, or with a column that stands twice, raises `InputError`."""
    columns, rows = tuple(columns), tuple(rows)
    if not rows:
        raise InputError(f"{name}: is empty; allowed: at least one row")
    if twice := [c for i, c in enumerate(columns) if c in columns[:i]]:
        raise InputError(f"{name}: column '{twice[0]}' stands twice; allowed: once")
    return Table(name, columns, rows)


def read_jsonl(path: Path) -> Table:
    """One JSON object a line; blank lines are passed over."""
    rows = []
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        place = f"{path}: line {number}"
        value = parse_json(place, line)
        if not isinstance(value, dict):
            raise InputError(f"{place}: a {type(value).__name__}; allowed: one JSON object a line")
        rows.append(Row(place, value))
    return table(str(path), dict.fromkeys(c for row in rows for c in row.values), rows)


def read_csv(path: Path) -> Table:
    """Comma-separated values with a header line; every row must have as many values as the header."""
    text = io.StringIO(read_text(path), newline="")
    limit = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        reader = csv.reader(text, strict=True)
        header = next(reader, [])
        rows: list[Row] = []
        for values in reader:
            if not values:
                continue
            place = f"{path}: row {len(rows) + 1}"
            if len(values) != len(header):
                raise InputError(f"{place}: {len(values)} values; allowed: {len(header)}, as in the header")
            rows.append(Row(place, dict(zip(header, values, strict=True))))
    except csv.Error as e:
        raise InputError(f"{path}: line {reader.line_num}: broken CSV ({e})") from None
    finally:
        csv.field_size_limit(limit)
    return table(str(path), header, rows)


def from_arrow(name: str, data: Any) -> Table:
    """The rows of a `pyarrow.Table`."""
    rows = (Row(f"{name}: row {i}", values) for i, values in enumerate(data.to_pylist(), 1))
    return table(name, data.column_names, rows)


def read_parquet(path: Path) -> Table:
    """A Parquet file."""
    import pyarrow
    import pyarrow.parquet

    try:
        data = pyarrow.parquet.ParquetFile(path).read()
    except FileNotFoundError:
        raise InputError(f"{path}: does not exist") from None
    except (OSError, pyarrow.ArrowException) as e:
        raise InputError(f"{path}: not a Parquet file ({reason(e)})") from None
    return from_arrow(str(path), data)


def read_table(path: Path) -> Table:
    """A table by the suffix of its file: `.jsonl`, `.csv` or `.parquet`; else `InputError`."""
    if not path.exists():
        raise InputError(f"{path}: does not exist")
    if path.is_dir():
        raise InputError(f"{path}: is a folder; allowed: a file ({', '.join(TABLE_SUFFIXES)})")
    readers = {".jsonl": read_jsonl, ".csv": read_csv, ".parquet": read_parquet}
    suffix = path.suffix.lower()
    if suffix not in readers:
        raise InputError(f"{path}: unknown kind of file '{suffix}'; {suggest(suffix, readers)}")
    return readers[suffix](path)
