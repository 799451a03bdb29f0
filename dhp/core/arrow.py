"""Parquet files: as a whole, by row groups, or in small parts."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from dhp.core.errors import InputError
from dhp.core.files import reason
from dhp.core.separated import check_distinct

_AT_ONCE = 1_000
"""Rows that are read at a time."""


def parquet_table(name: str, file: BinaryIO) -> Any:
    """The `pyarrow.Table` in a Parquet file, without notes on it; raises `InputError` if there is none."""
    with _parquet(name, file) as found:
        return _sound(found.read()).replace_schema_metadata(None)


def group_count(name: str, file: BinaryIO) -> int:
    """The number of row groups of a Parquet file."""
    with _parquet(name, file) as found:
        return int(found.num_row_groups)


def row_groups(name: str, file: BinaryIO) -> Iterator[Any]:
    """The table of `parquet_table`, one row group after the other."""
    with _parquet(name, file) as found:
        for number in range(found.num_row_groups):
            yield _sound(found.read_row_group(number)).replace_schema_metadata(None)


def parquet_parts(name: str, file: BinaryIO) -> Iterator[Any]:
    """The `pyarrow.RecordBatch`es of a Parquet file; raises `InputError` for another format or a duplicate
    column."""
    with _parquet(name, file) as found:
        for part in found.iter_batches(_AT_ONCE):
            check_distinct(name, _sound(part).schema.names)
            yield part


@contextmanager
def _parquet(name: str, file: BinaryIO) -> Iterator[Any]:
    import pyarrow
    import pyarrow.parquet

    try:
        yield pyarrow.parquet.ParquetFile(file)
    except (OSError, UnicodeDecodeError, pyarrow.ArrowException) as e:
        raise InputError(f"{name}: not a Parquet file ({reason(e)})") from None


def _sound(rows: Any) -> Any:
    rows.validate(full=True)
    _ = rows.schema.names  # raises UnicodeDecodeError
    return rows
