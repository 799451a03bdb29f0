"""Recorded verdicts of judges on labelled pairs: accuracy in each order, position bias, detection and D."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dhp.core.specs import Scale
from dhp.core.text import without_reasoning
from dhp.judge.extraction.rating import read_rating
from dhp.plugins.arena.evaluation import mean_interval
from dhp.plugins.arena.labelled_pairs import AnswerForm, LabelledPair, RecordedAnswer
from dhp.plugins.arena.statistics import PairFigures, PairOutcome, pair_figures, sign_flip_log_p

_SCALE = Scale(min=0.0, max=10.0)
"""Scale of recorded ratings: 1 to 10 was asked for, and some are 0."""
_VERDICTS = {
    "llmbar": r"(?:^|\n) ?Output \(%s\)",
    "llmbar-cot": r"(?:^|\n) ?Output \(%s\)$|Output \(%s\) is better",
}
_CHOICES = {"first": 1, "second": -1, "tie": 0}


@dataclass(frozen=True, slots=True)
class RecordedCell:
    """One judge under one protocol on one subset."""

    model: str
    protocol: str
    subset: str
    pointwise: bool
    n: int
    """Number of pairs."""
    correct: tuple[int, int]
    """Pairs in which the better output was chosen, as given and swapped."""
    correct_both: int
    same: int
    """Pairs with the same verdict in both orders."""
    figures: PairFigures
    """Figures of the better output against the other one."""
    scores: Mapping[str, float]
    """Pair -> two-order score, where both orders have a verdict."""

    @property
    def correct_together(self) -> int:
        """Pairs in which the two verdicts together favour the better output: one may be a tie."""
        return self.figures.wins

    def to_dict(self) -> dict[str, object]:
        """The result as `--json` prints it; shares are in [0, 1]."""
        bias = self.figures.bias
        return {
            "model": self.model,
            "protocol": self.protocol,
            "subset": self.subset,
            "n": self.n,
            "n_invalid": self.figures.invalid,
            "correct_as_given": self.correct[0] / self.n,
            "correct_swapped": self.correct[1] / self.n,
            "correct_both": self.correct_both / self.n,
            "correct_together": self.correct_together / self.n,
            "same_verdict": self.same / self.n,
            "position_bias": None if bias is None else bias.share,
            "detection": self.figures.win_rate.value,
            "d": self.figures.d,
        }


def recorded_cells(
    answers: Iterable[RecordedAnswer], labels: Mapping[str, LabelledPair]
) -> list[RecordedCell]:
    """The figures of each model, protocol and subset, in the order of first occurrence.

    Answers in LLMBar's words are read as its authors did (Zeng et al. 2024): the first output if the answer
    names it anywhere in the form asked for, else the second, else none, which is wrong. Of two ratings the
    higher one wins; of equal ones the output shown second, and where one cannot be read the output shown
    first.
    """
    cells: dict[tuple[str, str, str], list[RecordedAnswer]] = defaultdict(list)
    for answer in answers:
        cells[answer.model, answer.protocol, labels[answer.id].subset].append(answer)
    return [_cell(*key, cell, labels) for key, cell in cells.items()]


def _cell(
    model: str,
    protocol: str,
    subset: str,
    answers: Sequence[RecordedAnswer],
    labels: Mapping[str, LabelledPair],
) -> RecordedCell:
    outcomes = [_outcome(answer, labels[answer.id]) for answer in answers]
    given, swapped = ([o.as_given == 1 for o in outcomes], [o.swapped == 1 for o in outcomes])
    return RecordedCell(
        model,
        protocol,
        subset,
        answers[0].form == "rating",
        len(outcomes),
        (sum(given), sum(swapped)),
        sum(a and b for a, b in zip(given, swapped, strict=True)),
        sum(o.as_given == o.swapped for o in outcomes),
        pair_figures(outcomes),
        {o.example: o.score for o in outcomes if o.score is not None},
    )


def _outcome(answer: RecordedAnswer, label: LabelledPair) -> PairOutcome:
    """The outcome for the better output; in `swapped` output 2 was shown first."""
    given, swapped = _places(answer)
    first = 1 if label.label == 1 else -1
    a = None if given is None else first * given
    b = None if swapped is None else -first * swapped
    score = None if a is None or b is None else (a + b) / 2
    return PairOutcome(answer.id, label.subset, a, b, score, None if score is not None else "unparsed")


def _places(answer: RecordedAnswer) -> tuple[int | None, int | None]:
    """Which text wins in each order: 1 the one shown first, -1 the second, 0 a tie; None for no verdict."""
    one, two = answer.answers
    if answer.form == "choice":
        return _CHOICES.get(one), _CHOICES.get(two)
    if answer.form == "rating":
        first, second = (read_rating(text, _SCALE, "score-only").score for text in (one, two))
        return llmbar_choice(first, second), llmbar_choice(second, first)
    return _read_by_llmbar(one, answer.form), _read_by_llmbar(two, answer.form)


def _read_by_llmbar(answer: str, form: AnswerForm) -> int | None:
    """The first text if it is named at all, wherever and whatever is said of the second; None for no verdict.

    So the authors of LLMBar read answers (Zeng et al. 2024, ICLR).
    """
    words = without_reasoning(answer)
    if words is None:
        return None
    pattern = _VERDICTS[form]
    places = (("a", 1), ("b", -1))
    return next((p for letter, p in places if re.search(pattern.replace("%s", letter), words)), None)


def llmbar_choice(first: float | None, second: float | None) -> int:
    """The better of two texts by their ratings, in the order shown, as the authors of LLMBar decide it.

    Of equal ratings the second text, and the first where a rating is missing: never a tie.
    """
    return 1 if first is None or second is None or first > second else -1


@dataclass(frozen=True, slots=True)
class ComparedWays:
    """A pairwise protocol against a pointwise one of the same model on the same pairs."""

    pairwise: str
    pointwise: str
    subset: str
    n: int
    detections: tuple[float, float]
    """Detection of the pairwise and of the pointwise protocol."""
    difference: float
    ci: tuple[float, float] | None
    """95 % confidence interval by Student's t over pairs; None with fewer than two."""
    p: float
    """Two-sided exact sign-flip test."""


def compared_ways(cells: Sequence[RecordedCell]) -> list[ComparedWays]:
    """Every pairwise protocol against the pointwise one of the same name, `Rating` for `Vanilla`.

    `Rating_X` has the same rules and helps as the pairwise protocol `X`; other protocols have no counterpart.
    """
    names = {c.protocol for c in cells if c.pointwise}
    found = []
    for cell in cells:
        name = f"Rating_{cell.protocol.removeprefix('Vanilla').strip('_')}".strip("_")
        twin = next((c for c in cells if (c.protocol, c.subset) == (name, cell.subset)), None)
        if not cell.pointwise and name in names and twin is not None:
            found.append(_compared(cell, twin))
    return found


def _compared(cell: RecordedCell, twin: RecordedCell) -> ComparedWays:
    both = [pair for pair in cell.scores if pair in twin.scores]
    own = np.array([(np.sign(cell.scores[p]) + 1) / 2 for p in both])
    other = np.array([(np.sign(twin.scores[p]) + 1) / 2 for p in both])
    differences = own - other
    log_p = min(sign_flip_log_p(differences), sign_flip_log_p(-differences))
    return ComparedWays(
        cell.protocol,
        twin.protocol,
        cell.subset,
        len(both),
        (float(own.mean()), float(other.mean())),
        float(differences.mean()),
        mean_interval(differences.tolist()),
        min(1.0, 2 * math.exp(log_p)),
    )
