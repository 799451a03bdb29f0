"""Reading of finished runs and their ratings."""

import re
import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhp.analysis.ratings import RatingsArray, ratings_of_file
from dhp.analysis.ratings_table import ratings_parts, read_ratings
from dhp.analysis.results import Result, Results
from dhp.core.errors import InputError
from dhp.core.files import check_no_link, opened, parse_json, read_json, replacing, text_lines, unwritable

if TYPE_CHECKING:
    import pandas as pd


_PART = re.compile(r"part-\d+\.parquet")
RESULTS, RATINGS, MANIFEST, EXAMPLES = "results.json", "ratings.parquet", "manifest.json", "examples.jsonl"


@dataclass(frozen=True, slots=True)
class RunResult:
    """One result of a run, with its ratings."""

    place: str
    """The run's folder, for messages."""
    result: Result
    ratings: RatingsArray


@dataclass(frozen=True)
class Run:
    """A finished run. Each file is read when it is first asked for; `InputError` if it cannot be."""

    folder: Path
    """Its folder; of results in memory their name."""
    results: Results
    name: str
    """The run in messages."""

    @property
    def has_texts(self) -> bool:
        """Whether its folder holds the texts: not of results in memory that were not written."""
        return (self.folder / EXAMPLES).is_file()

    @property
    def ratings(self) -> "pd.DataFrame":
        """All its ratings, as one table."""
        return read_ratings(self.folder / RATINGS)

    def ratings_about(self, examples: Collection[str]) -> "Iterator[pd.DataFrame]":
        """The ratings of some examples, of all datasets, part by part."""
        for part in ratings_parts(self.folder / RATINGS):
            yield part[part["example"].isin(examples)]

    @cached_property
    def rated(self) -> tuple[RunResult, ...]:
        """Each result with its ratings; raises `InputError` for a result that has none."""
        path, rated = self.folder / RATINGS, self.results.rated
        if not rated and not path.exists():
            raise InputError(
                f"{self.name}: without ratings; allowed: results of dhp.run or dhp.analyze, run folders"
            )
        known = {(g.model, g.protocol, g.dataset): g for g in rated or ratings_of_file(path)}
        for r in self.results:
            if (r.model, r.protocol, r.dataset) not in known:
                raise InputError(f"{self.name}: no ratings of model '{r.model}' on '{r.dataset}'")
        return tuple(
            RunResult(str(self.folder), r, known[r.model, r.protocol, r.dataset]) for r in self.results
        )

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """Versions, seeds, hashes: what was asked."""
        written = read_json(path := self.folder / MANIFEST)
        if not isinstance(written, dict):
            raise InputError(f"{path}: a {type(written).__name__}; must be the JSON object of a run")
        return written

    @property
    def examples(self) -> Iterator[dict[str, Any]]:
        """The undamaged texts, read anew each time: `dataset`, `id`, `source`, `output`, `fields`."""
        return self._lines(EXAMPLES)

    @property
    def perturbed(self) -> Iterator[dict[str, Any]]:
        """The degraded texts, read anew each time: `dataset`, `example`, `variant`, `level`, `status`, ..."""
        return self._lines("perturbed.jsonl")

    def pairs(self, most: int | None = None) -> Iterator[dict[str, Any]]:
        """`perturbed` with the originals as `before`; of the first `most` examples of each dataset."""
        before: dict[str, dict[str, str]] = {}
        for e in self.examples:
            originals = before.setdefault(e["dataset"], {})
            if most is None or len(originals) < most:
                originals[e["id"]] = e["output"]
        for row in self.perturbed:
            if row["example"] in before[row["dataset"]]:
                yield {**row, "before": before[row["dataset"]][row["example"]]}

    @cached_property
    def prompts(self) -> list[dict[str, str]]:
        """One prompt for each metric, language model and dataset; empty if none was asked."""
        path = self.folder / "prompts.json"
        return list(read_json(path)) if path.exists() else []

    def _lines(self, name: str) -> Iterator[dict[str, Any]]:
        path = self.folder / name
        with opened(path) as file:
            for number, line in enumerate(text_lines(str(path), file), 1):
                yield parse_json(f"{path}: line {number}", line)


RunSource = str | Path | Results
"""The folder of a finished run, or its results."""


def open_run(source: RunSource, name: str) -> Run:
    """A run by its folder, or its results, which messages call `name`; errors as of `read_run`."""
    if not isinstance(source, Results):
        return read_run(source)
    return Run(source.folder or Path(name), source, name)


def read_run(folder: str | Path) -> Run:
    """A run by its folder; raises `InputError` for a folder that holds none, one of another version, or a
    broken manifest."""
    path = Path(folder) / RESULTS
    if not path.is_file():
        raise InputError(f"{folder}: holds no run, there is no {RESULTS}; must be folders of finished runs")
    run = Run(Path(folder), read_results(path), str(folder))
    if path.with_name(MANIFEST).exists():
        _ = run.manifest
    return run


def read_results(path: Path) -> Results:
    """The results in a file such as `results.json`; raises `InputError` if it is not one."""
    return Results.from_json(read_json(path), str(path))


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
