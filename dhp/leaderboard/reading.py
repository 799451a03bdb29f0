"""The entries of a leaderboard read from runs, results files and boards, and results added to a board.

`read_entries` goes three steps. `_runs_of` finds the runs and files behind each path; `_without_results` sets
aside those that are no finished run; `_read` makes entries of the others. Each result is checked as if a
stranger had sent it (`dhp.leaderboard.checks`). A board is a folder of results files; `add_results` adds to
it.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dhp.analysis.merged_ratings import ratings_of_file
from dhp.analysis.ratings import RatingsArray
from dhp.analysis.results import SCHEMA, Results
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
    other commands, such as battles, are passed over with a warning; pages are passed over without one, as
    the pattern `runs/*` names `runs/index.html`, too.

    `progress` is called as `progress(what, done, total, cost)`. Raises `InputError` if no run is finished;
    for a folder that holds no run and no results file; for a file of another version or with figures that are
    no numbers; and for a run's figure that does not follow from the ratings beside it. Intervals are not
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
        # Each reason once, in the order of the paths.
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
    runs = sorted(folder for folder in inner if _is_run(folder))
    # The folder of a command may have JSON files of its own, which are no results.
    has_results_files = held_in(path) is None and any(path.glob("*.json"))
    if has_results_files:
        runs.insert(0, path)
    # A results file, or a path that `_read` refuses with the reason.
    return runs or [path]


def _is_run(path: Path) -> bool:
    """Whether it is the folder of a run, finished or not."""
    return (path / RESULTS).is_file() or held_in(path) == RUN


def _without_results(paths: Sequence[Path]) -> dict[Path, str]:
    """The folders of unfinished runs and of commands that make no run, and why they are left out."""
    held = {path: held_in(path) for path in paths if not (path / RESULTS).is_file()}
    unfinished = ", ".join(str(path) for path, what in held.items() if what == RUN)
    # One reason names all unfinished runs, so that it is said once.
    of_unfinished = f"unfinished runs {unfinished}; repeat the command of a run to finish it"
    reasons = {}
    for path, what in held.items():
        if what == RUN:
            reasons[path] = of_unfinished
        elif what is not None:
            reasons[path] = f"{path}: holds no run ({what})"
    return reasons


def _read(path: Path, progress: Progress | None) -> list[Entry]:
    """The entries of a run, of a results file, or of a board."""
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
    for each in content if isinstance(content, list) else [content]:
        if isinstance(each, dict) and str(each.get("schema")).startswith(_SCHEMA_NAME):
            return True
    return False


def _of_run(run: Run) -> list[Entry]:
    """The results of a run, with its ratings if it has kept them; raises `InputError` if they contradict."""
    entries = _checked(run.results, str(run.folder))
    if not (run.folder / RATINGS).exists():
        return entries
    with_ratings = []
    for entry, rated in zip(entries, run.rated, strict=True):
        with_ratings.append(replace(entry, ratings=rated.ratings))
    for entry in with_ratings:
        check_figures(entry, quick=True)
    return with_ratings


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

    A result takes the place of an older one of the same judge on the same data; if the one on the board is
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
        entries = [_with_ratings(entry, table, str(ratings)) for entry in entries]
    for entry in entries:
        if entry.ratings is None:
            check_averages(entry)
        else:
            check_figures(entry, weights=weights)
    written = []
    for entry in entries:
        result = entry.result
        # With the kind in it, results on other texts or with other statistics are files of their own.
        name = safe_name(result.model, result.protocol, result.dataset, key=entry.kind)
        path = folder / f"{name}.json"
        if path.exists():
            on_board = read_entries([path])
            if entry not in newest([*on_board, entry]):  # which warns that the one on the board is the newer
                continue
        write_lines(path, [indented_json(result.to_dict())])
        written.append(path)
    return written


def _with_ratings(entry: Entry, table: Sequence[RatingsArray], place: str) -> Entry:
    """The entry with its ratings; a table without one of the columns model, protocol, dataset fits any."""
    result = entry.result
    for part in table:
        if (
            part.model in (result.model, UNKNOWN)
            and part.protocol in (result.protocol, UNKNOWN)
            and part.dataset in (result.dataset, UNKNOWN)
        ):
            ratings = replace(part, model=result.model, protocol=result.protocol, dataset=result.dataset)
            return replace(entry, ratings=ratings)
    raise InputError(
        f"{place}: no ratings of model '{result.model}', protocol '{result.protocol}', dataset "
        f"'{result.dataset}'"
    )
