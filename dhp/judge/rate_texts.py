"""Ratings of texts as a table for agreement with human scores, and what asking for them would take."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from dhp.core.records import Candidate
from dhp.core.specs import Task
from dhp.judge.answer_room import with_room
from dhp.judge.api import Judge
from dhp.judge.check import checked_ratings
from dhp.judge.unreadable import readable
from dhp.llm.batch.batch import Waiting
from dhp.llm.estimate import Estimate, estimate_requests

if TYPE_CHECKING:
    import pandas as pd


def rate_texts(
    judges: Sequence[Judge],
    texts: Sequence[Candidate],
    task: Task,
    progress: Callable[[str, int, int, str], None] | None = None,
) -> "pd.DataFrame":
    """Ratings of texts by judges.

    Parameters
    ----------
    judges
        Each rates every text on its metrics.
    texts
        `example` is the id of the source, `variant` the system that wrote the text.
    task
        What the systems had to do.
    progress
        Called as `progress(what, done, total, cost)`.

    Returns
    -------
    DataFrame
        Columns `source, system, metric, sample, score, status, raw, model, protocol`; a failed rating has no
        score.
    """
    import pandas as pd

    rows = []
    for judge in with_room(judges, [(texts, task)]):
        own = judge.own_task(task, texts)
        total = len(texts) * len(own.metrics) * judge.samples
        judge.prepare(texts, own)
        found = readable(checked_ratings(judge, texts, own), judge, own, "the texts")
        with suppress(Waiting):  # the requests of the other judges belong into the same batch
            for done, r in enumerate(found, 1):
                place = (r.example, r.variant, r.metric, r.sample)
                rows.append((*place, r.score, r.status, r.raw, judge.model, judge.protocol))
                if progress:
                    progress(judge.model, done, total, "")
    columns = ["source", "system", "metric", "sample", "score", "status", "raw", "model", "protocol"]
    return pd.DataFrame(rows, columns=columns)


def judge_estimates(
    judges: Sequence[Judge], name: str, texts: Sequence[Candidate], task: Task
) -> list[Estimate]:
    """What ratings of the texts of the dataset `name` would take of each judge that asks a language model."""
    return [
        estimate_requests(j.cached_model, j.protocol, name, j.requests(texts, j.own_task(task)))
        for j in judges
        if j.cached_model
    ]
