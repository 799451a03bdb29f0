"""A judge that rates texts alone, made to compare them."""

import math
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Literal

from dhp.core.records import Candidate
from dhp.core.specs import Task
from dhp.judge.api import Judge
from dhp.judge.pairs import ORDERS, OVERALL, Pair, PairVerdict
from dhp.judge.ratings import checked_ratings

_Scores = Mapping[tuple[str, str, str], float]
"""(example, variant, metric) -> mean score."""


class ComparedRatings(Judge):
    """The text that a judge rates higher is better, in either order.

    As a whole that is the mean over the metrics. Texts of one example differ by their variants.
    """

    compare = True

    def __init__(self, judge: Judge) -> None:
        self.model = judge.model
        self.protocol = judge.protocol
        self.settings = judge.settings
        self._judge = judge

    def verdicts(
        self, pairs: Sequence[Pair], task: Task, metrics: Sequence[str] = (OVERALL,)
    ) -> Iterator[PairVerdict]:
        """One verdict on every pair by every metric in each order, both the same."""
        texts = _texts(pairs)
        task_of_judge = self._judge.own_task(task, texts)
        scores = self._scores(texts, task_of_judge)
        for pair in pairs:
            for metric in metrics:
                by = task_of_judge.metric_names if metric == OVERALL else (metric,)
                first, second = _mean(scores, pair.first, by), _mean(scores, pair.second, by)
                for order in ORDERS:
                    if first is None or second is None:
                        yield PairVerdict(pair, metric, order, 0, None, "failed")
                        continue
                    both = (first, second)
                    yield PairVerdict(pair, metric, order, 0, _choice(first, second), "scored", both)

    def _scores(self, texts: Sequence[Candidate], task: Task) -> _Scores:
        self._judge.prepare(texts, task)
        by_text: dict[tuple[str, str, str], list[float]] = defaultdict(list)
        for rating in checked_ratings(self._judge, texts, task):
            if rating.score is not None:
                by_text[rating.example, rating.variant, rating.metric].append(rating.score)
        return {key: fmean(scores) for key, scores in by_text.items()}


def _texts(pairs: Sequence[Pair]) -> list[Candidate]:
    """The texts of pairs, each once: an original is in all pairs of its example."""
    by_variant: dict[tuple[str, str], Candidate] = {}
    for pair in pairs:
        for text in (pair.first, pair.second):
            by_variant[text.example, text.variant] = text
    return list(by_variant.values())


def _mean(scores: _Scores, text: Candidate, metrics: Sequence[str]) -> float | None:
    """The mean over metrics; None if one is missing."""
    compared = [scores.get((text.example, text.variant, metric)) for metric in metrics]
    known = [score for score in compared if score is not None]
    return fmean(known) if len(known) == len(compared) else None


def _choice(first: float, second: float) -> Literal[-1, 0, 1]:
    """Which mean is higher; 0 if floating point alone tells them apart, as the order of a sum does."""
    if math.isclose(first, second, rel_tol=4 * sys.float_info.epsilon):
        return 0
    return 1 if first > second else -1
