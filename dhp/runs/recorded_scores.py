"""Released scores of judges as comparable results."""

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from dhp.analysis.analyze import analyze
from dhp.analysis.ratings_split import split_ratings
from dhp.core.errors import InputError
from dhp.core.seeding import text_hash
from dhp.runs.reader import RunResult

if TYPE_CHECKING:
    import pandas as pd


def recorded_results(frame: "pd.DataFrame") -> dict[str, list[RunResult]]:
    """Dataset -> the results of its judges, by the examples that all of them rated.

    The frame has the columns `model, protocol, dataset, example, variant, metric, score`, as
    `read_recorded_scores` gives them. What an example and a variant are called says which text was rated, as
    no texts are there. Raises `InputError` for judges without an example in common, and a table that
    `analyze` refuses.
    """
    found = {}
    for dataset, part in frame.groupby("dataset", sort=False):
        rated = [set(own["example"]) for _, own in part.groupby(["model", "protocol"], sort=False)]
        common, every = set.intersection(*rated), set.union(*rated)
        if not common:
            raise InputError(f"dataset '{dataset}': no example was rated by all judges; allowed: one or more")
        if len(common) < len(every):
            logging.getLogger("dhp").warning(
                "dataset '%s': compared by the %d of %d examples that all judges rated",
                dataset,
                len(common),
                len(every),
            )
        own = part[part["example"].isin(common)]
        found[str(dataset)] = [_result(each) for _, each in own.groupby(["model", "protocol"], sort=False)]
    return found


def _result(own: "pd.DataFrame") -> RunResult:
    """The result of one judge, signed by what was rated and not by what came out."""
    (ratings,), (result,) = split_ratings(own), analyze(own)
    texts = sorted(set(zip(own["example"], own["variant"], strict=True)))
    signed = replace(result.signed, dataset=f"{ratings.dataset}@texts.{text_hash(repr(texts))}")
    return RunResult(ratings.dataset, replace(result, signature=str(signed)), ratings)
