"""Protocols and their wording: pointwise, pairwise, and by category."""

from collections.abc import Collection
from pathlib import Path

from pydantic import ValidationError

from dhp.content.catalog import (
    content_folder,
    describe,
    file_of,
    folder_of,
    load_spec,
    load_yaml,
    names_of,
    read_task,
)
from dhp.core.errors import InputError, one_of, suggest
from dhp.core.files import read_text
from dhp.core.protocol_spec import PAIRWISE_FORMS, POINTWISE_FORMS, Protocol, Wording, slot_fault
from dhp.core.specs import EvaluationContent, Language
from dhp.core.text import printable


def read_protocol(name: str) -> Protocol:
    """A protocol by name or by file (`.yaml`)."""
    kind = "pairwise protocol" if name in names_of("pairwise protocol") else "protocol"
    return load_spec(file_of(kind, name), Protocol)


def read_pairwise(name: str, **changes: object) -> Protocol:
    """A pairwise protocol by name or by file, with changes to its settings as by `override`."""
    found = load_spec(file_of("pairwise protocol", name), Protocol)
    if not found.pairwise:
        raise InputError(f"protocol '{name}': rates one text; allowed: `answer` {', '.join(PAIRWISE_FORMS)}")
    return override(found, **changes)


def read_wording(language: Language, *, pairwise: bool = False) -> Wording:
    """What prompts in this language are made of."""
    kind = "language of pairwise prompts" if pairwise else "language"
    return load_spec(file_of(kind, language), Wording)


def override(protocol: Protocol, /, **changes: object) -> Protocol:
    """The protocol with other settings, checked as a whole.

    None leaves `temperature` and `top_p` to the model, and any other setting as it is. Raises `InputError`
    for an unknown setting, a wrong value, or settings that contradict each other.
    """
    given = {k: v for k, v in changes.items() if v is not None or k in ("temperature", "top_p")}
    forms = PAIRWISE_FORMS if protocol.pairwise else POINTWISE_FORMS
    if (answer := given.get("answer", protocol.answer)) not in forms:
        *several, last = map(repr, forms)
        allowed = f"{', '.join(several)} or {last}"
        raise InputError(f"protocol '{protocol.protocol}': answer: should be {allowed} (found {answer!r})")
    before = protocol.model_dump()
    try:
        changed = Protocol.model_validate({**protocol.model_dump(exclude_unset=True), **given})
    except ValidationError as e:
        raise InputError(f"protocol '{protocol.protocol}': {describe(e, Protocol)}") from None
    changed._origin = protocol.origin
    changed._changed = protocol.changed | {k for k, v in given.items() if v != before.get(k)}
    return changed


def read_persona(name: str, wording: Wording) -> str:
    """The text of a persona: `none`, one of the wording's, or a text file."""
    if name == "none":
        return ""
    if name in wording.personas:
        return wording.personas[name]
    path = Path(name)
    try:
        there = path.is_file()
    except (OSError, ValueError):  # a whole persona is not a path
        there = False
    if not there:
        known = suggest(name, ["none", *wording.personas])
        raise InputError(f"unknown persona '{printable(name)[:80]}'; {known}, or a text file")
    text = read_text(path).replace("\r\n", "\n").strip()
    if fault := slot_fault("persona", text):
        raise InputError(f"{path}: {fault}")
    return text


def read_steps(path: Path) -> dict[str, dict[str, list[str]]]:
    """Task -> metric -> evaluation steps, from a YAML file of `task: {metric: [step, ...]}`.

    Without the level of tasks the steps hold for every task that has the metric. Raises `InputError` for an
    unknown task or metric, or where there is no list of texts.
    """
    data = load_yaml(path)
    if not isinstance(data, dict) or not data:
        raise InputError(f"{path}: must be a mapping of metric: [step, ...], by task or for all tasks")
    metrics = {task: read_task(task).metric_names for task in names_of("task")}
    if all(isinstance(steps, dict) for steps in data.values()):
        for task in data:
            one_of("task", task, metrics, str(path))
        return {task: _steps(f"{path}: {task}", given, metrics[task]) for task, given in data.items()}
    found = _steps(str(path), data, {name for names in metrics.values() for name in names})
    by_task = {task: {m: found[m] for m in names if m in found} for task, names in metrics.items()}
    return {task: steps for task, steps in by_task.items() if steps}


def _steps(place: str, data: dict[object, object], metrics: Collection[str]) -> dict[str, list[str]]:
    steps: dict[str, list[str]] = {}
    for name, given in data.items():
        one_of("metric", name, metrics, place)
        listed = given if isinstance(given, list) else []
        if not listed or not all(isinstance(step, str) and step.strip() for step in listed):
            raise InputError(f"{place}: {name}: must be a list of steps, each a text")
        steps[str(name)] = listed
    return steps


# Answers by category


def read_evaluation(language: Language) -> EvaluationContent:
    """Categories and metrics in a language."""
    return load_spec(file_of("language of evaluations", language), EvaluationContent)


def evaluation_protocol() -> Protocol:
    """How the judge is asked for a score."""
    return load_spec(folder_of("language of evaluations") / "evaluate.yaml", Protocol)


def questions_file(language: Language) -> Path:
    """Example questions, five a category, in the form of ColossalEval's target files."""
    return content_folder("datasets") / "questions" / f"{language}.json"
