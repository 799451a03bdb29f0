"""Rating of one dataset by one judge.

`rate_dataset` gives the judge the texts of whole examples, as many at a time as are to be in memory. A
`_Session` takes the ratings as they come, shows how far they are, and makes a table of each lot. `watch` may
ask at any time for a table of what has come so far, for the page of a run that has not ended.
"""

import json
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import groupby
from operator import attrgetter
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

_example = attrgetter("example")
_SECONDS_BETWEEN_SHOWS = 0.2
"""Chosen, so that judges that rate at once are not held up by what is shown."""
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
        # Only one part is ever in memory.
        session.ratings.clear()


def _parts(candidates: Sequence[Candidate], most: int) -> Iterator[list[Candidate]]:
    """The texts of whole examples, about so many at a time."""
    part: list[Candidate] = []
    for _, texts in groupby(candidates, key=_example):
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
        self._dataset, self._clusters = dataset, clusters
        self._progress, self._watch = progress, watch
        self._shown = time.monotonic()  # when progress was shown last
        self._count, self._total = 0, texts * len(task.metrics) * judge.samples
        self._what = f"{judge.model} on {dataset}"
        self._model = judge.cached_model
        self._before = None
        if self._model:
            self._what = f"{judge.model} ({protocol_name(judge.protocol)}) on {dataset}"
            self._before = self._model.shown_usage
            self._model.on_wait = self._show  # also while no answer comes

    def rate(self, texts: Sequence[Candidate]) -> None:
        """Rate these texts."""
        self.texts = texts
        rated = checked_ratings(self.judge, texts, self.task)
        if not self._count:  # the first answers show whether the rest can be read, too
            rated = readable(rated, self.judge, self.task, self._dataset)
        for rating in rated:
            self.ratings.append(rating)
            self._count += 1
            now = time.monotonic()
            if self._count == self._total or now - self._shown > _SECONDS_BETWEEN_SHOWS:
                self._shown = now
                self._show()

    def whole(self) -> "pd.DataFrame | None":
        """The ratings so far, of the examples whose ratings have all come; None if there is none."""
        per_text = len(self.task.metrics) * self.judge.samples
        # Ratings may come in any order: an example is whole once it has as many as it should.
        came = Counter(rating.example for rating in self.ratings)
        whole: set[str] = set()
        texts: list[Candidate] = []
        for example, group in groupby(self.texts, key=_example):
            of_example = list(group)
            if came[example] >= len(of_example) * per_text:
                whole.add(example)
                texts += of_example
        if not whole:
            return None
        ratings = [rating for rating in self.ratings if rating.example in whole]
        return self._as_table(ratings, texts)

    def table(self) -> "pd.DataFrame":
        """The ratings of the texts, in their order."""
        return self._as_table(self.ratings, self.texts)

    def _as_table(self, ratings: Sequence[Rating], texts: Sequence[Candidate]) -> "pd.DataFrame":
        import pandas as pd

        rows = in_order(ratings, texts, self.task)
        # One column after the other: lists of a million texts are larger than the table made of them.
        columns: dict[str, pd.Series[Any]] = {}
        for field in fields(Rating):
            if field.name != "stated":
                columns[field.name] = pd.Series([getattr(rating, field.name) for rating in rows])

        # What few judges state beside a score is a column only if somebody states it here.
        stated = [rating.stated or {} for rating in rows]
        for name in STATED:
            if any(name in each for each in stated):
                columns[name] = pd.Series([each.get(name, math.nan) for each in stated])

        # A file holds lists of numbers as text; without a type a column of None would be one of numbers.
        probabilities = [_as_json(rating.probabilities) for rating in rows]
        columns["probabilities"] = pd.Series(probabilities, dtype=object)
        levels = {text.variant: text.level for text in texts}
        columns["level"] = pd.Series([levels[rating.variant] for rating in rows])
        if self._clusters:
            columns["cluster"] = pd.Series([self._clusters[rating.example] for rating in rows])
        frame = pd.DataFrame(columns)

        # A judge that did not state it itself: its reasons are searched for what was changed.
        if NAMED not in columns and self.judge.explains:
            shown = {(text.example, text.variant): text.text for text in texts}
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
