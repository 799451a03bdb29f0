"""How judges are asked: protocols, their wording, and the texts of the user's own that they may name."""

from collections.abc import Collection
from pathlib import Path

from pydantic import ValidationError

from dhp.content.catalog import name_or_file, named_file, names_in, read_task, task_names
from dhp.content.yaml import content_folder, describe, load_spec, load_yaml
from dhp.core.errors import InputError, suggest
from dhp.core.files import read_text
from dhp.core.protocol_spec import Language, Protocol, Wording, slot_fault
from dhp.core.text import printable


def protocol_names() -> list[str]:
    """The protocols that ship with the package."""
    return names_in(content_folder("protocols"))


def read_protocol(given: str) -> Protocol:
    """A protocol by name or by file (`.yaml`)."""
    return load_spec(name_or_file("protocol", content_folder("protocols"), given), Protocol)


def read_wording(language: Language) -> Wording:
    """What prompts in this language are made of."""
    return load_spec(named_file("language", content_folder("protocols") / "wording", language), Wording)


def override(protocol: Protocol, /, **changes: object) -> Protocol:
    """The protocol with other settings, checked as a whole.

    None leaves `temperature` and `top_p` to the model, and any other setting as it is. Raises `InputError`
    for an unknown setting, a wrong value, or settings that contradict each other.
    """
    given = {k: v for k, v in changes.items() if v is not None or k in ("temperature", "top_p")}
    try:
        changed = Protocol.model_validate({**protocol.model_dump(), **given})
    except ValidationError as e:
        raise InputError(f"protocol '{protocol.protocol}': {describe(e, Protocol)}") from None
    changed._origin = protocol.origin
    kept = protocol.model_dump()
    changed._changed = protocol.changed | {k for k, v in given.items() if v != kept.get(k)}
    return changed


def read_persona(given: str, wording: Wording) -> str:
    """The text of a persona: `none`, one of the wording's, or a text file."""
    if given == "none":
        return ""
    if given in wording.personas:
        return wording.personas[given]
    path = Path(given)
    try:
        there = path.is_file()
    except (OSError, ValueError):  # a whole persona is no path
        there = False
    if not there:
        known = suggest(given, ["none", *wording.personas])
        raise InputError(f"unknown persona '{printable(given)[:80]}'; {known}, or a text file")
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
    metrics = {task: read_task(task).metric_names for task in task_names()}
    if all(isinstance(steps, dict) for steps in data.values()):
        for task in data:
            if task not in metrics:
                raise InputError(f"{path}: unknown task '{task}'; {suggest(str(task), metrics)}")
        return {task: _steps(f"{path}: {task}", given, metrics[task]) for task, given in data.items()}
    found = _steps(str(path), data, {name for names in metrics.values() for name in names})
    by_task = {task: {m: found[m] for m in names if m in found} for task, names in metrics.items()}
    return {task: steps for task, steps in by_task.items() if steps}


def _steps(place: str, data: dict[object, object], metrics: Collection[str]) -> dict[str, list[str]]:
    steps: dict[str, list[str]] = {}
    for name, given in data.items():
        if name not in metrics:
            raise InputError(f"{place}: unknown metric '{name}'; {suggest(str(name), metrics)}")
        listed = given if isinstance(given, list) else []
        if not listed or not all(isinstance(step, str) and step.strip() for step in listed):
            raise InputError(f"{place}: {name}: must be a list of steps, each a text")
        steps[str(name)] = listed
    return steps
