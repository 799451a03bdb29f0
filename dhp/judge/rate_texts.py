"""Ratings of given texts as a table, and their estimated cost."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from dhp.core.errors import Waiting
from dhp.core.progress import Progress
from dhp.core.records import Candidate, Rating, grouped
from dhp.core.specs import Task
from dhp.judge.api import Judge
from dhp.judge.check import checked_ratings, readable
from dhp.llm.estimate import Estimate, estimate_requests

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ["source", "system", "metric", "sample", "score", "status", "raw", "model", "protocol"]
PART_RATINGS = 100_000
"""Ratings that are in memory at a time, about."""


def texts_at_a_time(judge: Judge, task: Task, texts: int) -> int:
    """Number of texts to rate at a time, so that their ratings fit into memory.

    All of them where replies come later: whether any belongs to the run is seen in the whole alone.
    """
    if judge.cached_model and judge.cached_model.deferral:
        return texts
    return max(1, PART_RATINGS // (len(task.metrics) * judge.samples))


def rate_texts(
    judges: Sequence[Judge],
    texts: Sequence[Candidate],
    task: Task,
    progress: Progress | None = None,
) -> "Iterator[pd.DataFrame]":
    """Ratings of texts by judges, some texts at a time.

    Of a text `example` is the id of the source and `variant` the system that wrote it. Tables have `COLUMNS`;
    a failed rating has no score.
    """
    for judge in [each.with_token_limit([(texts, task)]) for each in judges]:
        own = judge.own_task(task, texts)
        judge.prepare(texts, own)
        per_text, before = len(own.metrics) * judge.samples, 0
        for part in grouped(texts, texts_at_a_time(judge, own, len(texts))):
            with suppress(Waiting):  # the other requests are to be collected too
                yield _rated(judge, part, own, progress, before, len(texts) * per_text)
            before += len(part) * per_text


def _rated(
    judge: Judge, texts: Sequence[Candidate], task: Task, progress: Progress | None, before: int, total: int
) -> "pd.DataFrame":
    """Ratings of some texts; `before` of all `total` have come before."""
    import pandas as pd

    ratings, found = [], checked_ratings(judge, texts, task)
    for done, r in enumerate(found if before else readable(found, judge, task, "the texts"), before + 1):
        ratings.append(r)
        if progress:
            progress(judge.model, done, total, "")
    rows = [
        (r.example, r.variant, r.metric, r.sample, r.score, r.status, r.raw, judge.model, judge.protocol)
        for r in in_order(ratings, texts, task)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def in_order(ratings: Iterable[Rating], texts: Sequence[Candidate], task: Task) -> list[Rating]:
    """Ratings by text, metric and sample; they come in the order in which a server answers."""
    order = {(text.example, text.variant): place for place, text in enumerate(texts)}
    metrics = task.metric_names
    return sorted(ratings, key=lambda r: (order[r.example, r.variant], metrics.index(r.metric), r.sample))


def judge_estimates(
    judges: Sequence[Judge], name: str, texts: Sequence[Candidate], task: Task
) -> list[Estimate]:
    """What ratings of the texts of the dataset `name` would take of each judge that asks a language model."""
    controls = sum(text.level == "control" for text in texts) / max(len(texts), 1)
    found = [
        estimate_requests(j.cached_model, j.protocol, name, j.requests(texts, j.own_task(task)))
        for j in judges
        if j.cached_model
    ]
    return [replace(each, controls=controls) for each in found]
