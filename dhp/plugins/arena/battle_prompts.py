"""ColossalEval's prompt file about two texts, used as it is."""

import re
from collections.abc import Sequence
from pathlib import Path

from dhp.core.answer_forms import AnswerForm
from dhp.core.errors import InputError
from dhp.core.files import read_json
from dhp.core.records import Candidate
from dhp.judge.pairs import OVERALL
from dhp.plugins.arena.plan import as_object, check_slots

_SLOTS = ("question", "answer_1", "answer_2", "prompt")
_SLOT = re.compile(rf"\{{({'|'.join(_SLOTS)})\}}")
"""A slot of the template: "{question}"."""


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
        # In one pass, so that braces in the texts stay text.
        return _SLOT.sub(lambda slot: texts[slot[1]], template)


def read_battle_prompts(path: Path) -> BattlePrompts:
    """The `system_prompt`, `prompt_template` and `prompt` of a JSON object.

    Raises `InputError` for a file of another form, and for a template with an unknown or missing slot.
    """
    data = as_object(read_json(path), str(path))
    texts = {}
    data = {"system_prompt": "", **data}  # a file may do without one
    for key in ("system_prompt", "prompt_template", "prompt"):
        value = data.get(key)
        if not isinstance(value, str):
            raise InputError(f"{path}: {key}: missing or no text; must be a text")
        texts[key] = value
    check_slots(f"{path}: prompt_template", texts["prompt_template"], _SLOTS)
    return BattlePrompts(texts["system_prompt"], texts["prompt_template"], texts["prompt"])
