"""Reading of finished runs and their ratings.

`read_run` reads the results, which are small, and checks by checksums that results and ratings belong
together; a `Run` reads its other files when they are asked for. `open_run` takes results in memory too, so
that functions of the library take either.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhp.analysis.merged_ratings import ratings_of_file
from dhp.analysis.ratings import RatingsArray
from dhp.analysis.results import MAKE_AGAIN, Result, Results
from dhp.core.checksum import CHECKSUM, of_ratings
from dhp.core.errors import InputError
from dhp.core.files import opened, parse_json, read_json, text_lines
from dhp.core.ratings_table import ratings_parts, read_ratings
from dhp.core.writing import MANIFEST

if TYPE_CHECKING:
    import pandas as pd


RESULTS, RATINGS, EXAMPLES = "results.json", "ratings.parquet", "examples.jsonl"
"""Names of files in the folder of a run."""
_NEAR = 3
"""Runs beside a folder that holds none, which a message names. Chosen."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """One result of a run, with its ratings."""

    place: str
    """The run's folder, for messages."""
    result: Result
    ratings: RatingsArray


@dataclass(frozen=True, slots=True)
class Extent:
    """How much there is of a run that has not ended."""

    examples: int
    """Examples of the last result whose ratings have all come."""
    of: int
    """Those that it will have."""
    result: int
    """The number of that result."""
    of_results: int
    stopped: bool
    """Whether the run was stopped; else it goes on."""


# Without slots: cached properties need a place for what they read.
@dataclass(frozen=True)
class Run:
    """A finished run, or what there is of one.

    Each file is read when it is first asked for; `InputError` if it cannot be.
    """

    folder: Path
    """Its folder; of results in memory their name."""
    results: Results
    name: str
    """The run in messages."""
    extent: Extent | None = None
    """How much of it there is; None if it is finished."""
    frames: Sequence["pd.DataFrame"] = ()
    """The ratings of a run that is not finished, which are in no file yet."""

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
        parts = self.frames if self.extent else ratings_parts(self.folder / RATINGS)
        for part in parts:
            yield part[part["example"].isin(examples)]

    @cached_property
    def rated(self) -> tuple[RunResult, ...]:
        """Each result with its ratings; raises `InputError` for a result that has none."""
        path, rated = self.folder / RATINGS, self.results.rated
        if not rated and not path.exists():
            raise InputError(
                f"{self.name}: without ratings; allowed: results of dhp.run or dhp.analyze, run folders"
            )
        known: dict[tuple[str, str, str], RatingsArray] = {}
        # Results of this process have their ratings in memory, others in the folder.
        for each in rated or ratings_of_file(path):
            known[each.model, each.protocol, each.dataset] = each
        entries = []
        for result in self.results:
            ratings = known.get((result.model, result.protocol, result.dataset))
            if ratings is None:
                raise InputError(f"{self.name}: no ratings of model '{result.model}' on '{result.dataset}'")
            entries.append(RunResult(str(self.folder), result, ratings))
        return tuple(entries)

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """Versions, seeds, hashes: what was asked."""
        path = self.folder / MANIFEST
        written = read_json(path)
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
        before: dict[str, dict[str, str]] = {}  # dataset -> example -> text
        for example in self.examples:
            originals = before.setdefault(example["dataset"], {})
            if most is None or len(originals) < most:
                originals[example["id"]] = example["output"]
        for row in self.perturbed:
            originals = before[row["dataset"]]
            if row["example"] in originals:
                yield {**row, "before": originals[row["example"]]}

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
    """A run by its folder, or its results, which messages call `name`; errors as in `read_run`."""
    if not isinstance(source, Results):
        if not isinstance(source, str | Path):
            raise InputError(
                f"{name}: is of type {type(source).__name__}; must be the folder of a run or the results "
                "of dhp.run"
            )
        return read_run(source)
    return Run(source.folder or Path(name), source, name)


def read_run(folder: str | Path) -> Run:
    """A run by its folder.

    Raises `InputError` for a folder that holds none, one of another version, a broken manifest, and results
    and ratings that do not belong together.
    """
    path = Path(folder) / RESULTS
    if not path.is_file():
        near = _near(Path(folder))
        raise InputError(
            f"{folder}: holds no run, there is no {RESULTS}; must be folders of finished runs{near}"
        )
    return run_of_file(path, str(folder))


def _near(folder: Path) -> str:
    """The finished runs beside a folder that holds none: those of near names, else the first ones."""
    beside = sorted(folder.parent.glob(f"*/{RESULTS}"))
    if not beside:
        return ""
    names = [results.parent.name for results in beside]
    # The cutoff is chosen.
    near = get_close_matches(folder.name, names, n=_NEAR, cutoff=0.5) or names[:_NEAR]
    places = [str(folder.parent / name) for name in near]
    return f"; there is {', '.join(places)}"


def run_folders(folders: Sequence[str | Path]) -> list[str | Path]:
    """The folders; in place of one that is no run but holds finished runs stand these runs, by name."""
    listed: list[str | Path] = []
    for folder in folders:
        inner = sorted(Path(folder).glob(f"*/{RESULTS}"))
        if not inner or (Path(folder) / RESULTS).is_file():
            listed.append(folder)
        else:
            listed += [results.parent for results in inner]
    return listed


def run_of_file(path: Path, name: str) -> Run:
    """A run by its results file, which messages call `name`; errors as in `read_run`."""
    content = read_json(path)
    run = Run(path.parent, Results.from_json(content, str(path)), name)

    # A results file on its own, as on a board, has neither a manifest nor ratings beside it.
    carries_checksum = (run.folder / MANIFEST).exists() and CHECKSUM in run.manifest
    ratings = path.with_name(RATINGS)
    computed = of_ratings(ratings) if ratings.exists() else None
    # A run that writes checksums says so in its manifest, so none can be taken out unseen.
    for each in content if isinstance(content, list) else [content]:
        if CHECKSUM not in each:
            if carries_checksum:
                raise InputError(f"{path}: is not of this run, or has lost its checksum; {MAKE_AGAIN}")
        elif computed is not None and each[CHECKSUM]["ratings"] != computed:
            raise InputError(
                f"{path}: was not computed from the {RATINGS} beside it, which was replaced or edited, or is "
                f"of another run; {MAKE_AGAIN}"
            )
    return run


def read_results(path: Path) -> Results:
    """The results in a file such as `results.json`; raises `InputError` if it is not one."""
    return Results.from_json(read_json(path), str(path))
