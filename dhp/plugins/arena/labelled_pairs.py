"""Pairs of outputs, or runs of agents, with a label for the better one and judges' recorded answers."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dhp.core.errors import InputError
from dhp.core.tables import Row, read_table

AnswerForm = Literal["rating", "llmbar", "llmbar-cot", "choice"]
_CHOICES = {"A>>B": "first", "A>B": "first", "A=B": "tie", "B>A": "second", "B>>A": "second"}
"""The verdicts of JudgeBench; A is the output shown first."""


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
    with output 2 shown first, either a `choice` (first, second, tie, or empty for none) or an answer in the
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
        if (name := row.text("id")) in found:
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
    """`first`, `second` or `tie`; empty where no verdict was read."""
    if not row.has(column):
        return ""
    if (verdict := row.text(column)) not in _CHOICES:
        raise row.fault(f"column '{column}' is '{verdict}'; allowed: {', '.join(_CHOICES)}")
    return _CHOICES[verdict]


@dataclass(frozen=True, slots=True)
class FaultyRun:
    """A run of an agent with one fault, and its sound twin."""

    instance: str
    """Task of the agent."""
    kind: str
    """The fault and its `level`: `wrong_tool.silent`."""
    level: str
    """`silent` where the outcome is correct all the same, else `loud`."""
    run: str
    """Id of the faulty run."""
    twin: str
    """Id of the sound run of the same instance."""


def read_faulty_runs(path: Path) -> list[FaultyRun]:
    """The faulty runs that have a sound twin; how many have none is said in a note.

    The table has the columns `trajectory_id, instance_id` and `label`, an object with `faulty` and
    `outcome_correct` (true or false) and `failure_type`. Raises `InputError` for a file of another form, a
    duplicate run, two runs of one instance that are sound or have the same fault, and where no faulty run has
    a sound twin.
    """
    table = read_table(path)
    table.need(["trajectory_id", "instance_id", "label"])
    runs: dict[tuple[str, str], str] = {}
    names: set[str] = set()
    for row in table.rows:
        name, instance, kind = row.text("trajectory_id"), row.text("instance_id"), _kind(row)
        if name in names:
            raise row.fault(f"duplicate run '{name}'")
        if (instance, kind) in runs:
            what = f"with the fault '{kind}'" if kind else "that is sound"
            raise row.fault(f"a second run of '{instance}' {what}; allowed: one")
        names.add(name)
        runs[instance, kind] = name
    faulty = {(instance, kind): name for (instance, kind), name in runs.items() if kind}
    found = [
        FaultyRun(instance, kind, kind.rpartition(".")[2], name, runs[instance, ""])
        for (instance, kind), name in faulty.items()
        if (instance, "") in runs
    ]
    if not found:
        raise InputError(f"{path}: no faulty run has a sound one of the same instance; allowed: one or more")
    if left_out := len(faulty) - len(found):
        logging.getLogger("dhp").warning(
            "%s: left out of %d faulty runs: %d without a sound one of the same instance",
            path,
            len(faulty),
            left_out,
        )
    return found


def read_soundness(paths: Sequence[Path]) -> Mapping[str, Mapping[str, tuple[float | None, str]]]:
    """Judge -> run -> its confidence that the run is sound, in [0, 1], and the status of that rating.

    Tables have the columns `trajectory_id, judge_id, faulty` (true or false), `confidence` (in that verdict,
    0 to 1) and perhaps `error`. Raises `InputError` for a file of another form, and a second verdict of a
    judge on a run.
    """
    found: dict[str, dict[str, tuple[float | None, str]]] = {}
    for path in paths:
        table = read_table(path)
        table.need(["trajectory_id", "judge_id", "faulty", "confidence"])
        for row in table.rows:
            own, run = found.setdefault(row.text("judge_id"), {}), row.text("trajectory_id")
            if run in own:
                raise row.fault(f"a second verdict of {row.text('judge_id')} on '{run}'; allowed: one")
            own[run] = _soundness(row)
    return found


def _kind(row: Row) -> str:
    """The fault with its level; empty for a sound run."""
    if not _flag(row, "label.faulty"):
        return ""
    return f"{row.text('label.failure_type')}.{'silent' if _flag(row, 'label.outcome_correct') else 'loud'}"


def _flag(row: Row, column: str) -> bool:
    value = row.value(column)
    if not isinstance(value, bool):
        raise row.fault(f"'{column}' is {value!r}; allowed: true or false")
    return value


def _soundness(row: Row) -> tuple[float | None, str]:
    if row.has("error"):
        return None, "failed"
    confidence = row.value("confidence")
    if row.value("faulty") is None or confidence is None:
        return None, "unparsed"
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise row.fault(f"column 'confidence' is {confidence!r}; allowed: 0 to 1")
    return (1 - confidence if _flag(row, "faulty") else float(confidence)), "scored"
