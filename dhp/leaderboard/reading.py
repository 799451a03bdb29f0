"""The entries of a leaderboard read from runs, results files and boards, and results added to a board."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dhp.analysis.merged_ratings import ratings_of_file
from dhp.analysis.ratings import RatingsArray
from dhp.analysis.results import SCHEMA, Result, Results
from dhp.core.errors import InputError
from dhp.core.files import indented_json, read_json
from dhp.core.progress import Progress, counted
from dhp.core.writing import MANIFEST, RUN, held_in, write_lines
from dhp.leaderboard.checks import check_averages, check_figures, fault
from dhp.leaderboard.entries import UNKNOWN, Entry, newest, safe_name
from dhp.runs.reader import RATINGS, RESULTS, Run, read_results, read_run

_SCHEMA_NAME = SCHEMA.partition("/")[0]
"""What the schema of results begins with in every version."""


def read_entries(paths: Sequence[str | Path], progress: Progress | None = None) -> list[Entry]:
    """The results in run folders, folders of runs, results files and boards (folders of results files).

    Of two results of one judge on the same data the newer is taken. Runs that are not finished and folders of
    other commands, such as battles, are passed over. A warning says so. Pages are passed over, too: `runs/*`
    names `runs/index.html`.
    `progress` is called as `progress(what, done, total, cost)`. Raises `InputError` for no path but those of
    unfinished runs, a folder that holds no run and no results file, a file of another version or with figures
    that are no numbers, and a run's figure that does not follow from the ratings beside it; intervals are not
    computed anew here.
    """
    runs: list[Path] = []
    for path in paths:
        runs += _runs_of(Path(path))
    left_out = _without_results(runs)
    read = [path for path in runs if path not in left_out and path.suffix != ".html"]
    entries: list[Entry] = []
    for path in counted(progress, "reading and checking results", read):
        entries += _read(path, progress)
    if left_out:
        reasons = "; ".join(dict.fromkeys(left_out.values()))
        if not entries:
            raise InputError(reasons)
        logging.getLogger("dhp").warning("left out: %s", reasons)
    if not entries:
        raise InputError("no run is given; allowed: run folders, results files or folders of them")
    return newest(entries)


def _runs_of(path: Path) -> list[Path]:
    """The runs in a folder, finished or not, and the folder itself if it has results files; or the path."""
    if _is_run(path):
        return [path]
    inner = {file.parent for file in (*path.glob(f"*/{RESULTS}"), *path.glob(f"*/{MANIFEST}"))}
    runs = sorted(filter(_is_run, inner))
    has_results_files = held_in(path) is None and any(path.glob("*.json"))
    if has_results_files:
        runs.insert(0, path)
    return runs or [path]


def _is_run(path: Path) -> bool:
    """Whether it is the folder of a run, finished or not."""
    return (path / RESULTS).is_file() or held_in(path) == RUN


def _without_results(paths: Sequence[Path]) -> dict[Path, str]:
    """The folders of unfinished runs and of commands that make no run, and why they are left out."""
    held = {path: held_in(path) for path in paths if not (path / RESULTS).is_file()}
    names = ", ".join(str(path) for path, what in held.items() if what == RUN)
    unfinished = f"unfinished runs {names}; repeat the command of a run to finish it"
    reasons = {}
    for path, what in held.items():
        if what is not None:
            reasons[path] = unfinished if what == RUN else f"{path}: holds no run ({what})"
    return reasons


def _read(path: Path, progress: Progress | None) -> list[Entry]:
    if path.is_file():
        return _checked(read_results(path), str(path))
    if (path / RESULTS).is_file():
        return _of_run(read_run(path))
    if not path.is_dir():
        raise InputError(f"{path}: does not exist; allowed: a run folder, a results file or a folder of them")
    files = sorted(path.glob("*.json"))
    foreign = [file for file in files if not _holds_results(file)]
    if len(foreign) == len(files):
        raise InputError(
            f"{path}: holds no run ({RESULTS}) and no results files (*.json); allowed: a run folder, a "
            "results file or a folder of them"
        )
    if foreign:
        names = ", ".join(file.name for file in foreign)
        logging.getLogger("dhp").warning("%s: passed over, as they hold no results of dhp: %s", path, names)
    entries = []
    ours = [file for file in files if file not in foreign]
    for file in counted(progress, f"checking the results in {path}", ours):
        entries += _checked(read_results(file), str(file))
    return entries


def _holds_results(path: Path) -> bool:
    """Whether a JSON file holds results, of whatever version; raises `InputError` for one that is no JSON."""
    content = read_json(path)
    objects = content if isinstance(content, list) else [content]
    schemas = [str(each.get("schema")) for each in objects if isinstance(each, dict)]
    return any(schema.startswith(_SCHEMA_NAME) for schema in schemas)


def _of_run(run: Run) -> list[Entry]:
    entries = _checked(run.results, str(run.folder))
    if not (run.folder / RATINGS).exists():
        return entries
    made = [Entry(e.place, e.result, r.ratings) for e, r in zip(entries, run.rated, strict=True)]
    for entry in made:
        check_figures(entry, quick=True)
    return made


def _checked(results: Results, place: str) -> list[Entry]:
    """The results as entries; raises `InputError` for one that no table can take."""
    for result in results:
        wrong = fault(result)
        if wrong:
            raise InputError(f"{place}: model '{result.model}' on '{result.dataset}': {wrong}")
    return [Entry(place, result) for result in results]


def add_results(
    file: str | Path,
    board: str | Path,
    *,
    ratings: str | Path | None = None,
    weights: str | None = None,
) -> list[Path]:
    """Add the results in a file to a board, each as a file of its own; returns the files written.

    A result takes the place of an older one of the same judge on the same data; where the one on the board is
    the newer, it stays, with a warning. The ratings of a run folder are taken as given; with `ratings` every
    figure that follows from them is computed anew and compared. `weights` is for results with other expert
    weights than those that ship. Raises `InputError` as `read_entries`, and for the first figure that does
    not follow from the ratings, or without these the first average that does not follow from the variants.
    """
    folder = Path(board)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"`board` {folder}: is a file; allowed: a folder of results files")
    entries = read_entries([file])
    if ratings is not None:
        table = ratings_of_file(Path(ratings))
        entries = [replace(e, ratings=_ratings_of(e.result, table, str(ratings))) for e in entries]
    for entry in entries:
        if entry.ratings is None:
            check_averages(entry)
        else:
            check_figures(entry, weights=weights)
    written = []
    for entry in entries:
        r = entry.result
        path = folder / f"{safe_name(r.model, r.protocol, r.dataset, key=entry.kind)}.json"
        if path.exists() and entry not in newest([*read_entries([path]), entry]):
            continue  # `newest` has said it
        write_lines(path, [indented_json(r.to_dict())])
        written.append(path)
    return written


def _ratings_of(result: Result, table: Sequence[RatingsArray], place: str) -> RatingsArray:
    """The ratings of a result; a table without one of the columns model, protocol, dataset fits any."""
    for part in table:
        if (
            part.model in (result.model, UNKNOWN)
            and part.protocol in (result.protocol, UNKNOWN)
            and part.dataset in (result.dataset, UNKNOWN)
        ):
            return replace(part, model=result.model, protocol=result.protocol, dataset=result.dataset)
    raise InputError(
        f"{place}: no ratings of model '{result.model}', protocol '{result.protocol}', dataset "
        f"'{result.dataset}'"
    )
