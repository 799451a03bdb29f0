"""Requests to decision models: a text with typed questions about it, one for each metric, as JSON.

`QuestionPrompts` writes a request: the texts, called the state, and the questions, which are made of the
wording of a protocol or are the user's own (`judge.question_files`). `question_of` makes a question of a
metric, and `level_words` the words of its levels.

A prompt has the keys `state`, the texts by name, and `questions`, metric -> question. Questions have the form
of `POST /v1/systemone` (System One): `type` is `score` with ordered levels, `noul` for true or false, or
`choice`. How it is sent, and in which form, is up to the client.
"""

import json
import logging
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from dhp.core.answer_forms import AnswerForm
from dhp.core.errors import InputError
from dhp.core.protocol_spec import Protocol, Wording
from dhp.core.records import Candidate
from dhp.core.slots import fill
from dhp.core.specs import Metric, Scale, Task
from dhp.judge.pairs import OVERALL
from dhp.judge.prompt_parts import fixed_slots, reference_of, written_ends

OPENING = '{"state": '
"""How every such prompt begins; a client tells by it that it is no prose."""
BETTER = "better"
"""Name of the question which of two texts is better."""
MOST_LEVELS = 10
"""Levels of a question that is answered on a scale: the most that servers take."""
_TEXTS = ("task", "source", "reference", "output", "first", "second")
"""Names in the state that are no fields of the example."""
_NAMED = re.compile(r"`([^`]+)`")
"""A text of the state, as questions name it: `` `reference` ``."""

Question = Mapping[str, object]
"""A question as it is sent: `type`, `instructions` and `criteria`."""


def keyed(entries: object, key: str) -> dict[str, Mapping[str, Any]]:
    """The objects of a list by one of their keys; what is no list, or no object, is left out.

    OpenAI's form has a list where that of System One has an object by name.
    """
    by_key: dict[str, Mapping[str, Any]] = {}
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            by_key[str(entry.get(key))] = entry
    return by_key


class QuestionPrompts:
    """Writes the requests of a protocol for decision models.

    The source comes first in the state, so that caches of prefixes hold.
    """

    system = ""

    def __init__(
        self,
        protocol: Protocol,
        wording: Wording,
        task: Task,
        *,
        steps: Mapping[str, Sequence[str]] | None = None,
        questions: Mapping[str, Question] | None = None,
    ) -> None:
        """`task` is in the protocol's language; `steps` (metric -> steps) replace the written ones,
        `questions` (metric -> question) all that the wording makes.

        The user's own questions may name further texts of the data, in backticks, which are shown as well.

        Raises `InputError` for a field of the task with the name of another text.
        """
        taken = [name for name in task.shown_fields if name in _TEXTS]
        if taken:
            raise InputError(f"field '{taken[0]}': is another text's name in questions; name it otherwise")
        self._protocol, self._wording, self._task = protocol, wording, task
        self._steps = {m.name: m.steps for m in task.metrics} if steps is None else steps
        self._metrics = {metric.name: metric for metric in task.metrics}
        self._pairwise = cache(self._preference)
        if not protocol.pairwise:
            asked = questions or {metric.name: self._question(metric) for metric in task.metrics}
            in_order = {name: asked[name] for name in task.metric_names}
            self._questions = json.dumps(in_order, ensure_ascii=False)  # the same for all texts
        self._own = questions is not None
        # Further texts of the data that questions of the user's own name, each once.
        known = {"reference", *task.columns.values()} - {"source", "output"}
        named = _NAMED.findall(self._questions) if questions else ()
        self._named = [name for name in dict.fromkeys(named) if name in known]

    def prompt(
        self,
        candidate: Candidate,
        metric: str,
        form: AnswerForm,
        other: Candidate | None = None,
        verdicts: Sequence[str] = (),
    ) -> str:
        """The request about one text, on all metrics, or about two in this order, by one.

        Raises `InputError` if the protocol shows a reference and the candidate has none, or lacks a text that
        questions of the user's own name.
        """
        state = {"task": self._task.instruction}
        if self._task.source_label or (self._own and candidate.source):
            state["source"] = candidate.source
        for name in self._task.shown_fields:
            if name in candidate.fields:
                state[name] = candidate.fields[name]
        if self._protocol.reference:
            state["reference"] = reference_of(candidate)
        beside = {**candidate.fields, "reference": candidate.reference}
        for name in self._named:
            text = beside.get(name)
            if text is None:
                raise InputError(f"example '{candidate.example}': has no '{name}', which the questions name")
            state[name] = text
        if other is None:
            state["output"] = candidate.text
        else:
            state |= {"first": candidate.text, "second": other.text}
        questions = self._questions if other is None else self._pairwise(metric)
        return f'{OPENING}{json.dumps(state, ensure_ascii=False)}, "questions": {questions}}}'

    def _question(self, metric: Metric) -> Question:
        words = self._wording.levels[self._protocol.levels]
        return question_of(metric, self._instructions(metric, "questions"), words)

    def _preference(self, metric: str) -> str:
        """The question which of two texts is better, as JSON."""
        choices = dict(self._wording.choices)
        if not self._protocol.ties:
            choices.pop("tie", None)
        asked = self._instructions(self._metrics.get(metric), "choice")
        question = {"type": "choice", "instructions": asked, "criteria": choices}
        return json.dumps({BETTER: question}, ensure_ascii=False)

    def _instructions(self, metric: Metric | None, form: AnswerForm) -> str:
        """What a question asks; `metric` is None for texts compared as a whole."""
        wording = self._wording
        if isinstance(wording.criterion, str):
            criterion = wording.criterion if metric else wording.overall
        else:
            criterion = wording.criterion[form]
        steps = "" if self._protocol.pairwise or self._protocol.steps == "none" else wording.steps
        shown = {"criterion": criterion, "steps": steps, "answer": wording.answers[form]}
        for name, text in self._protocol.parts.items():
            if shown.get(name):  # a part that is not shown is not replaced either
                shown[name] = text
        slots = self._slots(metric)
        filled = [fill(text, slots) for text in shown.values()]
        return "\n".join([text for text in filled if text])

    def _slots(self, metric: Metric | None) -> dict[str, str]:
        if metric is None:
            ends = written_ends(self._protocol.answer, self._protocol.scale)
            return {**fixed_slots(self._task, None, ends, ()), "metric": OVERALL}
        ends = written_ends(self._protocol.answer, metric.scale)
        return fixed_slots(self._task, metric, ends, self._steps.get(metric.name, ()))


def question_of(metric: Metric, asked: str, words: Sequence[str]) -> Question:
    """The question by which a metric is asked about; its levels are its own, else `words` (`level_words`)."""
    if len(metric.labels) == 2:
        worst, best = metric.labels
        return {"type": "noul", "instructions": asked, "criteria": {"true": best, "false": worst}}
    if metric.labels:
        return {"type": "choice", "instructions": asked, "criteria": {name: name for name in metric.labels}}
    return {"type": "score", "instructions": asked, "criteria": metric.levels or level_words(metric, words)}


def level_count(scale: Scale) -> int:
    """How many levels a scale has as a question: its whole numbers, ten if these are more."""
    width = scale.max - scale.min
    fits = width == int(width) and 1 <= width < MOST_LEVELS
    return int(width) + 1 if fits else MOST_LEVELS


def level_words(metric: Metric, words: Sequence[str]) -> list[str]:
    """The words of each level of a metric's scale, the worst level first.

    `words` are one text for the worst level, some for those between, and one for the best.
    """
    # The point of the scale that each level stands for.
    count, scale = level_count(metric.scale), metric.scale
    width = scale.max - scale.min
    points = [scale.min + i * width / (count - 1) for i in range(count)]
    worst, best = metric.antonym, metric.label
    if metric.lower_is_better:
        points, worst, best = points[::-1], best, worst
    if count == MOST_LEVELS and width != MOST_LEVELS - 1:
        _say_cut(metric.name, f"{scale.min:g} to {scale.max:g}")
        digits = 2 - math.ceil(math.log10(width))  # two that count: 11, 22, ... of a scale to 100
        points = [round(point, digits) for point in points]

    # The text of each level, with its slots filled.
    first, *between, last = words
    texts = [first]
    for i in range(count - 2):  # the words for the levels between are spread evenly over these
        texts.append(between[int((i + 0.5) * len(between) / (count - 2))])
    texts.append(last)
    slots = {
        "low": f"{scale.min:g}",
        "high": f"{scale.max:g}",
        "worst": worst,
        "best": best,
        "metric": metric.label,
        "antonym": metric.antonym,
    }
    levels = []
    for text, point in zip(texts, points, strict=True):
        levels.append(fill(text, {**slots, "point": f"{point:g}"}))
    return levels


@cache
def _say_cut(metric: str, scale: str) -> None:
    """Warn, once, that a scale is asked about in fewer levels than it has points."""
    logging.getLogger("dhp").warning(
        "%s: a question has at most %d levels: the scale %s is cut into so many", metric, MOST_LEVELS, scale
    )
