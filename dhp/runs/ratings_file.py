"""The ratings of a run on disk: one file, or a folder of parts where there are very many."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dhp.core.errors import InputError
from dhp.core.files import reason, replacing

if TYPE_CHECKING:
    import pandas as pd

PART_ROWS = 1_000_000
"""The most rows of a file; more go into a folder of parts."""
_NUMBERS = {"sample": "int64", "look": "int64", "score": "float64", "missing_mass": "float64"}


class RatingsFile:
    """Takes the ratings of one judge on one dataset after another and holds no more than a part in memory.

    Up to `PART_ROWS` rows become a Parquet file, more a folder of such files with the columns of the first.
    What stands at `path` is replaced when all is written.
    """

    def __init__(self, path: Path) -> None:
        self.clustered = False
        """Whether some examples have a cluster: then every table names one, the example's own where it stands
        alone."""
        self._path = path
        self._staged = path.with_name(f".{path.name}.parts")
        self._held: list[pd.DataFrame] = []
        self._parts = 0

    def add(self, frame: "pd.DataFrame") -> None:
        """Take the ratings of one judge on one dataset."""
        alone = self.clustered and "cluster" not in frame
        self._held.append(frame.assign(cluster=frame["example"]) if alone else frame)
        if sum(map(len, self._held)) > PART_ROWS:
            with self._writing():
                self._write_parts()

    def finish(self) -> None:
        """Write what is held and put all in its place."""
        with self._writing(), replacing(self._path) as new:
            if not self._parts:
                self._all_held().to_parquet(new, index=False)
                self._held.clear()
                return
            if self._held:
                self._write_parts()
            if self._path.is_file():  # which no folder can take the place of
                self._path.unlink()
            self._staged.rename(new)

    def _write_parts(self) -> None:
        import pyarrow
        import pyarrow.parquet

        if not self._parts:
            shutil.rmtree(self._staged, ignore_errors=True)  # of a run that was killed
            self._staged.mkdir(parents=True)
        frame = self._all_held()
        self._held.clear()
        kinds = [(c, pyarrow.type_for_alias(_NUMBERS.get(c, "large_string"))) for c in frame.columns]
        for start in range(0, len(frame), PART_ROWS):
            rows = frame.iloc[start : start + PART_ROWS]
            table = pyarrow.Table.from_pandas(rows, pyarrow.schema(kinds), preserve_index=False)
            pyarrow.parquet.write_table(table, self._staged / f"part-{self._parts:05}.parquet")
            self._parts += 1

    def _all_held(self) -> "pd.DataFrame":
        import pandas as pd

        return pd.concat(self._held) if len(self._held) > 1 else self._held[0]

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as e:
            raise InputError(f"{self._path}: cannot be written ({reason(e)})") from None
