"""Adding results to a board, with strict checks."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dhp.analysis.ratings import RatingsArray
from dhp.analysis.ratings_parts import ratings_of_file
from dhp.analysis.results import Result
from dhp.core.errors import InputError
from dhp.core.files import write_lines
from dhp.leaderboard.checks import check_averages, check_figures
from dhp.leaderboard.entries import newest, safe_name
from dhp.leaderboard.load import read_entries

_UNKNOWN = "unknown"


def add_results(
    file: str | Path,
    board: str | Path,
    *,
    ratings: str | Path | None = None,
    weights: str | None = None,
) -> list[Path]:
    """Add the results in a file to a board, each as a file of its own; returns the files written.

    A result takes the place of an older one of the same judge on the same data; where the one on the board is
    the newer, it stays, with a warning.

    Parameters
    ----------
    file
        A results file, or a run folder, whose ratings are then taken as given.
    board
        A folder of results files; made where there is none.
    ratings
        Their ratings: every figure that follows from them is computed anew and compared.
    weights
        Name or file of the expert weights, for results with other weights than those that ship.

    Raises
    ------
    InputError
        As `read_entries`, and for the first figure that does not follow from the ratings, or without these
        the first average that does not follow from the variants.
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
            continue  # which it says
        write_lines(path, [json.dumps(r.to_dict(), ensure_ascii=False, indent=1) + "\n"])
        written.append(path)
    return written


def _ratings_of(result: Result, table: Sequence[RatingsArray], place: str) -> RatingsArray:
    """The ratings of a result; a table without one of the columns model, protocol, dataset fits any."""
    names = (result.model, result.protocol, result.dataset)
    for part in table:
        there = (part.model, part.protocol, part.dataset)
        if all(name in (own, _UNKNOWN) for own, name in zip(names, there, strict=True)):
            return replace(part, model=result.model, protocol=result.protocol, dataset=result.dataset)
    raise InputError(
        f"{place}: no ratings of model '{result.model}', protocol '{result.protocol}', dataset "
        f"'{result.dataset}'"
    )
