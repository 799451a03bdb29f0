"""Answers of systems to the same questions, and what ColossalEval or the bundled content asks of them.

`read_answers` reads the answers of a system, `read_plan` what is to be evaluated: categories and metrics of
ColossalEval's configuration or all bundled ones, with prompts of its files (`_from_file`) or of the bundled
content (`_bundled`). `BattlePrompts` is its prompt file about two texts. Each fault names file and place.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dhp.core.answer_forms import AnswerForm
from dhp.core.errors import InputError, listed, one_of, suggest
from dhp.core.files import read_json
from dhp.core.records import Candidate
from dhp.core.seeding import text_hash
from dhp.core.specs import Language, Metric, Scale, Task
from dhp.core.tables import Row, Table, as_text, read_table
from dhp.judge.pairs import OVERALL
from dhp.plugins.arena.content import EvaluationContent, read_evaluation

# Names of a column that tables in use have, the first that is there counts.
_QUESTION = ("instruction", "question", "prompt", "source")
_OUTPUT = ("output", "answer", "response", "text")


@dataclass(frozen=True, slots=True)
class Answer:
    """What one system answered to one question."""

    id: str
    category: str
    """Category of the question; empty if the file names none."""
    question: str
    """Instruction and input of the question."""
    output: str
    """Answer of the system; empty in a file of questions."""
    target: str = ""
    """A good answer, if there is one."""


def read_answers(path: Path, *, answered: bool = True) -> list[Answer]:
    """The rows of a file of answers.

    A table with the columns `instruction` (and `input`), `question`, `prompt` or `source`, and `output`,
    `answer`, `response` or `text`, which each row must hold if it is `answered`; optionally `id`,
    `category` and `target` or `reference`. Raises `InputError` for a file of another form, an answer that is
    missing, or a duplicate id.
    """
    table = read_table(path)
    question = _column(table, _QUESTION, "question")
    output = _column(table, _OUTPUT, "answer") if answered else None
    by_id: dict[str, Answer] = {}
    for number, row in enumerate(table.rows, 1):
        name = row.text("id") if table.has("id") else str(number)
        if name in by_id:
            raise row.fault(f"duplicate id '{name}'")

        # ColossalEval parts a question into an instruction and what it is about.
        asked = row.text(question)
        more = _text(row, "input") if question == "instruction" else ""
        if more:
            asked = f"{asked}\n{more}"

        answer = ""
        if output:
            if not row.has(output):
                raise row.fault(f"id '{name}': the answer in column '{output}' is missing; must be text")
            row.check_no_object(output)
            answer = row.text(output)
        target = _text(row, "target") or _text(row, "reference")
        by_id[name] = Answer(name, _text(row, "category"), asked, answer, target)
    return list(by_id.values())


def check_match(files: Mapping[str, Sequence[Answer]]) -> None:
    """Raise `InputError` unless all files hold the same ids with the same questions and categories.

    `files`: name for messages -> its answers; the first one is what the others are held against.
    """
    # Each file against the first, so that a message names two files.
    (first, expected), *others = files.items()
    known = {answer.id: answer for answer in expected}
    for name, answers in others:
        by_id = {answer.id: answer for answer in answers}
        _check_no_less(name, by_id, first, known)
        _check_no_less(first, known, name, by_id)
        for i, answer in by_id.items():
            for what in ("question", "category"):
                if getattr(answer, what) != getattr(known[i], what):
                    raise InputError(f"{name}: id '{i}' has another {what} than in {first}; must be the same")


def _check_no_less(name: str, ids: Mapping[str, Answer], other: str, wanted: Mapping[str, Answer]) -> None:
    missing = [i for i in wanted if i not in ids]
    if missing:
        more = f" and {len(missing) - 1} more" if missing[1:] else ""
        raise InputError(f"{name}: lacks id '{missing[0]}'{more}, which {other} has; must have the same ids")


def _column(table: Table, names: Sequence[str], what: str) -> str:
    column = next((name for name in names if table.has(name)), None)
    if column is None:
        columns = listed(table.columns)
        raise InputError(
            f"{table.name}: no column for the {what}; allowed: {', '.join(names)}; it has {columns}"
        )
    return column


def _text(row: Row, column: str) -> str:
    """The text in a column; empty without one."""
    text = as_text(row.value(column)) or ""
    return row.encodable(column, text) if text.strip() else ""


_LANGUAGES: Mapping[str, Language] = {"en": "en", "cn": "zh", "zh": "zh"}
"""Language in ColossalEval's configuration -> ours."""
OTHER = "Other"
"""The category whose prompt serves those that have none."""
_SLOTS = ("question", "answer", "metric", "steps")
_BATTLE_SLOTS = ("question", "answer_1", "answer_2", "prompt")
_BATTLE_SLOT = re.compile(rf"\{{({'|'.join(_BATTLE_SLOTS)})\}}")
# "(1-5)", "（1~10分）".
_RANGE = re.compile(r"[(（]\s*(\d+)\s*[-–~]\s*(\d+)(?:分)?\s*[)）]")
"""The scale in the text of a metric, such as `(1-5)`."""
AUTO = "auto"
_SCALE = Scale(min=1.0, max=5.0)
"""The scale of a metric whose text states none."""


@dataclass(frozen=True, slots=True)
class CategoryPlan:
    """How the answers of one category are evaluated."""

    name: str
    task: Task
    """Task with the metrics of the category, labelled as in the files."""
    templates: Mapping[str, str] | None
    """Metric -> prompt with `{{source}}` and `{{answer}}`; None if prompts are made of the task."""
    classical: tuple[str, ...] = ()
    """Names of the classical metrics that the configuration asks for."""
    lacking: tuple[str, ...] = ()
    """Metrics whose evaluation steps are still to be written, as `{{steps}}` of their templates."""
    fallback: bool = False
    """Whether the prompt is that of the category `Other`, as the file has no prompt for this one."""


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """What is evaluated, and how."""

    language: Language
    content: EvaluationContent
    categories: Sequence[CategoryPlan]


@dataclass(frozen=True, slots=True)
class _Config:
    path: str
    language: Language
    metrics: Mapping[str, tuple[str, ...]]
    """Category -> metrics of the judge."""
    classical: Mapping[str, tuple[str, ...]]


def read_plan(
    config: Path | None, prompts: Path | None, *, language: Language, all_metrics: bool, steps: str
) -> EvaluationPlan:
    """What is to be evaluated.

    `config` is ColossalEval's configuration (`language`, `category` -> `GPT` and `Metrics`), by default all
    bundled categories in `language`; `prompts` are its evaluation prompts, used as they are, by default the
    bundled content. With `all_metrics` those count too that the prompts define and the configuration leaves
    out. `steps` is `written`, or `auto` to let the model write those that a metric lacks. Raises `InputError`
    for files of another form, a category without prompt, a metric that is not defined, a metric without
    steps, or a template with an unknown or missing slot.
    """
    if config is None:
        content = read_evaluation(language)
        metrics = {}
        for name, category in content.categories.items():
            metrics[name] = tuple(category.metrics)
        read = _Config("", language, metrics, dict.fromkeys(metrics, ()))
    else:
        read = _read_config(config)
        content = read_evaluation(read.language)

    entries = None if prompts is None else _object(read_json(prompts), str(prompts))
    plans = []
    for name in read.metrics:
        if prompts is None or entries is None:
            plans.append(_bundled(read, name, content, all_metrics=all_metrics))
        else:
            plan = _from_file(read, name, entries, prompts, content, all_metrics=all_metrics, steps=steps)
            plans.append(plan)
    return EvaluationPlan(read.language, content, plans)


def _read_config(path: Path) -> _Config:
    data = _object(read_json(path), str(path))
    language = str(data.get("language"))
    if language not in _LANGUAGES:
        raise InputError(f"{path}: language: '{language}'; allowed: {', '.join(_LANGUAGES)}")
    categories = _object(data.get("category"), f"{path}: category")
    metrics, classical = {}, {}
    for name, entry in categories.items():
        entry = _object(entry, f"{path}: category.{name}")
        metrics[name] = _names(entry.get("GPT", []), f"{path}: category.{name}.GPT")
        classical[name] = _names(entry.get("Metrics", []), f"{path}: category.{name}.Metrics")
        if not metrics[name] and not classical[name]:
            raise InputError(f"{path}: category.{name}: names no metric; allowed: a list in GPT or Metrics")
    if not metrics:
        raise InputError(f"{path}: category: is empty; must have at least one")
    return _Config(str(path), _LANGUAGES[language], metrics, classical)


def _bundled(config: _Config, name: str, content: EvaluationContent, *, all_metrics: bool) -> CategoryPlan:
    if name not in content.categories:
        raise InputError(
            f"{config.path}: category '{name}' has no prompt; "
            f"{suggest(name, content.categories)}, or `prompts`"
        )
    category = content.categories[name]
    chosen = tuple(content.metrics) if all_metrics else config.metrics[name]
    metrics = []
    for label in chosen:
        one_of("metric", label, content.metrics, f"{config.path}: category '{name}'")
        texts = content.metrics[label].model_dump()
        texts["label"] = texts["label"] or label
        metrics.append(Metric(name=metric_key(label), scale=_SCALE, **texts))
    task = _task(name, category.instruction, metrics or [_NOTHING], content)
    return CategoryPlan(name, task, None, config.classical[name])


def _from_file(
    config: _Config,
    name: str,
    entries: Mapping[str, Any],
    path: Path,
    content: EvaluationContent,
    *,
    all_metrics: bool,
    steps: str,
) -> CategoryPlan:
    # The prompt of the category, or that of `Other`, with the metrics that it defines.
    key = name if name in entries else OTHER
    if key not in entries:
        raise InputError(f"{path}: category '{name}' has no prompt; {suggest(name, entries)}")
    place = f"{path}: {key}"
    entry = _object(entries[key], place)
    defined = _texts(entry.get("metrics"), f"{place}.metrics")
    written = _texts(entry.get("CoT", {}), f"{place}.CoT")
    template = entry.get("prompt")
    if not isinstance(template, str):
        raise InputError(f"{place}.prompt: missing or no text; must be a text with {', '.join(_SLOTS)}")
    _check_slots(f"{place}.prompt", template, _SLOTS)

    # Each metric has a template of its own; in that of one without steps a slot waits for them.
    chosen = [*config.metrics[name], *defined] if all_metrics else config.metrics[name]
    metrics, templates, lacking = [], {}, []
    for label in dict.fromkeys(chosen):
        one_of("metric", label, defined, place)
        if label not in written and steps != AUTO:
            raise InputError(
                f"{place}.CoT: metric '{label}' has no evaluation steps; allowed: a text, or `steps` auto"
            )
        metric = _metric(label, defined[label], written.get(label))
        metrics.append(metric)
        if label not in written:
            lacking.append(metric.name)
        templates[metric.name] = _filled(template, defined[label], written.get(label, "{{steps}}"), place)
    task = _task(name, f"Answer a question of the kind {name}.", metrics or [_NOTHING], content)
    return CategoryPlan(
        name, task, templates, config.classical[name], lacking=tuple(lacking), fallback=key != name
    )


def _filled(template: str, definition: str, steps: str, place: str) -> str:
    """The template with the slots `{{source}}` and `{{answer}}`, as prompt files have them."""
    texts = {"question": "{{source}}", "answer": "{{answer}}", "metric": definition, "steps": steps}
    written = "" if steps == "{{steps}}" else steps
    for text in (template, definition, written):
        if "{{" in text or "}}" in text:  # prompt files of ours have their slots in doubled braces
            raise InputError(f"{place}: doubled braces; must be single ones")
    # In one pass, so that braces in a definition stay text.
    return re.sub(r"\{(question|answer|metric|steps)\}", lambda slot: texts[slot[1]], template)


def _metric(label: str, definition: str, steps: str | None) -> Metric:
    stated = _RANGE.search(definition)
    return Metric(
        name=metric_key(label),
        label=label,
        scale=Scale(min=float(stated[1]), max=float(stated[2])) if stated else _SCALE,
        definition=definition,
        steps=[steps or definition],
        question=definition,
        antonym=f"no {label}",
    )


def metric_key(label: str) -> str:
    """The name of a metric in tables: lower-case letters, digits and `_`."""
    key = re.sub(r"[^a-z0-9]+", "_", label.lower()).strip("_")
    # A Chinese label has no such letter.
    return key if re.match(r"[a-z]", key) else f"m_{text_hash(label)[:8]}"


_NOTHING = Metric(name="none", scale=_SCALE, definition="", steps=["-"], question="", antonym="")
"""Metric of a category that has only classical metrics."""


def _task(name: str, instruction: str, metrics: Sequence[Metric], content: EvaluationContent) -> Task:
    return Task(
        task=metric_key(name),
        language=content.language,
        instruction=instruction,
        source_label=content.source_label,
        output_label=content.output_label,
        metrics=list(metrics),
    )


def _object(data: object, place: str) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise InputError(f"{place}: must be an object, not {type(data).__name__}")
    return data


def _names(data: object, place: str) -> tuple[str, ...]:
    if not isinstance(data, list) or not all(isinstance(name, str) for name in data):
        raise InputError(f"{place}: must be a list of names")
    return tuple(dict.fromkeys(data))


def _texts(data: object, place: str) -> Mapping[str, str]:
    texts = _object(data, place)
    for key, text in texts.items():
        if not isinstance(text, str):
            raise InputError(f"{place}.{key}: must be a text")
    return texts


class BattlePrompts:
    """A prompt file about two texts, as it is: nothing is fenced.

    The template has the slots `{question}`, `{answer_1}`, `{answer_2}` and `{prompt}`, which is the request;
    other braces are text.
    """

    def __init__(self, system: str, template: str, request: str) -> None:
        self.system = system
        self.texts: tuple[str, ...] = (system, template, request)
        """What the identity of a request depends on."""

    def prompt(
        self, candidate: Candidate, metric: str, form: AnswerForm, other: Candidate, verdicts: Sequence[str]
    ) -> str:
        """See `Prompts`. Raises `InputError` for a metric, or verdicts that contradict each other."""
        if metric != OVERALL or verdicts:
            raise InputError(
                "a battle prompt file compares texts as a whole; allowed: a protocol like battle"
            )
        _, template, request = self.texts
        texts = {
            "question": candidate.source,
            "answer_1": candidate.text,
            "answer_2": other.text,
            "prompt": request,
        }
        return _BATTLE_SLOT.sub(lambda slot: texts[slot[1]], template)


def read_battle_prompts(path: Path) -> BattlePrompts:
    """The `system_prompt`, `prompt_template` and `prompt` of a JSON object.

    Raises `InputError` for a file of another form, and for a template with an unknown or missing slot.
    """
    data = _object(read_json(path), str(path))
    texts = {}
    # A file may do without a system prompt.
    for key in ("system_prompt", "prompt_template", "prompt"):
        value = data.get(key, "" if key == "system_prompt" else None)
        if not isinstance(value, str):
            raise InputError(f"{path}: {key}: missing or no text; must be a text")
        texts[key] = value
    _check_slots(f"{path}: prompt_template", texts["prompt_template"], _BATTLE_SLOTS)
    return BattlePrompts(texts["system_prompt"], texts["prompt_template"], texts["prompt"])


def _check_slots(place: str, template: str, slots: tuple[str, ...]) -> None:
    """Raise `InputError` unless a template has all of these slots, `{name}`, and no other."""
    for name in re.findall(r"\{(\w+)\}", template):
        if name not in slots:
            raise InputError(f"{place}: unknown slot '{{{name}}}'; {suggest(name, slots)}")
    for name in slots:
        if f"{{{name}}}" not in template:
            raise InputError(f"{place}: lacks the slot '{{{name}}}'; must have it")
