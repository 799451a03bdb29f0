"""Rating of one dataset by one judge, with interim analyses."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import groupby
from typing import TYPE_CHECKING

from dhp.analysis.config import ResolvedConfig
from dhp.analysis.ratings_split import split_ratings
from dhp.analysis.sequential import interim_numbers, resolved
from dhp.core.errors import InputError, Waiting
from dhp.core.progress import Progress
from dhp.core.records import ORIGINAL, PROBES, STOPPED, Candidate, Rating, Variant, parse_variant
from dhp.core.specs import Task
from dhp.judge.api import Judge
from dhp.judge.check import checked_ratings
from dhp.judge.rate_texts import texts_at_a_time
from dhp.judge.unreadable import readable
from dhp.runs.thresholds import ThresholdSearch

if TYPE_CHECKING:
    import pandas as pd

_SECONDS_BETWEEN_SHOWS = 0.2


def rate_dataset(
    judge: Judge,
    candidates: Sequence[Candidate],
    task: Task,
    dataset: str,
    config: ResolvedConfig,
    *,
    seed: int,
    progress: Progress | None,
    clusters: Mapping[str, str] | None = None,
) -> "Iterator[pd.DataFrame]":
    """All ratings of one judge on one dataset, as tables of whole examples.

    Parameters
    ----------
    candidates, task, dataset, clusters
        Originals and degraded texts, the task with the judge's metrics, the dataset's name and its clusters.
    config
        With interim analyses, variants that are resolved are asked no more; where thresholds are looked for,
        the doses are placed as ratings come in. `seed` orders the examples.
    progress
        Called as `progress(what, done, total, cost)`.

    Yields
    ------
    One row a rating. What the judge left unrated is there as failed, what was not asked as stopped. Very many
    ratings come as several tables, else one; with interim analyses and thresholds there is one.
    """
    session = _Session(judge, task, dataset, len(candidates), progress, clusters or {})
    judge.prepare(candidates, task)
    if config.find_threshold:
        search = ThresholdSearch(candidates, task.metric_names, config, seed, dataset)
        yield _with_thresholds(session, candidates, search)
    elif config.interim:
        interim = interim_numbers(list(dict.fromkeys(c.example for c in candidates)), seed, dataset)
        yield _with_interim_analyses(session, candidates, interim, config)
    else:
        yield from _in_parts(session, candidates)


def _with_thresholds(
    session: "_Session", candidates: Sequence[Candidate], search: ThresholdSearch
) -> "pd.DataFrame":
    if session.judge.pairwise:
        raise InputError(
            f"judge '{session.judge.model}': compares texts; `find_threshold` needs one that rates"
        )
    session.expect(search.most)
    turns: dict[tuple[str, str], int] = {}
    number = 0
    while turn := search.turn(session.ratings):
        session.rate(turn)
        number += 1
        turns |= {(c.example, c.variant): number for c in turn}
    session.expect(0)
    frame = session.table(candidates)
    return frame.assign(
        search_turn=[turns[at] for at in zip(frame["example"], frame["variant"], strict=True)]
    )


def _with_interim_analyses(
    session: "_Session", candidates: Sequence[Candidate], interim: Mapping[str, int], config: ResolvedConfig
) -> "pd.DataFrame":
    ahead = list(candidates)
    for number in range(1, 1 + max(interim.values())):
        session.rate([c for c in ahead if interim[c.example] == number])
        ahead = [c for c in ahead if interim[c.example] > number]
        if ahead:
            ahead = _needed(candidates, ahead, session.table(candidates, interim), config)
            session.expect(len(ahead))
    return session.table(candidates, interim)


def _in_parts(session: "_Session", candidates: Sequence[Candidate]) -> "Iterator[pd.DataFrame]":
    waiting: Waiting | None = None
    for part in _parts(candidates, texts_at_a_time(session.judge, session.task, len(candidates))):
        try:
            session.rate(part)
            yield session.table(part)
        except Waiting as e:  # the requests about the other parts are to be collected too
            waiting = e
        session.ratings.clear()
    if waiting:
        raise waiting


def _parts(candidates: Sequence[Candidate], most: int) -> Iterator[list[Candidate]]:
    """The texts of whole examples, about so many at a time."""
    part: list[Candidate] = []
    for _, own in groupby(candidates, key=lambda c: c.example):
        part += own
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
    ) -> None:
        self.ratings: list[Rating] = []
        """Those that came and were not taken away."""
        self.per_text = len(task.metrics) * judge.samples
        """Ratings of a text."""
        self.judge, self.task, self._dataset, self._progress = judge, task, dataset, progress
        self._clusters = clusters
        self._model, self._shown = judge.cached_model, time.monotonic()
        way = f" ({judge.protocol.partition('@')[0]})" if self._model else ""
        self._what = f"{judge.model}{way} on {dataset}"
        self._count, self._total = 0, texts * self.per_text
        self._before = self._model.shown_usage if self._model else None
        if self._model:
            self._model.on_wait = self._show

    def rate(self, turn: Sequence[Candidate]) -> None:
        """Rate these texts."""
        rated = checked_ratings(self.judge, turn, self.task) if turn else iter(())
        if turn and not self._count:
            rated = readable(rated, self.judge, self.task, self._dataset)
        for rating in rated:
            self.ratings.append(rating)
            self._count += 1
            if self._count == self._total or time.monotonic() - self._shown > _SECONDS_BETWEEN_SHOWS:
                self._shown = time.monotonic()
                self._show()

    def expect(self, texts: int) -> None:
        """Show that so many texts are still to come."""
        self._total = self._count + texts * self.per_text
        self._show()

    def table(self, texts: Sequence[Candidate], interim: Mapping[str, int] = {}) -> "pd.DataFrame":
        """The ratings of these texts; with interim analyses also what was not asked."""
        judge = self.judge
        frame = _table(judge, texts, self.task.metric_names, self.ratings, interim, self._clusters)
        return frame.assign(model=judge.model, protocol=judge.protocol, dataset=self._dataset)

    def _show(self) -> None:
        if self._progress:
            cost = ""
            if self._model and self._before:
                cost = self._model.spent(self._before)
                self._model.shown_usage = replace(self._model.session_usage)
            self._progress(self._what, self._count, self._total, cost)


def _needed(
    candidates: Sequence[Candidate], ahead: Sequence[Candidate], frame: "pd.DataFrame", config: ResolvedConfig
) -> list[Candidate]:
    """The texts that are still to be rated: of variants that are not resolved, and the originals for them."""
    (ratings,) = split_ratings(frame)
    levels = {c.variant: c.level for c in candidates if c.level is not None and c.level not in PROBES}
    variants = [
        Variant(name, parse_variant(name).perturber, level, "", None) for name, level in levels.items()
    ]
    done = resolved(ratings, variants, config) if variants else set()
    wanted = {c.example for c in ahead if c.variant not in {ORIGINAL, *done}}
    return [c for c in ahead if c.variant not in done and c.example in wanted]


def _table(
    judge: Judge,
    candidates: Sequence[Candidate],
    metrics: Sequence[str],
    ratings: Sequence[Rating],
    interim: Mapping[str, int],
    clusters: Mapping[str, str],
) -> "pd.DataFrame":
    """The ratings in the order of the texts; with interim analyses their column, and what was not asked."""
    import pandas as pd

    rows = list(ratings)
    if interim:
        rated = {(r.example, r.variant) for r in ratings}
        rows += [
            Rating(c.example, c.variant, metric, sample, None, STOPPED)
            for c in candidates
            if (c.example, c.variant) not in rated
            for metric in metrics
            for sample in range(judge.samples)
        ]
    texts = {(c.example, c.variant): place for place, c in enumerate(candidates)}
    rows.sort(key=lambda r: (texts[r.example, r.variant], metrics.index(r.metric), r.sample))
    levels = {c.variant: c.level for c in candidates}
    # One column after the other: lists of a million texts are larger than the table made of them.
    columns = {f.name: pd.Series([getattr(r, f.name) for r in rows]) for f in fields(Rating)}
    columns["level"] = pd.Series([levels[r.variant] for r in rows])
    if interim:
        columns["look"] = pd.Series([interim[r.example] for r in rows])
    if clusters:
        columns["cluster"] = pd.Series([clusters[r.example] for r in rows])
    return pd.DataFrame(columns)
