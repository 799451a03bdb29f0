"""Reading of results for a leaderboard."""

import logging
from collections.abc import Sequence
from pathlib import Path

from dhp.analysis.results import Results
from dhp.core.errors import InputError
from dhp.core.progress import Progress, counted
from dhp.leaderboard.checks import check_figures, fault
from dhp.leaderboard.entries import Entry, newest
from dhp.runs.reader import MANIFEST, RATINGS, RESULTS, Run, read_results, read_run


def read_entries(paths: Sequence[str | Path], progress: Progress | None = None) -> list[Entry]:
    """The results in run folders, results files and boards (folders of results files).

    Of two results of one judge on the same data the newer is taken, and runs that are not finished are passed
    over, each with a warning that says so. Pages are passed over, too: `runs/*` names `runs/index.html`.
    `progress` is called as `progress(what, done, total, cost)`.

    Raises
    ------
    InputError
        For no path but those of unfinished runs, a folder that holds no run and no results file, a file of
        another version or with figures that are no numbers, and a run's figure that does not follow from the
        ratings beside it; intervals are not computed anew here.
    """
    unfinished = [str(path) for path in paths if _is_unfinished(Path(path))]
    finished = [path for path in paths if str(path) not in unfinished and Path(path).suffix != ".html"]
    shown = counted(progress, "reading and checking results", finished)
    entries = [entry for path in shown for entry in _read(Path(path), progress)]
    if unfinished:
        said = f"unfinished runs {', '.join(unfinished)}; repeat the command of a run to finish it"
        if not entries:
            raise InputError(said)
        logging.getLogger("dhp").warning("left out: %s", said)
    if not entries:
        raise InputError("no run is given; allowed: run folders, results files or folders of them")
    return newest(entries)


def _is_unfinished(path: Path) -> bool:
    return (path / MANIFEST).is_file() and not (path / RESULTS).is_file()


def _read(path: Path, progress: Progress | None) -> list[Entry]:
    if path.is_file():
        return _checked(read_results(path), str(path))
    if (path / RESULTS).is_file():
        return _of_run(read_run(path))
    if not path.is_dir():
        raise InputError(f"{path}: does not exist; allowed: a run folder, a results file or a folder of them")
    files = sorted(path.glob("*.json"))
    if not files:
        inner = sorted(each.parent.name for each in path.glob(f"*/{RESULTS}"))
        hint = f"did you mean {path / inner[0]}? " if inner else ""
        raise InputError(
            f"{path}: holds no run ({RESULTS}) and no results files (*.json); {hint}allowed: a run folder, a "
            "results file or a folder of them"
        )
    shown = counted(progress, f"checking the results in {path}", files)
    return [entry for file in shown for entry in _checked(read_results(file), str(file))]


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
        if found := fault(result):
            raise InputError(f"{place}: model '{result.model}' on '{result.dataset}': {found}")
    return [Entry(place, result) for result in results]
