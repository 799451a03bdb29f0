"""Holds what a judge returns against what it was asked."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dhp.errors import InputError, near
from dhp.judge.api import Candidate
from dhp.records import RATING_STATUSES, Rating
from dhp.specs import Task


class RatingCheck:
    """Called with each rating of a judge; returns it, or what it really is.

    A score off its metric's scale becomes `out_of_scale`. A rating of something that was not asked, a
    score that is no finite number, or an unknown status raises `InputError` with judge and place: the
    judge is broken, and its other ratings cannot be trusted either.
    """

    def __init__(self, model: str, candidates: Sequence[Candidate], task: Task) -> None:
        self._model = model
        self._scales = {metric.name: metric.scale for metric in task.metrics}
        self._open = {(c.example, c.variant, name): True for c in candidates for name in self._scales}

    def __call__(self, rating: Rating) -> Rating:
        """The checked rating."""
        if not isinstance(rating, Rating):
            raise InputError(
                f"judge '{self._model}': yielded a {type(rating).__name__}; must yield dhp.Rating"
            )
        place = f"judge '{self._model}', example '{rating.example}', variant '{rating.variant}'"
        if rating.metric not in self._scales:
            raise InputError(
                f"{place}: unknown metric '{rating.metric}'; {near(rating.metric, self._scales)}"
            )
        if (key := (rating.example, rating.variant, rating.metric)) not in self._open:
            raise InputError(f"{place}: a rating of a text that was not asked about")
        self._open[key] = False
        if rating.status not in RATING_STATUSES:
            raise InputError(
                f"{place}: unknown status '{rating.status}'; {near(rating.status, RATING_STATUSES)}"
            )
        if rating.raw is not None and not isinstance(rating.raw, str):
            rating = replace(rating, raw=str(rating.raw))
        if rating.status != "scored":
            return replace(rating, score=None)
        score = rating.score
        if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
            raise InputError(
                f"{place}: score {score!r} is not a number; without one, set a status that says why"
            )
        scale = self._scales[rating.metric]
        if not scale.min <= score <= scale.max:
            return replace(rating, score=None, status="out_of_scale", raw=rating.raw or f"{score:g}")
        return replace(rating, score=float(score))

    def unrated(self) -> Iterator[Rating]:
        """A failed rating for everything that was asked and not answered."""
        for (example, variant, metric), is_open in self._open.items():
            if is_open:
                yield Rating(example, variant, metric, 0, None, "failed", "the judge gave no rating")
