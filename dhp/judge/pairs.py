"""Judges that compare two texts, and what they say of a pair."""

import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean
from typing import TYPE_CHECKING, Literal, get_args

from dhp.core.recorded import OVERALL as OVERALL
from dhp.core.recorded import verdict_rule
from dhp.core.records import ORIGINAL, RATING_STATUSES, Candidate, Rating, RatingStatus
from dhp.core.specs import Metric, MetricTexts, Scale, Task
from dhp.judge.api import Judge
from dhp.judge.ratings import checked_ratings

if TYPE_CHECKING:
    from dhp.llm.records import Request

Order = Literal["given", "swapped"]
ORDERS: tuple[Order, ...] = get_args(Order)
"""`given` shows the first text of the pair first, `swapped` the second."""

SCALE = Scale(min=-1.0, max=1.0)
"""Scale of a text beside its original: 0 as good as it, -1 worse in both orders, 1 better in both."""
_TEXTS = MetricTexts(
    label=OVERALL,
    definition="Which of the two texts is better as a whole.",
    steps=["Compare the two texts as a whole."],
    question="Which of the two texts is better?",
    antonym="worse than the original",
)
_METRIC = Metric(name=OVERALL, scale=SCALE, **_TEXTS.model_dump())


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts on the same source; `example` is the same in both."""

    first: Candidate
    second: Candidate
    category: str = ""
    """Category of the example; empty if examples have none."""

    @property
    def swapped(self) -> "Pair":
        """The same texts the other way round."""
        return Pair(self.second, self.first, self.category)


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """One answer about a pair in one order."""

    pair: Pair
    metric: str
    """A metric of the task, or `OVERALL`."""
    order: Order
    sample: int
    choice: int | None
    """1 where the first text of the pair is better, wherever it was shown; -1 the second; 0 a tie; None if
    there is no verdict."""
    status: RatingStatus | Literal["contradictory"] = "scored"
    """`scored` where there is a verdict, else why there is none."""
    scores: tuple[float, float] | None = None
    """Scores of the first and the second text with `two-scores`, probabilities of their letters with
    `prob`."""
    raw: str | None = None
    """The judge's own words."""
    rule: str | None = None
    """Rule that read the verdict."""
    final: bool = False
    """Whether it is a final word on contradicting verdicts."""


def majorities(verdicts: Sequence[PairVerdict], *, final: bool = False) -> tuple[int | None, int | None]:
    """What the answers in each order, given and swapped, say together; final words only if `final`."""
    as_shown, swapped = (
        majority(v.choice for v in verdicts if v.order == order and v.final == final) for order in ORDERS
    )
    return as_shown, swapped


def contradicting(verdicts: Sequence[PairVerdict]) -> tuple[str, str] | None:
    """One verdict for each order, in the judge's words, where the orders contradict each other; else None."""
    as_shown, swapped = majorities(verdicts)
    if as_shown is None or swapped is None or as_shown * swapped >= 0:
        return None
    first, second = (
        next(v.raw or "" for v in verdicts if (v.order, v.choice) == each)
        for each in zip(ORDERS, (as_shown, swapped), strict=True)
    )
    return first, second


def two_order_score(verdicts: Sequence[PairVerdict]) -> float | None:
    """1 where both orders prefer the first text, 0.5 where one does and the other ties, down to -1.

    Where the orders contradict each other that of the final words, 0 without; None without a verdict.
    """
    as_shown, swapped = majorities(verdicts)
    if as_shown is None or swapped is None:
        return None
    if as_shown * swapped < 0:
        as_shown, swapped = majorities(verdicts, final=True)
    return 0.0 if as_shown is None or swapped is None else (as_shown + swapped) / 2


def majority(choices: Iterable[int | None]) -> int | None:
    """The sign of the sum of several answers; None if none can be read."""
    read = [choice for choice in choices if choice is not None]
    total = sum(read)
    return None if not read else (total > 0) - (total < 0)


class PairwiseJudge(Judge):
    """A model, or any other judge, that compares two texts. Subclasses override `compare`.

    In the benchmark it compares each degraded text with its original: an original has the rating 0, a
    degraded text what it won or lost. So the difference of original and degraded text is the two-order score:
    1 where both orders prefer the original, 0.5 where one does and the other sees a tie, 0 where they tie or
    contradict each other, and below 0 where the degraded text wins.
    """

    pairwise = True
    answers: int = 1
    """Answers in each order; the majority counts."""
    by_metric: bool = False
    """Whether texts are compared with their originals by each metric of the task; else as a whole."""

    def compare(
        self, pairs: Sequence[Pair], task: Task, metrics: Sequence[str] = (OVERALL,)
    ) -> Iterator[PairVerdict]:
        """Verdicts on every pair by every metric: `answers` in each order, in any sequence.

        Final words, where the protocol has them, come on top.
        """
        raise NotImplementedError

    def pair_requests(
        self, pairs: Sequence[Pair], task: Task, metrics: Sequence[str] = (OVERALL,)
    ) -> Iterable["Request"]:
        """What it would ask the language model, without final words."""
        return ()

    def for_benchmark(self, *, by_metric: bool) -> "PairwiseJudge":
        """The same judge with the names and settings that it has in the benchmark."""
        judge = copy(self)
        judge.by_metric = by_metric
        judge.protocol = f"pairwise:{self.protocol if self.protocol != 'none' else 'compared'}"
        judge.settings = {**self.settings, "by_metric": by_metric}
        return judge

    def own_task(self, task: Task, candidates: Sequence[Candidate] = ()) -> Task:
        """The task with its metrics on the scale from -1 to 1, or with the one of comparing as a whole."""
        if self.by_metric:
            metrics = [m.model_copy(update={"scale": SCALE}) for m in task.metrics]
            return task.model_copy(update={"metrics": metrics})
        compared = {
            language: texts.model_copy(update={"metrics": {OVERALL: _TEXTS}})
            for language, texts in task.translations.items()
        }
        return task.model_copy(update={"metrics": [_METRIC], "translations": compared})

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """A rating of every text and metric; `rule` says how the two verdicts stand to each other."""
        by_text: dict[tuple[str, str, str], list[PairVerdict]] = defaultdict(list)
        for candidate in candidates:
            if candidate.variant == ORIGINAL:
                for metric in task.metric_names:
                    yield Rating(candidate.example, ORIGINAL, metric, 0, 0.0)
        for verdict in self.compare(_pairs(candidates), task, task.metric_names):
            key = (verdict.pair.second.example, verdict.pair.second.variant, verdict.metric)
            by_text[key].append(verdict)
            if len(by_text[key]) == 2 * self.answers and not contradicting(by_text[key]):
                yield _rating(key, by_text.pop(key))
        for key, verdicts in by_text.items():
            yield _rating(key, verdicts)

    def requests(self, candidates: Sequence[Candidate], task: Task) -> Iterable["Request"]:
        """What it would ask the language model, without final words."""
        task_of_judge = self.own_task(task)
        return self.pair_requests(_pairs(candidates), task_of_judge, task_of_judge.metric_names)

    def prompts(self, candidate: Candidate, task: Task) -> list[dict[str, str]]:
        """The prompts about one text, which is in both places here."""
        task_of_judge = self.own_task(task)
        requests = list(
            self.pair_requests([Pair(candidate, candidate)], task_of_judge, task_of_judge.metric_names)
        )[::2]
        return [
            {"metric": metric, "answer": "both orders", "prompt": request.text}
            for metric, request in zip(task_of_judge.metric_names, requests, strict=False)
        ]


def _pairs(candidates: Sequence[Candidate]) -> list[Pair]:
    """Each degraded text behind its original."""
    pairs = []
    for _, group in groupby(candidates, key=lambda c: c.example):
        texts = list(group)
        original = next((c for c in texts if c.variant == ORIGINAL), None)
        pairs += [Pair(original, c) for c in texts if original is not None and c is not original]
    return pairs


def _rating(key: tuple[str, str, str], verdicts: Sequence[PairVerdict]) -> Rating:
    as_shown, swapped = majorities(verdicts)
    raw = "\n\n".join(f"({'final, ' if v.final else ''}{v.order}) {v.raw}" for v in verdicts if v.raw) or None
    if (score := two_order_score(verdicts)) is None:
        return Rating(*key, 0, None, _status(verdicts), raw)
    return Rating(*key, 0, 0.0 - score, "scored", raw, verdict_rule(as_shown or 0, swapped or 0))


def _status(verdicts: Sequence[PairVerdict]) -> RatingStatus:
    """Why there is no score."""
    reason = next((v.status for v in verdicts if v.choice is None), "failed")
    return next((status for status in RATING_STATUSES if status == reason), "unparsed")


class ComparedRatings(PairwiseJudge):
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
        task_of_judge = self._judge.own_task(task)
        texts = {(c.example, c.variant): c for pair in pairs for c in (pair.first, pair.second)}
        scores = self._scores(list(texts.values()), task_of_judge)
        for pair in pairs:
            for metric in metrics:
                by = task_of_judge.metric_names if metric == OVERALL else (metric,)
                first, second = (_mean(scores, text, by) for text in (pair.first, pair.second))
                both = None if first is None or second is None else (first, second)
                choice = None if both is None else _choice(*both)
                for order in ORDERS:
                    yield PairVerdict(pair, metric, order, 0, choice, "scored" if both else "failed", both)

    def _scores(self, texts: Sequence[Candidate], task: Task) -> "_Scores":
        self._judge.prepare(texts, task)
        by_text: dict[tuple[str, str, str], list[float]] = defaultdict(list)
        for rating in checked_ratings(self._judge, texts, task):
            if rating.score is not None:
                by_text[rating.example, rating.variant, rating.metric].append(rating.score)
        return {key: fmean(scores) for key, scores in by_text.items()}


_Scores = Mapping[tuple[str, str, str], float]
"""(example, variant, metric) -> mean score."""


def _mean(scores: _Scores, text: Candidate, metrics: Sequence[str]) -> float | None:
    """The mean over metrics; None if one is missing."""
    compared = [scores.get((text.example, text.variant, metric)) for metric in metrics]
    known = [score for score in compared if score is not None]
    return fmean(known) if len(known) == len(compared) else None


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
