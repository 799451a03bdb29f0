"""Prompt files for decision models: questions as JSON, or the instructions of a question as plain text."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dhp.core.errors import InputError, one_of, suggest
from dhp.core.specs import Metric, Task
from dhp.judge.prompt_files import PromptFile, meaning_of, pieces_of, prompts_by_metric
from dhp.judge.questions import MOST_LEVELS, Question, keyed, question_of

_TYPES = {"noul": "noul", "predicate": "noul", "choice": "choice", "score": "score"}
"""Type of a question in either wire form -> ours."""


def is_json(path: str | Path) -> bool:
    """Whether a prompt file holds whole questions."""
    return Path(path).suffix.lower() == ".json"


def file_questions(files: Sequence[PromptFile], task: Task, words: Sequence[str]) -> dict[str, Question]:
    """Metric -> question, of all metrics of the task.

    A JSON file holds questions by metric, in the form of `POST /v1/systemone`, alone or in the key
    `questions` of a whole request. A text file is the instructions of one question, and its slots become the
    names that the texts have in the state; the levels are the metric's, else `words` (see `level_words`).

    Raises `InputError` for a file of another form, a metric without a question, or a question that does not
    fit its metric.
    """
    texts = [file for file in files if not is_json(file.path)]
    questions: dict[str, Question] = {}
    if texts:
        prompts = prompts_by_metric(texts, task.metric_names, task.columns, shows_text=False)
        by_name = {metric.name: metric for metric in task.metrics}
        for name, text in prompts.items():
            questions[name] = _of_text(text, by_name[name], task, words)
    for file in files:
        if is_json(file.path):
            questions |= _of_json(file, task)
    lacking = [name for name in task.metric_names if name not in questions]
    if lacking:
        options = " ".join(f"`metrics` {m}" for m in questions)
        raise InputError(f"no question for the metric '{lacking[0]}'; add one, or take only {options}")
    return questions


def _of_text(text: str, metric: Metric, task: Task, words: Sequence[str]) -> Question:
    """The question with a text as its instructions, whose slots become names of texts in the state."""
    pieces = list(pieces_of(text))
    for i in range(1, len(pieces), 2):  # text and names of slots stand in turn
        pieces[i] = f"`{meaning_of(pieces[i], task, metric.name)}`"
    return question_of(metric, "".join(pieces).strip(), words)


def _of_json(file: PromptFile, task: Task) -> dict[str, Question]:
    """Metric -> question of a JSON file."""
    try:
        data = json.loads(file.text)
    except (ValueError, RecursionError) as e:
        raise InputError(f"{file.path}: is no JSON ({e}); must be an object of questions by metric") from None
    if isinstance(data, dict) and isinstance(data.get("questions"), dict | list):
        data = data["questions"]
    if isinstance(data, list):  # OpenAI's form
        data = keyed(data, "name")
    if not isinstance(data, dict) or not data:
        raise InputError(f"{file.path}: must be an object of questions by metric, as in POST /v1/systemone")
    if file.metric is not None and "type" in data:
        data = {file.metric: data}
    metrics = {metric.name: metric for metric in task.metrics}
    questions = {}
    for name, asked in data.items():
        one_of("metric", name, metrics, str(file.path))
        questions[name] = _checked(asked, metrics[name], f"{file.path}: {name}")
    return questions


def _checked(asked: Any, metric: Metric, place: str) -> Question:
    """A question of a file in our form; raises `InputError` if it has another or does not fit its metric."""
    if not isinstance(asked, dict) or not isinstance(asked.get("instructions"), str):
        raise InputError(f"{place}: must have `type`, `instructions` and `criteria`")
    kind = _TYPES.get(str(asked.get("type")))
    if kind is None:
        raise InputError(f"{place}: type {asked.get('type')!r}: {suggest(str(asked.get('type')), _TYPES)}")
    known = {"type", "name", "instructions", "criteria", "levels", "choices"}
    unknown = sorted(asked.keys() - known)
    if unknown:
        raise InputError(f"{place}: '{unknown[0]}': unknown; {suggest(unknown[0], known)}")
    question: dict[str, object] = {"type": kind, "instructions": asked["instructions"]}
    criteria = asked.get("criteria", asked.get("levels", asked.get("choices")))
    if kind == "score":
        question["criteria"] = _levels(criteria, place)
    elif kind == "choice":
        question["criteria"] = _choices(criteria, metric, place)
    elif criteria is not None:
        if not isinstance(criteria, Mapping) or {*criteria} - {"true", "false"}:
            raise InputError(f"{place}: criteria of a noul question: allowed: true and false")
        question["criteria"] = dict(criteria)
    return question


def _levels(criteria: object, place: str) -> list[str]:
    """The levels of a question on a scale: texts, or objects with a `description` or a `label`."""
    words = []
    for level in criteria if isinstance(criteria, list) else ():
        if isinstance(level, dict):
            level = level.get("description") or level.get("label")
        if isinstance(level, str):
            words.append(level)
    if not isinstance(criteria, list) or len(words) < len(criteria) or not 2 <= len(words) <= MOST_LEVELS:
        raise InputError(f"{place}: criteria: must be a list of 2 to {MOST_LEVELS} levels, the worst first")
    return words


def _choices(criteria: object, metric: Metric, place: str) -> dict[str, object]:
    """Label -> what it means, of a question with a choice."""
    choices: dict[str, object] = {}
    if isinstance(criteria, dict):
        choices = dict(criteria)
    for name, entry in keyed(criteria, "value").items():
        choices[name] = entry.get("description")
    if not metric.labels or {*choices} != {*metric.labels}:
        labels = ",".join(metric.labels) or "WORST,..,BEST"
        raise InputError(f"{place}: a choice needs the labels of its metric; allowed: `labels` {labels}")
    return choices
