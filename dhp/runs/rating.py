"""The ratings of one judge on one dataset, with interim analyses where these are asked for."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from dhp.analysis.config import ResolvedConfig
from dhp.analysis.ratings import split_ratings
from dhp.analysis.sequential import interim_numbers, resolved
from dhp.core.records import ORIGINAL, PROBES, STOPPED, Candidate, Rating, Variant, parse_variant
from dhp.core.specs import Task
from dhp.judge.api import Judge
from dhp.judge.check import checked_ratings
from dhp.judge.unreadable import readable

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[str, int, int, str], None]
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
        With interim analyses, variants that are resolved are asked no more; `seed` orders the examples.
    progress
        Called as `progress(what, done, total, cost)`.

    Returns
    -------
    One row a rating. What the judge left unrated is there as failed, what was not asked as stopped.
    """
    ahead = list(candidates)
    total = len(ahead) * (per_text := len(task.metrics) * judge.samples)
    ratings: list[Rating] = []
    cached_model, shown = judge.cached_model, time.monotonic()
    way = f" ({judge.protocol.partition('@')[0]})" if cached_model else ""
    before = replace(cached_model.session_usage) if cached_model else None

    def table(interim: Mapping[str, int]) -> "pd.DataFrame":
        frame = _table(judge, candidates, task.metric_names, ratings, interim, clusters or {})
        return frame.assign(model=judge.model, protocol=judge.protocol, dataset=dataset)

    def show() -> None:
        if progress:
            cost = cached_model.spent(before) if cached_model and before else ""
            progress(f"{judge.model}{way} on {dataset}", len(ratings), total, cost)

    if cached_model:
        cached_model.on_wait = show
    judge.prepare(ahead, task)
    examples = list(dict.fromkeys(c.example for c in candidates))
    interim = interim_numbers(examples, seed, dataset) if config.interim else dict.fromkeys(examples, 1)
    for number in range(1, 1 + max(interim.values())):
        turn = [c for c in ahead if interim[c.example] == number]
        ahead = [c for c in ahead if interim[c.example] > number]
        for rating in readable(checked_ratings(judge, turn, task), judge, task, dataset) if turn else ():
            ratings.append(rating)
            if len(ratings) == total or time.monotonic() - shown > _SECONDS_BETWEEN_SHOWS:
                shown = time.monotonic()
                show()
        if ahead:
            ahead = _needed(candidates, ahead, table(interim), config)
            total = len(ratings) + len(ahead) * per_text
            show()
    return table(interim if config.interim else {})


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
    columns = {f.name: [getattr(r, f.name) for r in rows] for f in fields(Rating)}
    levels = {c.variant: c.level for c in candidates}
    columns["level"] = [levels[variant] for variant in columns["variant"]]
    if interim:
        columns["look"] = [interim[example] for example in columns["example"]]
    if clusters:
        columns["cluster"] = [clusters[example] for example in columns["example"]]
    return pd.DataFrame(columns)
