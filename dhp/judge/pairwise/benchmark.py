"""Pairwise judges in the benchmark: each degraded text is shown beside its original, in both orders."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby

from dhp.core.records import ORIGINAL, RATING_STATUSES, Candidate, Rating, RatingStatus
from dhp.core.specs import Metric, MetricTexts, Scale, Task
from dhp.judge.api import Judge
from dhp.judge.pairwise.records import OVERALL, Pair, PairVerdict, PairwiseJudge, majorities, two_order_score
from dhp.llm.records import Request

SCALE = Scale(min=-1.0, max=1.0)
"""Scale of a text beside its original: 0 as good as it, -1 worse in both orders, 1 better in both."""

FLIP = "flip"
"""The rule of a rating whose verdicts contradict each other over the two orders."""
_TEXTS = MetricTexts(
    label=OVERALL,
    definition="Which of the two texts is better as a whole.",
    steps=["Compare the two texts as a whole."],
    question="Which of the two texts is better?",
    antonym="worse than the original",
)
_METRIC = Metric(name=OVERALL, scale=SCALE, **_TEXTS.model_dump())


class PairwiseRatings(Judge):
    """A pairwise judge whose verdicts are ratings: an original has 0, a degraded text what it won or lost.

    So the difference of original and degraded text is the two-order score: 1 where both orders prefer the
    original, 0.5 where one does and the other sees a tie, 0 where they tie or contradict each other, and
    below 0 where the degraded text wins.

    Parameters
    ----------
    judge
        Asked in both orders.
    by_metric
        Compare by each metric of the task; else as a whole.
    """

    pairwise = True

    def __init__(self, judge: PairwiseJudge, *, by_metric: bool) -> None:
        self.model = judge.model
        name = judge.protocol if judge.protocol != "none" else "compared"
        self.protocol = f"pairwise:{name}"
        self.settings = {**judge.settings, "by_metric": by_metric}
        self.cached_model = judge.cached_model
        self._judge = judge
        self._by_metric = by_metric

    def own_task(self, task: Task, candidates: Sequence[Candidate] = ()) -> Task:
        """The task with its metrics on the scale from -1 to 1, or with the one of comparing as a whole."""
        if self._by_metric:
            return task.model_copy(
                update={"metrics": [m.model_copy(update={"scale": SCALE}) for m in task.metrics]}
            )
        there = {
            language: texts.model_copy(update={"metrics": {OVERALL: _TEXTS}})
            for language, texts in task.translations.items()
        }
        return task.model_copy(update={"metrics": [_METRIC], "translations": there})

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """A rating of every text and metric; `rule` says how the two verdicts stand to each other."""
        metrics = task.metric_names
        found: dict[tuple[str, str, str], list[PairVerdict]] = defaultdict(list)
        pairs = self._pairs(candidates)
        for candidate in candidates:
            if candidate.variant == ORIGINAL:
                for metric in metrics:
                    yield Rating(candidate.example, ORIGINAL, metric, 0, 0.0)
        asked = 2 * self._judge.samples
        for verdict in self._judge.compare(pairs, task, metrics):
            key = (verdict.pair.second.example, verdict.pair.second.variant, verdict.metric)
            found[key].append(verdict)
            if len(found[key]) == asked and not self._may_go_on(found[key]):
                yield _rating(key, found.pop(key))
        for key, verdicts in found.items():
            yield _rating(key, verdicts)

    def requests(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Request]:
        """What it would ask the language model, without final words."""
        own = self.own_task(task)
        yield from self._judge.requests(self._pairs(candidates), own, own.metric_names)

    def prompts(self, candidate: Candidate, task: Task) -> list[dict[str, str]]:
        """The prompts about one text, which is in both places here."""
        own = self.own_task(task)
        pair = Pair(candidate, candidate)
        requests = list(self._judge.requests([pair], own, own.metric_names))[::2]
        return [
            {"metric": metric, "answer": "both orders", "prompt": request.text}
            for metric, request in zip(own.metric_names, requests, strict=False)
        ]

    def _may_go_on(self, verdicts: Sequence[PairVerdict]) -> bool:
        given, swapped = majorities(verdicts)
        return given is not None and swapped is not None and given * swapped < 0

    @staticmethod
    def _pairs(candidates: Sequence[Candidate]) -> list[Pair]:
        pairs = []
        for _, group in groupby(candidates, key=lambda c: c.example):
            texts = list(group)
            original = next((c for c in texts if c.variant == ORIGINAL), None)
            pairs += [Pair(original, c) for c in texts if original is not None and c is not original]
        return pairs


def _rating(key: tuple[str, str, str], verdicts: Sequence[PairVerdict]) -> Rating:
    given, swapped = majorities(verdicts)
    raw = "\n\n".join(f"({'final, ' if v.final else ''}{v.order}) {v.raw}" for v in verdicts if v.raw) or None
    if (score := two_order_score(verdicts)) is None:
        return Rating(*key, 0, None, _status(verdicts), raw)
    rule = "agree" if given == swapped else "one tie" if 0 in (given, swapped) else FLIP
    return Rating(*key, 0, 0.0 - score, "scored", raw, rule)


def _status(verdicts: Sequence[PairVerdict]) -> RatingStatus:
    """Why there is no score."""
    said = next((v.status for v in verdicts if v.choice is None), "failed")
    return next((status for status in RATING_STATUSES if status == said), "unparsed")
