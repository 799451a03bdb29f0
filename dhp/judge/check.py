"""Checks the ratings that a judge returns against the texts and metrics that it was given."""

import contextlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from numbers import Integral, Real

from dhp.core.errors import InputError, suggest
from dhp.core.records import RATING_STATUSES, Candidate, Rating
from dhp.core.specs import Task
from dhp.judge.api import Judge


def checked_ratings(judge: Judge, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
    """The ratings of a judge, each as what it really is; what was left unrated follows as failed.

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
    yield from check.unrated()


class _Check:
    """The texts and metrics that one judge was given, and the samples that it returned for each."""

    def __init__(self, model: str, candidates: Sequence[Candidate], task: Task) -> None:
        self._model = model
        self._scales = {metric.name: metric.scale for metric in task.metrics}
        self._samples: dict[tuple[str, str, str], set[int]] = {
            (c.example, c.variant, name): set() for c in candidates for name in self._scales
        }

    def checked(self, rating: object) -> Rating:
        if not isinstance(rating, Rating):
            kind = type(rating).__name__
            raise InputError(f"judge '{self._model}': yielded a {kind}; must yield dhp.Rating")
        place = f"judge '{self._model}', example '{rating.example}', variant '{rating.variant}'"
        key = (str(rating.example), str(rating.variant), str(rating.metric))
        if key[2] not in self._scales:
            raise InputError(f"{place}: unknown metric '{key[2]}'; {suggest(key[2], self._scales)}")
        if key not in self._samples:
            raise InputError(f"{place}: a rating of a text that the judge was not asked to rate")
        if isinstance(rating.sample, bool) or not isinstance(rating.sample, Integral):
            raise InputError(f"{place}: sample {rating.sample!r} is not a whole number")
        if rating.sample in self._samples[key]:
            raise InputError(f"{place}, metric '{key[2]}': duplicate sample {rating.sample}")
        self._samples[key].add(int(rating.sample))
        if rating.status not in RATING_STATUSES:
            raise InputError(
                f"{place}: unknown status '{rating.status}'; {suggest(str(rating.status), RATING_STATUSES)}"
            )
        raw = None if rating.raw is None else str(rating.raw).encode(errors="replace").decode()
        plain = Rating(*key, int(rating.sample), None, rating.status, raw, rating.rule, rating.missing_mass)
        return plain if rating.status != "scored" else self._scored(plain, rating.score, place)

    def _scored(self, rating: Rating, score: object, place: str) -> Rating:
        number = math.nan
        if isinstance(score, Real) and not isinstance(score, bool):
            with contextlib.suppress(OverflowError):
                number = float(score)
        if not math.isfinite(number):
            raise InputError(
                f"{place}: score {score!r} is not a number; without one, set a status that says why"
            )
        scale = self._scales[rating.metric]
        if not scale.min <= number <= scale.max:
            return replace(rating, status="out_of_scale", raw=rating.raw or f"{number:g}")
        # `replace` is slow, and most ratings come here.
        read = (rating.raw, rating.rule, rating.missing_mass)
        return Rating(rating.example, rating.variant, rating.metric, rating.sample, number, "scored", *read)

    def unrated(self) -> Iterator[Rating]:
        """A failed rating for every text and metric without one."""
        for key, samples in self._samples.items():
            if not samples:
                yield Rating(*key, 0, None, "failed", "the judge gave no rating")
