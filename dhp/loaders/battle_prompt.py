"""ColossalEval's battle prompt file: a system message, a template for two answers, and a request."""

import re
from pathlib import Path

from dhp.core.errors import InputError, suggest
from dhp.core.files import read_json

_SLOTS = ("question", "answer_1", "answer_2", "prompt")


def read_battle_prompt(path: Path) -> tuple[str, str, str]:
    """The `system_prompt`, `prompt_template` and `prompt` of a JSON object.

    Raises `InputError` for a file of another form, and for a template with an unknown or missing slot.
    """
    data = read_json(path)
    if not isinstance(data, dict):
        raise InputError(f"{path}: must be an object with system_prompt, prompt_template and prompt")
    texts = {}
    for key in ("system_prompt", "prompt_template", "prompt"):
        value = data.get(key, "" if key == "system_prompt" else None)
        if not isinstance(value, str):
            raise InputError(f"{path}: {key}: missing or no text; allowed: a text")
        texts[key] = value
    check_slots(f"{path}: prompt_template", texts["prompt_template"], _SLOTS)
    return texts["system_prompt"], texts["prompt_template"], texts["prompt"]


def check_slots(place: str, template: str, slots: tuple[str, ...]) -> None:
    """Raise `InputError` unless a template has all of these slots, `{name}`, and no other."""
    for name in re.findall(r"\{(\w+)\}", template):
        if name not in slots:
            raise InputError(f"{place}: unknown slot '{{{name}}}'; {suggest(name, slots)}")
    for name in slots:
        if f"{{{name}}}" not in template:
            raise InputError(f"{place}: lacks the slot '{{{name}}}'; allowed: a text that has it")
