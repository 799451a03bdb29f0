"""Results of judgements that were recorded elsewhere."""

import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dhp.analysis.analyze import analyze
from dhp.analysis.ratings import UNKNOWN
from dhp.analysis.ratings_checks import GROUPING
from dhp.analysis.split_ratings import split_ratings
from dhp.core.errors import InputError
from dhp.core.rating_forms import as_ratings
from dhp.core.ratings_table import place_of, read_ratings
from dhp.core.seeding import text_hash
from dhp.runs.reader import RunResult

if TYPE_CHECKING:
    import pandas as pd

_JUDGE = ["model", "protocol"]
"""The columns that say who rated."""


def results_of_tables(*paths: Path) -> dict[str, list[RunResult]]:
    """`recorded_results` of the tables of ratings in some files, each with one judge or several.

    A judge that its table does not name is called by the file.
    """
    import pandas as pd

    frames = []
    for path in paths:
        ratings = as_ratings(read_ratings(path), str(path))
        frames.append(_named(ratings, "model", path.stem))
    frame = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
    return recorded_results(frame)


def recorded_results(frame: "pd.DataFrame") -> dict[str, list[RunResult]]:
    """Dataset -> the results of its judges, by the examples that all of them rated.

    The frame has the columns of a table of ratings. What an example and a variant are called says which text
    was rated, as no texts are there. Raises `InputError` for judges without an example in common, and a
    table that `analyze` refuses.
    """
    by_dataset = {}
    frame = as_ratings(frame, place_of(frame))
    frame = _named(frame, "dataset", Path(place_of(frame)).name)
    # pandas groups by columns that are there only.
    for name in GROUPING:
        frame = _named(frame, name, UNKNOWN)

    for dataset, part in frame.groupby("dataset", sort=False):
        rated = [set(ratings["example"]) for _, ratings in part.groupby(_JUDGE, sort=False)]
        common = set.intersection(*rated)
        every = set.union(*rated)
        if not common:
            raise InputError(f"dataset '{dataset}': no example was rated by all judges; must be one or more")
        if len(common) < len(every):
            logging.getLogger("dhp").warning(
                "dataset '%s': compared by the %d of %d examples that all judges rated",
                dataset,
                len(common),
                len(every),
            )
        of_common = part[part["example"].isin(common)]
        results = [_result(ratings) for _, ratings in of_common.groupby(_JUDGE, sort=False)]
        by_dataset[str(dataset)] = results
    return by_dataset


def _named(frame: "pd.DataFrame", column: str, name: str) -> "pd.DataFrame":
    """The frame, with one name for all in a column that it lacks."""
    return frame if column in frame else frame.assign(**{column: name})


def _result(frame: "pd.DataFrame") -> RunResult:
    """The result of one judge, signed by what was rated and not by what came out."""
    # One judge on one dataset: one array of ratings and one result.
    (ratings,), (result,) = split_ratings(frame), analyze(frame)
    texts = sorted(set(zip(frame["example"], frame["variant"], strict=True)))
    signed = replace(result.signed, dataset=f"{ratings.dataset}@texts.{text_hash(repr(texts))}")
    return RunResult(ratings.dataset, replace(result, signature=str(signed)), ratings)
