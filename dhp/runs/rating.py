"""The ratings of one judge on one dataset, with interim analyses where these are asked for."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from dhp.analysis.config import ResolvedConfig
from dhp.analysis.ratings import split_ratings
from dhp.analysis.sequential import interim_numbers, resolved
from dhp.core.errors import InputError
from dhp.core.progress import Progress
from dhp.core.records import ORIGINAL, PROBES, STOPPED, Candidate, Rating, Variant, parse_variant
from dhp.core.specs import Task
from dhp.judge.api import Judge
from dhp.judge.check import checked_ratings
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
) -> "pd.DataFrame":
    """All ratings of one judge on one dataset.

    Parameters
    ----------
    candidates, task, dataset, clusters
        Originals and degraded texts, the task with the judge's metrics, the dataset's name and its clusters.
    config
        With interim analyses, variants that are resolved are asked no more; where thresholds are looked for,
        the doses are placed as ratings come in. `seed` orders the examples.
    progress
        Called as `progress(what, done, total, cost)`.

    Returns
    -------
    One row a rating. What the judge left unrated is there as failed, what was not asked as stopped.
    """
    session = _Session(judge, task, dataset, len(candidates), progress)

    def table(interim: Mapping[str, int]) -> "pd.DataFrame":
        frame = _table(judge, candidates, task.metric_names, session.ratings, interim, clusters or {})
        return frame.assign(model=judge.model, protocol=judge.protocol, dataset=dataset)

    judge.prepare(list(candidates), task)
    if config.find_threshold:
        if judge.pairwise:
            raise InputError(f"judge '{judge.model}': compares texts; `find_threshold` needs one that rates")
        search = ThresholdSearch(candidates, task.metric_names, config, seed, dataset)
        session.expect(search.most)
        while turn := search.turn(session.ratings):
            session.rate(turn)
        session.expect(0)
        return table({})
    ahead = list(candidates)
    examples = list(dict.fromkeys(c.example for c in candidates))
    interim = interim_numbers(examples, seed, dataset) if config.interim else dict.fromkeys(examples, 1)
    for number in range(1, 1 + max(interim.values())):
        session.rate([c for c in ahead if interim[c.example] == number])
        ahead = [c for c in ahead if interim[c.example] > number]
        if ahead:
            ahead = _needed(candidates, ahead, table(interim), config)
            session.expect(len(ahead))
    return table(interim if config.interim else {})


class _Session:
    """The ratings of one judge on one dataset as they come in, and what is shown of them."""

    def __init__(self, judge: Judge, task: Task, dataset: str, texts: int, progress: Progress | None) -> None:
        self.ratings: list[Rating] = []
        self._judge, self._task, self._dataset, self._progress = judge, task, dataset, progress
        self._model, self._shown = judge.cached_model, time.monotonic()
        way = f" ({judge.protocol.partition('@')[0]})" if self._model else ""
        self._what = f"{judge.model}{way} on {dataset}"
        self._per_text = len(task.metrics) * judge.samples
        self._total = texts * self._per_text
        self._before = replace(self._model.session_usage) if self._model else None
        if self._model:
            self._model.on_wait = self._show

    def rate(self, turn: Sequence[Candidate]) -> None:
        """Ask about these texts."""
        rated = checked_ratings(self._judge, turn, self._task) if turn else ()
        for rating in readable(rated, self._judge, self._task, self._dataset) if turn else ():
            self.ratings.append(rating)
            if len(self.ratings) == self._total or time.monotonic() - self._shown > _SECONDS_BETWEEN_SHOWS:
                self._shown = time.monotonic()
                self._show()

    def expect(self, texts: int) -> None:
        """Show that so many texts are still to come."""
        self._total = len(self.ratings) + texts * self._per_text
        self._show()

    def _show(self) -> None:
        if self._progress:
            cost = self._model.spent(self._before) if self._model and self._before else ""
            self._progress(self._what, len(self.ratings), self._total, cost)


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
