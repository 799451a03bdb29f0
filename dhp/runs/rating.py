"""Rating of one dataset by one judge."""

import json
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from dhp.analysis.named_change import with_named
from dhp.core.progress import Progress
from dhp.core.rating_forms import NAMED, STATED
from dhp.core.records import Candidate, Rating
from dhp.core.signature import protocol_name
from dhp.core.specs import Task
from dhp.judge.api import Judge
from dhp.judge.ratings import checked_ratings, in_order, texts_at_a_time
from dhp.judge.unreadable import readable

if TYPE_CHECKING:
    import pandas as pd

_SECONDS_BETWEEN_SHOWS = 0.2
Whole = Callable[[], "pd.DataFrame | None"]
"""Gives the ratings so far, of the examples whose ratings have all come; None if there is none."""


def rate_dataset(
    judge: Judge,
    candidates: Sequence[Candidate],
    task: Task,
    dataset: str,
    *,
    progress: Progress | None,
    clusters: Mapping[str, str] | None = None,
    watch: Callable[[Whole], None] | None = None,
) -> "Iterator[pd.DataFrame]":
    """All ratings of one judge on one dataset, as tables of whole examples.

    What the judge left unrated is there as failed. Very many ratings come as several tables, else one. None
    comes while the judge waits for answers. `watch` is called as ratings come, with what gives those of the
    table that is being filled.
    """
    session = _Session(judge, task, dataset, len(candidates), progress, clusters or {}, watch)
    if watch:
        watch(session.whole)
    judge.prepare(candidates, task)
    for part in _parts(candidates, texts_at_a_time(judge, task)):
        session.rate(part)
        if not judge.waits:
            yield session.table()
        session.ratings.clear()


def _parts(candidates: Sequence[Candidate], most: int) -> Iterator[list[Candidate]]:
    """The texts of whole examples, about so many at a time."""
    part: list[Candidate] = []
    for _, texts in groupby(candidates, key=lambda c: c.example):
        part += texts
        if len(part) >= most:
            yield part
            part = []
    if part:
        yield part


class _Session:
    """The ratings of one judge on one dataset as they come in, and what is shown of them."""

    def __init__(
        self,
        judge: Judge,
        task: Task,
        dataset: str,
        texts: int,
        progress: Progress | None,
        clusters: Mapping[str, str],
        watch: Callable[[Whole], None] | None,
    ) -> None:
        self.ratings: list[Rating] = []
        """Those that came and were not taken away."""
        self.texts: Sequence[Candidate] = ()
        """The texts that they are about."""
        self.judge, self.task = judge, task
        self._dataset, self._progress, self._clusters, self._watch = dataset, progress, clusters, watch
        self._model, self._shown = judge.cached_model, time.monotonic()
        way = f" ({protocol_name(judge.protocol)})" if self._model else ""
        self._what = f"{judge.model}{way} on {dataset}"
        self._count, self._total = 0, texts * len(task.metrics) * judge.samples
        self._before = self._model.shown_usage if self._model else None
        if self._model:
            self._model.on_wait = self._show

    def rate(self, texts: Sequence[Candidate]) -> None:
        """Rate these texts."""
        self.texts = texts
        rated = checked_ratings(self.judge, texts, self.task)
        if not self._count:
            rated = readable(rated, self.judge, self.task, self._dataset)
        for rating in rated:
            self.ratings.append(rating)
            self._count += 1
            if self._count == self._total or time.monotonic() - self._shown > _SECONDS_BETWEEN_SHOWS:
                self._shown = time.monotonic()
                self._show()

    def whole(self) -> "pd.DataFrame | None":
        """The ratings so far, of the examples whose ratings have all come; None if there is none."""
        per_text = len(self.task.metrics) * self.judge.samples
        texts = Counter(c.example for c in self.texts)
        came = Counter(r.example for r in self.ratings)
        whole = {example for example, count in texts.items() if came[example] >= count * per_text}
        if not whole:
            return None
        ratings = [r for r in self.ratings if r.example in whole]
        return self._as_table(ratings, [c for c in self.texts if c.example in whole])

    def table(self) -> "pd.DataFrame":
        """The ratings of the texts, in their order."""
        return self._as_table(self.ratings, self.texts)

    def _as_table(self, ratings: Sequence[Rating], texts: Sequence[Candidate]) -> "pd.DataFrame":
        import pandas as pd

        rows = in_order(ratings, texts, self.task)
        levels = {c.variant: c.level for c in texts}
        # One column after the other: lists of a million texts are larger than the table made of them.
        names = [f.name for f in fields(Rating) if f.name != "stated"]
        columns: dict[str, pd.Series[Any]] = {}
        for name in names:
            columns[name] = pd.Series([getattr(r, name) for r in rows])
        for name in STATED:
            if any(name in r.stated for r in rows if r.stated):
                columns[name] = pd.Series([(r.stated or {}).get(name, math.nan) for r in rows])
        columns["probabilities"] = pd.Series([_as_json(r.probabilities) for r in rows], dtype=object)
        columns["level"] = pd.Series([levels[r.variant] for r in rows])
        if self._clusters:
            columns["cluster"] = pd.Series([self._clusters[r.example] for r in rows])
        frame = pd.DataFrame(columns)
        if NAMED not in columns and self.judge.explains:
            shown = {(c.example, c.variant): c.text for c in texts}
            frame = with_named(frame, frame["raw"].where(frame["status"] == "scored"), shown)
        return frame.assign(model=self.judge.model, protocol=self.judge.protocol, dataset=self._dataset)

    def _show(self) -> None:
        if self._watch:
            self._watch(self.whole)
        if self._progress:
            cost = ""
            if self._model and self._before:
                cost = self._model.spent(self._before)
                self._model.shown_usage = replace(self._model.session_usage)
            self._progress(self._what, self._count, self._total, cost)


def _as_json(probabilities: Sequence[float] | None) -> str | None:
    """Probabilities as a column of text holds them."""
    return None if probabilities is None else json.dumps([round(each, 6) for each in probabilities])
