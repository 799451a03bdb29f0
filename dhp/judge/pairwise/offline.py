"""Pairwise judges that ask no language model: pointwise judges whose ratings are compared, and a mock."""

import math
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Literal

from dhp.core.records import Candidate
from dhp.core.specs import Task
from dhp.judge.api import Judge
from dhp.judge.check import checked_ratings
from dhp.judge.pairwise.records import ORDERS, OVERALL, Pair, PairVerdict, PairwiseJudge, VerdictStatus

Scores = Mapping[tuple[str, str, str], float]
"""(example, variant, metric) -> mean score."""


class RatingsCompared(PairwiseJudge):
    """A pointwise judge: the text that it rates higher is better, in either order.

    As a whole that is the mean over the metrics. Texts of one example differ by their variants.
    """

    def __init__(self, judge: Judge) -> None:
        self.model = judge.model
        self.protocol = judge.protocol
        self.settings = judge.settings
        self._judge = judge

    def compare(
        self, pairs: Sequence[Pair], task: Task, metrics: Sequence[str] = (OVERALL,)
    ) -> Iterator[PairVerdict]:
        """One verdict on every pair by every metric in each order, both the same."""
        own = self._judge.own_task(task)
        texts = {(c.example, c.variant): c for pair in pairs for c in (pair.first, pair.second)}
        scores = self._scores(list(texts.values()), own)
        for pair in pairs:
            for metric in metrics:
                by = own.metric_names if metric == OVERALL else (metric,)
                first, second = (_mean(scores, text, by) for text in (pair.first, pair.second))
                both = None if first is None or second is None else (first, second)
                choice = None if both is None else _choice(*both)
                status: VerdictStatus = "failed" if both is None else "scored"
                for order in ORDERS:
                    yield PairVerdict(pair, metric, order, 0, choice, status, both)

    def _scores(self, texts: Sequence[Candidate], task: Task) -> Scores:
        self._judge.prepare(texts, task)
        found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
        for rating in checked_ratings(self._judge, texts, task):
            if rating.score is not None:
                found[rating.example, rating.variant, rating.metric].append(rating.score)
        return {key: fmean(scores) for key, scores in found.items()}


def _mean(scores: Scores, text: Candidate, metrics: Sequence[str]) -> float | None:
    """The mean over metrics; None where one is missing."""
    found = [scores.get((text.example, text.variant, metric)) for metric in metrics]
    known = [score for score in found if score is not None]
    return fmean(known) if len(known) == len(found) else None


def _choice(first: float, second: float) -> Literal[-1, 0, 1]:
    """Which mean is higher; 0 where floating point alone tells them apart."""
    if math.isclose(first, second, rel_tol=4 * sys.float_info.epsilon):
        return 0
    return 1 if first > second else -1


class AlwaysFirst(PairwiseJudge):
    """Says that the text shown first is better, whatever it is."""

    model = "mock/first"
    protocol = "none"

    def compare(
        self, pairs: Sequence[Pair], task: Task, metrics: Sequence[str] = (OVERALL,)
    ) -> Iterator[PairVerdict]:
        """One verdict on every pair by every metric in each order."""
        for pair in pairs:
            for metric in metrics:
                for order in ORDERS:
                    yield PairVerdict(pair, metric, order, 0, 1 if order == "given" else -1)
