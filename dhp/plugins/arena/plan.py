"""What is evaluated: categories and metrics of ColossalEval's configuration, or all bundled ones.

`read_plan` makes a `CategoryPlan` for each category, with prompts of ColossalEval's file (`_from_file`) or of
the bundled content (`_bundled`). Each fault names file and place.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dhp.core.errors import InputError, one_of, suggest
from dhp.core.files import read_json
from dhp.core.seeding import text_hash
from dhp.core.specs import Language, Metric, Scale, Task
from dhp.plugins.arena.content import EvaluationContent, read_evaluation

_LANGUAGES: Mapping[str, Language] = {"en": "en", "cn": "zh", "zh": "zh"}
"""Language in ColossalEval's configuration -> ours."""
OTHER = "Other"
"""The category whose prompt serves those that have none."""
_SLOTS = ("question", "answer", "metric", "steps")
"""Slots of ColossalEval's evaluation prompts."""
_RANGE = re.compile(r"[(（]\s*(\d+)\s*[-–~]\s*(\d+)(?:分)?\s*[)）]")
"""The scale in the text of a metric: "(1-5)", "（1~10分）"."""
AUTO = "auto"
"""Evaluation steps that the model is to write."""
_SCALE = Scale(min=1.0, max=5.0)
"""The scale of a metric whose text states none: that of the bundled metrics."""


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
        # The bundled categories have no file, and no classical metrics.
        read = _Config("", language, metrics, dict.fromkeys(metrics, ()))
    else:
        read = _read_config(config)
        content = read_evaluation(read.language)

    plans = []
    if prompts is None:
        for name in read.metrics:
            plans.append(_bundled(read, name, content, all_metrics=all_metrics))
    else:
        entries = as_object(read_json(prompts), str(prompts))
        for name in read.metrics:
            plan = _from_file(read, name, entries, prompts, content, all_metrics=all_metrics, steps=steps)
            plans.append(plan)
    return EvaluationPlan(read.language, content, plans)


def _read_config(path: Path) -> _Config:
    data = as_object(read_json(path), str(path))
    language = str(data.get("language"))
    if language not in _LANGUAGES:
        raise InputError(f"{path}: language: '{language}'; allowed: {', '.join(_LANGUAGES)}")
    categories = as_object(data.get("category"), f"{path}: category")
    metrics, classical = {}, {}
    for name, entry in categories.items():
        entry = as_object(entry, f"{path}: category.{name}")
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
        # A bundled metric without a label is called by its key.
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
    entry = as_object(entries[key], place)
    defined = _texts(entry.get("metrics"), f"{place}.metrics")
    written = _texts(entry.get("CoT", {}), f"{place}.CoT")
    template = entry.get("prompt")
    if not isinstance(template, str):
        raise InputError(f"{place}.prompt: missing or no text; must be a text with {', '.join(_SLOTS)}")
    check_slots(f"{place}.prompt", template, _SLOTS)

    # Each metric has a template of its own; in that of one without steps a slot waits for them.
    chosen = list(config.metrics[name])
    if all_metrics:
        chosen += [label for label in defined if label not in chosen]
    metrics, templates, lacking = [], {}, []
    for label in chosen:
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
    # Our own slot for the steps is put in by us: it is no fault of the file.
    written = "" if steps == "{{steps}}" else steps
    for text in (template, definition, written):
        if "{{" in text or "}}" in text:  # prompt files of ours have their slots in doubled braces
            raise InputError(f"{place}: doubled braces; must be single ones")
    # In one pass, so that braces in a definition stay text.
    return re.sub(r"\{(question|answer|metric|steps)\}", lambda slot: texts[slot[1]], template)


def _metric(label: str, definition: str, steps: str | None) -> Metric:
    scale = _SCALE
    stated = _RANGE.search(definition)
    if stated:
        scale = Scale(min=float(stated[1]), max=float(stated[2]))
    return Metric(
        name=metric_key(label),
        label=label,
        scale=scale,
        definition=definition,
        steps=[steps or definition],
        question=definition,
        antonym=f"no {label}",
    )


def metric_key(label: str) -> str:
    """The name of a metric in tables: lower-case letters, digits and `_`; "Language organization" becomes
    `language_organization`."""
    key = re.sub(r"[^a-z0-9]+", "_", label.lower()).strip("_")
    if re.match(r"[a-z]", key):
        return key
    return f"m_{text_hash(label)[:8]}"  # a Chinese label has no such letter


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


def as_object(data: object, place: str) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise InputError(f"{place}: must be an object, not {type(data).__name__}")
    return data


def _names(data: object, place: str) -> tuple[str, ...]:
    if not isinstance(data, list) or not all(isinstance(name, str) for name in data):
        raise InputError(f"{place}: must be a list of names")
    # Each once: a metric that is named twice is asked once.
    return tuple(dict.fromkeys(data))


def _texts(data: object, place: str) -> Mapping[str, str]:
    texts = as_object(data, place)
    for key, text in texts.items():
        if not isinstance(text, str):
            raise InputError(f"{place}.{key}: must be a text")
    return texts


def check_slots(place: str, template: str, slots: tuple[str, ...]) -> None:
    """Raise `InputError` unless a template has all of these slots, `{name}`, and no other."""
    # A slot: "{question}".
    for name in re.findall(r"\{(\w+)\}", template):
        if name not in slots:
            raise InputError(f"{place}: unknown slot '{{{name}}}'; {suggest(name, slots)}")
    for name in slots:
        if f"{{{name}}}" not in template:
            raise InputError(f"{place}: lacks the slot '{{{name}}}'; must have it")
