"""Ratings of a judge: checked, and as a table."""

import math
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING

from dhp.core.errors import InputError, one_of, unquoted
from dhp.core.progress import Progress
from dhp.core.rating_forms import STATED
from dhp.core.records import RATING_STATUSES, Candidate, Rating, grouped
from dhp.core.specs import Task
from dhp.judge.api import Judge
from dhp.judge.unreadable import readable
from dhp.llm.estimate import Estimate, estimate_requests

if TYPE_CHECKING:
    import pandas as pd


def checked_ratings(
    judge: Judge, candidates: Sequence[Candidate], task: Task
) -> Generator[Rating, None, None]:
    """The ratings of a judge, each as what it really is; what was left unrated follows as failed.

    Where answers come later, what they will rate is missing.

    A score off its metric's scale becomes `out_of_scale`. A rating of something that it was not given, a
    score that is not a finite number, or an unknown status raises `InputError` with judge and place: the
    judge is broken, and its other ratings cannot be trusted either.
    """
    check = _Check(judge.model, candidates, task)
    ratings: object = judge.rate(candidates, task)
    if not isinstance(ratings, Iterable):
        raise InputError(f"judge '{judge.model}': rate() returned {ratings!r}; must yield dhp.Rating")
    for rating in ratings:
        yield check.checked(rating)
    if not judge.waits:
        yield from check.unrated()


class _Check:
    """The texts and metrics that one judge was given, and the samples that it returned for each."""

    def __init__(self, model: str, candidates: Sequence[Candidate], task: Task) -> None:
        self._model = model
        self._scales = {metric.name: metric.scale for metric in task.metrics}
        self._samples: dict[tuple[str, str, str], set[int]] = {}
        for candidate in candidates:
            for name in self._scales:
                self._samples[candidate.example, candidate.variant, name] = set()

    def checked(self, rating: object) -> Rating:
        """What a judge yielded, as a rating of what it was asked; raises the errors of `checked_ratings`."""
        if not isinstance(rating, Rating):
            kind = type(rating).__name__
            raise InputError(f"judge '{self._model}': yielded a {kind}; must yield dhp.Rating")

        # It is of something that was asked for, and of that for the first time.
        key = (str(rating.example), str(rating.variant), str(rating.metric))
        samples, sample = self._samples.get(key), rating.sample
        if samples is None:
            place = self._place(rating)
            one_of("metric", key[2], self._scales, place)
            raise InputError(f"{place}: a rating of a text that the judge was not asked to rate")
        if isinstance(sample, bool) or not isinstance(sample, Integral):
            raise InputError(f"{self._place(rating)}: sample {sample!r} is not a whole number")
        if sample in samples:
            raise InputError(f"{self._place(rating)}, metric '{key[2]}': duplicate sample {sample}")
        samples.add(int(sample))

        # What it says.
        raw = None
        if rating.raw is not None:  # half of a pair of UTF-16, which no file takes, becomes a question mark
            raw = unquoted(str(rating.raw)).encode(errors="replace").decode()
        score, status = None, rating.status
        if status == "scored":
            number, scale = self._number(rating), self._scales[key[2]]
            if scale.min <= number <= scale.max:
                score = number
            else:
                status, raw = "out_of_scale", raw or f"{number:g}"
        elif status not in RATING_STATUSES:
            one_of("status", status, RATING_STATUSES, self._place(rating))
        how = (rating.rule, rating.missing_mass, rating.probabilities, self._stated(rating))
        return Rating(*key, int(sample), score, status, raw, *how)

    def _place(self, rating: Rating) -> str:
        return f"judge '{self._model}', example '{rating.example}', variant '{rating.variant}'"

    def _stated(self, rating: Rating) -> Mapping[str, float] | None:
        """What else the judge states of a text, such as how sure it is."""
        if rating.stated is not None:
            for name, value in rating.stated.items():
                one_of("stated", name, STATED, self._place(rating))
                if not isinstance(value, Real):
                    raise InputError(f"{self._place(rating)}: {name} {value!r} is not a number")
        return rating.stated

    def _number(self, rating: Rating) -> float:
        """The score, a finite number."""
        score: object = rating.score
        if isinstance(score, Real) and not isinstance(score, bool):
            try:
                number = float(score)
            except OverflowError:
                number = math.inf
            if math.isfinite(number):
                return number
        raise InputError(
            f"{self._place(rating)}: score {score!r} is not a number; without one, set a status that says why"
        )

    def unrated(self) -> Iterator[Rating]:
        """A failed rating for every text and metric without one."""
        for key, samples in self._samples.items():
            if not samples:
                yield Rating(*key, 0, None, "failed", "the judge gave no rating")


COLUMNS = ["source", "system", "metric", "sample", "score", "status", "raw", "model", "protocol"]
"""Columns of a table of ratings."""
PART_RATINGS = 25_000
"""Ratings that are in memory at a time, about; each takes 0.7 kB with what is known of its text."""


def texts_at_a_time(judge: Judge, task: Task) -> int:
    """Number of texts to rate at a time, so that their ratings fit into memory."""
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
        task_of_judge = judge.own_task(task, texts)
        judge.prepare(texts, task_of_judge)
        per_text, before = len(task_of_judge.metrics) * judge.samples, 0
        for part in grouped(texts, texts_at_a_time(judge, task_of_judge)):
            yield _rated(judge, part, task_of_judge, progress, before, len(texts) * per_text)
            before += len(part) * per_text


def _rated(
    judge: Judge, texts: Sequence[Candidate], task: Task, progress: Progress | None, before: int, total: int
) -> "pd.DataFrame":
    """Ratings of some texts; `before` of all `total` have come before."""
    import pandas as pd

    ratings = []
    checked = checked_ratings(judge, texts, task)
    if not before:  # the first answers tell whether any can be read
        checked = readable(checked, judge, task, "the texts")
    for done, rating in enumerate(checked, start=before + 1):
        ratings.append(rating)
        if progress:
            progress(judge.model, done, total, "")
    rows = []
    for r in in_order(ratings, texts, task):
        of_text = (r.example, r.variant, r.metric, r.sample, r.score, r.status, r.raw)
        rows.append((*of_text, judge.model, judge.protocol))
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
    controls = [text for text in texts if text.level == "control"]
    estimates = []
    for judge in judges:
        if judge.cached_model:
            own_task = judge.own_task(task)
            requests = judge.requests(texts, own_task)
            short = partial(judge.short_request, task=own_task)
            estimate = estimate_requests(judge.cached_model, judge.protocol, name, requests, short=short)
            estimates.append(replace(estimate, controls=len(controls) / max(len(texts), 1)))
    return estimates
