"""Published verdicts of judges on labelled pairs: accuracy in each order, position bias, detection and D."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from dhp.core.errors import InputError
from dhp.core.reasoning import without_reasoning
from dhp.core.specs import Scale
from dhp.core.tables import Row, read_table
from dhp.judge.extraction.rating import read_rating
from dhp.plugins.arena.statistics import PairFigures, PairOutcome, pair_figures
from dhp.stats.influences import mean_influences, student_interval
from dhp.stats.wilcoxon import signed_rank

AnswerForm = Literal["rating", "llmbar", "llmbar-cot", "choice"]
_CHOICES = {"A>>B": 1, "A>B": 1, "A=B": 0, "B>A": -1, "B>>A": -1}
"""Verdict of JudgeBench -> 1 where the output shown first wins, A, -1 for the second, 0 for a tie."""


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A pair of outputs and which of them is better."""

    id: str
    subset: str
    """Kind of the pair."""
    label: int
    """Number of the better output, 1 or 2."""


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """What a judge answered about one pair."""

    id: str
    model: str
    protocol: str
    form: AnswerForm
    """What `answers` are: a `rating` of output 1 and one of output 2; else verdicts on the pair as given and
    with output 2 shown first, either a `choice` (as JudgeBench has it, or empty for none) or an answer in the
    words of LLMBar's protocols, without or with a reason before it."""
    answers: tuple[str, str]
    place: str
    """File and line of the answer."""


def read_llmbar_pairs(path: Path) -> dict[str, LabelledPair]:
    """Id -> pair, from a table with the columns `id, subset, label`.

    Raises `InputError` for a file of another form, a label other than 1 or 2, and a duplicate id.
    """
    table = read_table(path)
    table.need(["id", "subset", "label"])
    found: dict[str, LabelledPair] = {}
    for row in table.rows:
        if row.text("label") not in ("1", "2"):
            raise row.fault(f"column 'label' is '{row.text('label')}'; allowed: 1 or 2")
        name = row.text("id")
        if name in found:
            raise row.fault(f"duplicate id '{name}'")
        found[name] = LabelledPair(name, row.text("subset"), int(row.text("label")))
    return found


def read_llmbar_answers(paths: Sequence[Path], pairs: Mapping[str, LabelledPair]) -> list[RecordedAnswer]:
    """Answers: `id, model, protocol` and either `answer_as_given, answer_swapped` or `score_1, score_2`.

    Raises `InputError` for a file of another form, an id that is not a pair, and a duplicate answer.
    """
    return _once(_llmbar_answers(paths, pairs))


def read_judgebench_verdicts(paths: Sequence[Path]) -> tuple[list[RecordedAnswer], dict[str, LabelledPair]]:
    """Verdicts on the pairs of JudgeBench, and the pairs: id -> pair.

    Tables have the columns `pair_id, kind, judge, better` (A or B) and `verdict_as_given, verdict_swapped`:
    A>>B, A>B, A=B, B>A, B>>A, where A is the output shown first, or nothing where no verdict was read. In
    `verdict_swapped` output B was shown first. Raises `InputError` for a file of another form, a pair with
    another kind or label than before, and a second verdict of a judge on a pair.
    """
    pairs: dict[str, LabelledPair] = {}
    return _once(_judgebench_verdicts(paths, pairs)), pairs


def _once(answers: Iterator[RecordedAnswer]) -> list[RecordedAnswer]:
    found: dict[tuple[str, str, str], RecordedAnswer] = {}
    for answer in answers:
        key = (answer.id, answer.model, answer.protocol)
        if key in found:
            raise InputError(
                f"{answer.place}: a second answer of {key[1]}, {key[2]}, about '{key[0]}'; allowed: one"
            )
        found[key] = answer
    return list(found.values())


def _llmbar_answers(paths: Sequence[Path], pairs: Mapping[str, LabelledPair]) -> Iterator[RecordedAnswer]:
    for path in paths:
        table = read_table(path)
        table.need(["id", "model", "protocol"])
        for row in table.rows:
            answer = _llmbar_answer(row)
            if answer.id not in pairs:
                raise row.fault(
                    f"id '{answer.id}' is not one of the {len(pairs)} pairs; allowed: those of `pairs`"
                )
            yield answer


def _llmbar_answer(row: Row) -> RecordedAnswer:
    columns = (("answer_as_given", "answer_swapped"), ("score_1", "score_2"))
    for pointwise, (one, two) in enumerate(columns):
        texts = [row.value(one), row.value(two)]
        if all(isinstance(text, str | int | float) for text in texts):
            model, protocol = row.text("model"), row.text("protocol")
            reasoned = any(word in protocol for word in ("CoT", "Swap"))
            form: AnswerForm = "rating" if pointwise else "llmbar-cot" if reasoned else "llmbar"
            said = (str(texts[0]), str(texts[1]))
            return RecordedAnswer(row.text("id"), model, protocol, form, said, row.place)
    raise InputError(f"{row.place}: holds no answers; allowed: {' or '.join(map(' and '.join, columns))}")


def _judgebench_verdicts(paths: Sequence[Path], pairs: dict[str, LabelledPair]) -> Iterator[RecordedAnswer]:
    for path in paths:
        table = read_table(path)
        table.need(["pair_id", "kind", "judge", "better", "verdict_as_given", "verdict_swapped"])
        for row in table.rows:
            if row.text("better") not in ("A", "B"):
                raise row.fault(f"column 'better' is '{row.text('better')}'; allowed: A or B")
            name = row.text("pair_id")
            pair = LabelledPair(name, row.text("kind"), 1 if row.text("better") == "A" else 2)
            if pairs.setdefault(name, pair) != pair:
                raise row.fault(f"pair '{name}' has another kind or label than before; allowed: the same")
            said = (_choice(row, "verdict_as_given"), _choice(row, "verdict_swapped"))
            yield RecordedAnswer(name, row.text("judge"), "none", "choice", said, row.place)


def _choice(row: Row, column: str) -> str:
    """The verdict; empty where none was read."""
    if not row.has(column):
        return ""
    verdict = row.text(column)
    if verdict not in _CHOICES:
        raise row.fault(f"column '{column}' is '{verdict}'; allowed: {', '.join(_CHOICES)}")
    return verdict


_SCALE = Scale(min=0.0, max=10.0)
"""Scale of recorded ratings: 1 to 10 was asked for, and some are 0."""
_VERDICTS = {
    "llmbar": r"(?:^|\n) ?Output \(%s\)",
    "llmbar-cot": r"(?:^|\n) ?Output \(%s\)$|Output \(%s\) is better",
}


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


_PREFERRED = {1: "original", 0: "tie", -1: "degraded", None: None}


def verdict_table(
    answers: Iterable[RecordedAnswer], labels: Mapping[str, LabelledPair], dataset: str
) -> pd.DataFrame:
    """The verdicts on outputs that were shown together, as `dhp battle --recorded` reads them."""
    rows = []
    for answer in answers:
        if answer.form == "rating":
            continue
        label = labels[answer.id]
        outcome = _outcome(answer, label)
        orders = (outcome.as_given, outcome.swapped)
        first, second = orders if label.label == 1 else orders[::-1]
        about = (answer.model, answer.protocol, dataset, answer.id, label.subset)
        rows.append((*about, _PREFERRED[first], _PREFERRED[second]))
    names = ["model", "protocol", "dataset", "example", "variant", "original_first", "original_second"]
    return pd.DataFrame(rows, columns=names)


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
    interval = None
    if len(differences) > 1:
        low, high = student_interval(mean_influences(differences.tolist()))
        interval = float(low), float(high)
    return ComparedWays(
        cell.protocol,
        twin.protocol,
        cell.subset,
        len(both),
        (float(own.mean()), float(other.mean())),
        float(differences.mean()),
        interval,
        math.exp(signed_rank(differences, "sign-flip", "two-sided")) if both else 1.0,
    )
