"""The file of ratings of a run, written table by table."""

import math
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from dhp.core.errors import InputError
from dhp.core.hiding import hidden_table
from dhp.core.rating_forms import BY_CHANCE, NAMED, STATED
from dhp.core.writing import (
    Temporary,
    check_folder,
    check_place,
    inner_folder,
    new_file,
    put,
    unwritable,
)

if TYPE_CHECKING:
    import pandas as pd

_PART = re.compile(r"part-\d+\.parquet")
"""`part-00000.parquet`"""
PART_ROWS = 1_000_000
"""The most rows of a file, about; more go into a folder of parts. Chosen."""
_NUMBERS = {
    "sample": "int64",
    "score": "float64",
    "missing_mass": "float64",
    **dict.fromkeys(STATED, "float64"),
}
"""Columns that are numbers even where a table has none in them, as all scores of a mute judge are missing."""


class RatingsFile:
    """Takes one table of ratings after another and holds none of them in memory; a context manager.

    Up to `PART_ROWS` rows become a Parquet file, more a folder of such files; each table is a row group. What
    is at `path` is replaced by `finish`; an interruption leaves nothing behind.
    """

    def __init__(self, path: Path) -> None:
        self.clustered = False
        """Whether some examples have a cluster: then every table names one, the example's own if it stands
        alone."""
        self.explained = False
        """Whether some judges may give reasons: then every table says what they name, if only nothing."""
        self._path = path
        self._temporary: Temporary | None = None
        """Where the parts lie until they are whole."""
        self._parts: list[Path] = []
        self._rows = 0
        self._file: BinaryIO | None = None
        self._writer: Any = None

    def __enter__(self) -> "RatingsFile":
        return self

    def __exit__(self, *error: object) -> None:
        self._end_part()
        self._clear()

    def check(self) -> None:
        """Raise `InputError` if the path holds anything but ratings."""
        if not self._path.is_dir():
            check_place(self._path)
            return
        check_folder(self._path)
        if not _are_parts(self._path):
            raise InputError(f"{self._path}: holds something else than ratings; remove it")

    def tee(self, frames: "Iterable[pd.DataFrame]") -> "Iterator[pd.DataFrame]":
        """Tables of ratings, each taken before it is passed on."""
        for frame in frames:
            self.add(frame)
            yield frame
            del frame  # before the next one is made

    def add(self, frame: "pd.DataFrame") -> None:
        """Take ratings of one judge on one dataset, all of some examples."""
        import pyarrow

        alone = self.clustered and "cluster" not in frame
        if alone:
            frame = frame.assign(cluster=frame["example"])
        if self.explained and NAMED not in frame:  # one file has the same columns for all judges
            frame = frame.assign(**{NAMED: math.nan, BY_CHANCE: math.nan})

        columns = []
        for name in frame.columns:
            columns.append((name, pyarrow.type_for_alias(_kind(frame[name]))))
        table = pyarrow.Table.from_pandas(frame, pyarrow.schema(columns), preserve_index=False)
        # Without what pandas notes of itself, so that equal ratings are equal files.
        table = hidden_table(table.replace_schema_metadata(None))

        with self._writing():
            # A Parquet file has the same columns throughout: a table with others begins a new part.
            if self._rows + len(frame) > PART_ROWS or not self._fits(table.schema):
                self._end_part()
            if self._writer is None:
                self._begin_part(table.schema)
            # In the order of the part, which another judge's table may not have.
            self._writer.write_table(table.select(self._writer.schema.names))
            self._rows += len(frame)

    def finish(self) -> None:
        """Put what was taken in its place."""
        self.check()
        with self._writing():
            self._end_part()
            # A single part becomes the file itself, several stay in their folder, which takes its place.
            first = self._parts[0]
            put(first if len(self._parts) == 1 else first.parent, self._path)
        self._clear()

    def _fits(self, schema: Any) -> bool:
        """Whether the part that is being written has these columns, in any order."""
        return self._writer is None or set(self._writer.schema.names) == set(schema.names)

    def _begin_part(self, schema: Any) -> None:
        from pyarrow.parquet import ParquetWriter

        if self._temporary is None:
            self.check()
            self._temporary = Temporary(self._path)
        folder = inner_folder(Path(self._temporary.name), "parts")
        self._parts.append(folder / f"part-{len(self._parts):05}.parquet")
        self._file = new_file(self._parts[-1])
        self._writer = ParquetWriter(self._file, schema)

    def _end_part(self) -> None:
        if self._writer is not None:
            self._writer.close()
        if self._file is not None:
            self._file.close()
        self._writer, self._file, self._rows = None, None, 0

    def _clear(self) -> None:
        if self._temporary is not None:
            self._temporary.cleanup()
        self._temporary, self._parts = None, []

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as e:
            raise unwritable(self._path, e) from None


def _are_parts(folder: Path) -> bool:
    """Whether a folder holds parts and nothing else; an empty one is not of ours."""
    parts = list(folder.iterdir())
    for part in parts:
        if not _PART.fullmatch(part.name) or not part.is_file():
            return False
    return bool(parts)


def _kind(column: "pd.Series[Any]") -> str:
    """Type of a column in the file: whole numbers stay such, and what holds no number is text."""
    return _NUMBERS.get(str(column.name), "int64" if column.dtype.kind == "i" else "large_string")
