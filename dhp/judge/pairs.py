"""Two texts that are compared in both orders: what a judge says of them, and the rating that it comes to.

`PairVerdict` is one answer. The answers of one order are one choice (`majority`), both orders together one
score (`two_order_score`), and the score of a text beside its original its rating (`two_order_ratings`).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, get_args

from dhp.core.rating_forms import BESIDE, verdict_rule
from dhp.core.rating_forms import OVERALL as OVERALL
from dhp.core.records import ORIGINAL, Candidate, Rating, RatingStatus
from dhp.core.specs import Metric, MetricTexts, Scale, Task

Order = Literal["given", "swapped"]
"""In which order two texts are shown."""
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
    """1 if the first text of the pair is better, wherever it was shown; -1 the second; 0 a tie; None if
    there is no verdict."""
    status: RatingStatus | Literal["contradictory"] = "scored"
    """`scored` if there is a verdict, else why it is missing."""
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
    counted = [v for v in verdicts if v.final == final]
    as_shown = majority(v.choice for v in counted if v.order == "given")
    return as_shown, majority(v.choice for v in counted if v.order == "swapped")


def contradicting(verdicts: Sequence[PairVerdict]) -> tuple[str, str] | None:
    """One verdict for each order, in the judge's words, if the orders contradict each other; else None."""
    as_shown, swapped = majorities(verdicts)
    if as_shown is None or swapped is None or as_shown * swapped >= 0:
        return None
    one_order, other_order = ORDERS
    in_one = [v.raw or "" for v in verdicts if v.order == one_order and v.choice == as_shown]
    in_other = [v.raw or "" for v in verdicts if v.order == other_order and v.choice == swapped]
    return in_one[0], in_other[0]


def two_order_score(verdicts: Sequence[PairVerdict]) -> float | None:
    """1 if both orders prefer the first text, 0.5 if one does and the other ties, down to -1.

    If the orders contradict each other, the final words count; without any the score is 0. An order in which
    the judge gave no verdict is a tie; None if neither has one, or all calls of an order failed.
    """
    as_shown, swapped = majorities(verdicts)
    if (as_shown is None and swapped is None) or _order_failed(verdicts):
        return None
    first, second = as_shown or 0, swapped or 0
    if first * second < 0:
        final_first, final_second = majorities(verdicts, final=True)
        if final_first is None or final_second is None:
            return 0.0
        first, second = final_first, final_second
    return (first + second) / 2


def _order_failed(verdicts: Sequence[PairVerdict]) -> bool:
    """Whether an order got no answer at all, which says nothing of the judge."""
    answered = {v.order for v in verdicts if v.status != "failed" and not v.final}  # an unread answer is one
    return not answered.issuperset(ORDERS)


def majority(choices: Iterable[int | None]) -> int | None:
    """The sign of the sum of several answers; None if none can be read."""
    read = [choice for choice in choices if choice is not None]
    if not read:
        return None
    total = sum(read)
    if total == 0:
        return 0
    return 1 if total > 0 else -1


def comparing_task(task: Task, *, by_metric: bool) -> Task:
    """The task with its metrics on the scale from -1 to 1, or with the one of comparing as a whole."""
    if by_metric:
        metrics = [m.model_copy(update={"scale": SCALE}) for m in task.metrics]
        return task.model_copy(update={"metrics": metrics})
    compared = {}
    for language, texts in task.translations.items():
        compared[language] = texts.model_copy(update={"metrics": {OVERALL: _TEXTS}})
    return task.model_copy(update={"metrics": [_METRIC], "translations": compared})


def beside_originals(candidates: Sequence[Candidate]) -> list[Pair]:
    """Each degraded text behind its original; texts of one example follow one another."""
    pairs = []
    for _, group in groupby(candidates, key=lambda c: c.example):
        texts = list(group)
        originals = [c for c in texts if c.variant == ORIGINAL]
        if originals:
            original = originals[0]
            pairs += [Pair(original, c) for c in texts if c is not original]
    return pairs


def two_order_ratings(
    candidates: Sequence[Candidate], task: Task, verdicts: Iterable[PairVerdict], answers: int
) -> Iterator[Rating]:
    """A rating of every text and metric, by the verdicts on pairs as `beside_originals` makes them.

    An original has 0, a degraded text the opposite of the two-order score of its pair, and the rule says how
    the two orders stand to each other. A pair has so many `answers` in each order; its rating comes with the
    last of them, or, as final words may follow, at the end.
    """
    for candidate in candidates:
        if candidate.variant == ORIGINAL:
            for metric in task.metric_names:
                yield Rating(candidate.example, ORIGINAL, metric, 0, 0.0, rule=BESIDE)
    by_text: dict[tuple[str, str, str], list[PairVerdict]] = defaultdict(list)
    for verdict in verdicts:
        key = (verdict.pair.second.example, verdict.pair.second.variant, verdict.metric)
        by_text[key].append(verdict)
        if len(by_text[key]) == 2 * answers and not contradicting(by_text[key]):
            yield _rating(key, by_text.pop(key))
    for key, each in by_text.items():
        yield _rating(key, each)


def _rating(key: tuple[str, str, str], verdicts: Sequence[PairVerdict]) -> Rating:
    """The rating of a degraded text by the verdicts on its pair; `key` is (example, variant, metric)."""
    # Answers come in any order; words, and the reason for no score, must not depend on it.
    ordered = sorted(verdicts, key=lambda v: (v.final, v.order, v.sample))
    as_shown, swapped = majorities(ordered)
    answers = []
    for verdict in ordered:
        if verdict.raw:
            name = f"final, {verdict.order}" if verdict.final else verdict.order
            answers.append(f"({name}) {verdict.raw}")
    raw = "\n\n".join(answers) or None
    score = two_order_score(ordered)
    if score is None:
        reasons = [v.rule for v in ordered if v.choice is None and v.rule]
        return Rating(*key, 0, None, _status(ordered), raw, reasons[0] if reasons else None)
    # The score is of the original, which comes first in the pair; 0 less 0 is no -0.0, as -score would be.
    return Rating(*key, 0, 0.0 - score, "scored", raw, verdict_rule(as_shown, swapped))


def _status(verdicts: Sequence[PairVerdict]) -> RatingStatus:
    """Why there is no score."""
    if _order_failed(verdicts):
        return "failed"
    statuses = [v.status for v in verdicts if v.choice is None]
    reason = statuses[0] if statuses else "failed"
    return "unparsed" if reason == "contradictory" else reason  # no status of a rating
