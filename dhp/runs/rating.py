"""Rating of one dataset by one judge, under a schedule."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import groupby
from typing import TYPE_CHECKING

from dhp.analysis.config import ResolvedConfig
from dhp.analysis.kinds import judged_kinds
from dhp.analysis.ratings import split_ratings
from dhp.analysis.schedules import Plan
from dhp.analysis.verdict_rule import DECIDED
from dhp.core.errors import InputError, Waiting
from dhp.core.progress import Progress
from dhp.core.records import (
    IDENTITY,
    PROBES,
    STOPPED,
    Candidate,
    Rating,
    Variant,
    parse_variant,
    protocol_name,
)
from dhp.core.specs import Task
from dhp.judge.api import Judge
from dhp.judge.ratings import checked_ratings, in_order, readable, texts_at_a_time

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

    What the judge left unrated is there as failed. Very many ratings come as several tables, else one; by
    another schedule than that of all texts, that of `config` with `seed`, there is one, which has its column.
    """
    schedule = config.schedule
    plan = schedule.plan(candidates, task.metric_names, seed, dataset)
    session = _Session(judge, task, dataset, candidates, config, plan, progress, clusters or {})
    judge.prepare(candidates, task)
    if judge.pairwise and not schedule.pairwise:
        raise InputError(f"judge '{judge.model}': compares texts; `{schedule.name}` needs one that rates")
    if plan is None:
        yield from _in_parts(session)
        return
    while turn := plan.turn(session):
        session.expect(len(turn) + plan.left)
        session.rate(turn)
    session.expect(0)
    yield session.table(candidates)


def _in_parts(session: "_Session") -> "Iterator[pd.DataFrame]":
    waiting: Waiting | None = None
    most = texts_at_a_time(session.judge, session.task)
    for part in _parts(session.candidates, most):
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
        candidates: Sequence[Candidate],
        config: ResolvedConfig,
        plan: Plan | None,
        progress: Progress | None,
        clusters: Mapping[str, str],
    ) -> None:
        self.ratings: list[Rating] = []
        """Those that came and were not taken away."""
        self.per_text = len(task.metrics) * judge.samples
        """Ratings of a text."""
        self.judge, self.task, self.candidates = judge, task, candidates
        self._dataset, self._config, self._plan = dataset, config, plan
        self._progress, self._clusters = progress, clusters
        self._model, self._shown = judge.cached_model, time.monotonic()
        way = f" ({protocol_name(judge.protocol)})" if self._model else ""
        self._what = f"{judge.model}{way} on {dataset}"
        self._count, self._total = 0, len(candidates) * self.per_text
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

    def decided(self) -> set[str]:
        """The kinds of damage whose verdict is decided, were the rating to end now."""
        levels = {c.variant: c.level for c in self.candidates if c.level}
        variants = [
            Variant(name, parse_variant(name).perturber, level, "", None) for name, level in levels.items()
        ]
        damage = [variant for variant in variants if variant.level not in PROBES]
        if not damage:
            return set()
        edits = [v.name for v in variants if v.level == "control" and v.perturber != IDENTITY]
        (ratings,) = split_ratings(self.table(self.candidates))
        rows, _ = judged_kinds(ratings, damage, self._config, edits)
        return {row.variant for row in rows if row.verdict in DECIDED}

    def table(self, texts: Sequence[Candidate]) -> "pd.DataFrame":
        """The ratings of these texts, in their order.

        Under a plan with its column, and with what was not asked if that is to be.
        """
        import pandas as pd

        judge, schedule, metrics = self.judge, self._config.schedule, self.task.metric_names
        rows = list(self.ratings)
        if schedule.unrated:
            rated = {(r.example, r.variant) for r in rows}
            rows += [
                Rating(c.example, c.variant, metric, sample, None, STOPPED)
                for c in texts
                if (c.example, c.variant) not in rated
                for metric in metrics
                for sample in range(judge.samples)
            ]
        rows = in_order(rows, texts, self.task)
        levels = {c.variant: c.level for c in texts}
        # One column after the other: lists of a million texts are larger than the table made of them.
        columns = {f.name: pd.Series([getattr(r, f.name) for r in rows]) for f in fields(Rating)}
        columns["level"] = pd.Series([levels[r.variant] for r in rows])
        if self._clusters:
            columns["cluster"] = pd.Series([self._clusters[r.example] for r in rows])
        if self._plan:
            columns[schedule.column] = pd.Series([self._plan.number(r.example, r.variant) for r in rows])
        frame = pd.DataFrame(columns)
        return frame.assign(model=judge.model, protocol=judge.protocol, dataset=self._dataset)

    def _show(self) -> None:
        if self._progress:
            cost = ""
            if self._model and self._before:
                cost = self._model.spent(self._before)
                self._model.shown_usage = replace(self._model.session_usage)
            self._progress(self._what, self._count, self._total, cost)
