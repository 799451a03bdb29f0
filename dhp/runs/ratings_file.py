"""The file of ratings of a run, written table by table."""

import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhp.core.errors import InputError
from dhp.core.files import check_no_link, replacing, unwritable

if TYPE_CHECKING:
    import pandas as pd

_PART = re.compile(r"part-\d+\.parquet")
PART_ROWS = 1_000_000
"""The most rows of a file, about; more go into a folder of parts."""


_NUMBERS = {
    "sample": "int64",
    "score": "float64",
    "missing_mass": "float64",
}


class RatingsFile:
    """Takes one table of ratings after another and holds none of them in memory; a context manager.

    Up to `PART_ROWS` rows become a Parquet file, more a folder of such files; each table is a row group. What
    is at `path` is replaced by `finish`; an interruption leaves nothing behind.
    """

    def __init__(self, path: Path) -> None:
        self.clustered = False
        """Whether some examples have a cluster: then every table names one, the example's own if it stands
        alone."""
        self._path = path
        self._staged = path.with_name(f".{path.name}.parts")
        self._parts: list[Path] = []
        self._rows = 0
        self._writer: Any = None

    def __enter__(self) -> "RatingsFile":
        return self

    def __exit__(self, *error: object) -> None:
        self._end_part()
        if self._parts:  # else what stands there is not of this object
            shutil.rmtree(self._staged, ignore_errors=True)

    def check(self) -> None:
        """Raise `InputError` if the path holds anything but ratings."""
        for path in (self._path, self._staged):
            check_no_link(path)
            if path.exists() and not path.is_file() and not _are_parts(path):
                raise InputError(f"{path}: holds something else than ratings; remove it")

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
        frame = frame.assign(cluster=frame["example"]) if alone else frame
        kinds = [(c, pyarrow.type_for_alias(_kind(frame[c]))) for c in frame.columns]
        table = pyarrow.Table.from_pandas(frame, pyarrow.schema(kinds), preserve_index=False)
        table = table.replace_schema_metadata(None)
        with self._writing():
            if self._rows + len(frame) > PART_ROWS or not self._fits(table.schema):
                self._end_part()
            if self._writer is None:
                self._begin_part(table.schema)
            self._writer.write_table(table.select(self._writer.schema.names))
            self._rows += len(frame)

    def finish(self) -> None:
        """Put what was taken in its place."""
        with self._writing(), replacing(self._path) as new:
            self._end_part()
            if len(self._parts) == 1:
                self._parts[0].rename(new)
                self._staged.rmdir()
                return
            if self._path.is_file():  # which no folder can take the place of
                self._path.unlink()
            self._staged.rename(new)

    def _fits(self, schema: Any) -> bool:
        """Whether the part that is being written has these columns, in any order."""
        return self._writer is None or set(self._writer.schema.names) == set(schema.names)

    def _begin_part(self, schema: Any) -> None:
        from pyarrow.parquet import ParquetWriter

        if not self._parts:
            self.check()
            shutil.rmtree(self._staged, ignore_errors=True)  # of a run that was killed
            self._staged.mkdir(parents=True)
        self._parts.append(self._staged / f"part-{len(self._parts):05}.parquet")
        self._writer = ParquetWriter(self._parts[-1], schema)

    def _end_part(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._writer, self._rows = None, 0

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as e:
            raise unwritable(self._path, e) from None


def _are_parts(folder: Path) -> bool:
    return all(_PART.fullmatch(part.name) and part.is_file() for part in folder.iterdir())


def _kind(column: "pd.Series[Any]") -> str:
    """Type of a column in the file: whole numbers stay such, and what holds no number is text."""
    return _NUMBERS.get(str(column.name), "int64" if column.dtype.kind == "i" else "large_string")
