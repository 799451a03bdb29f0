"""Prompts for degrading texts, and extraction of the revised text.

`written` fills the slots of a prompt with an example, and `revised_text` reads the answer: the text between
the tags that the prompt asks for. Texts are never altered, never expanded, and fenced but in plain prompts,
which are sent as they stand.
"""

import json
import re
from collections.abc import Sequence
from typing import Annotated, ClassVar, Self

from pydantic import Field, StringConstraints, ValidationError, model_validator

from dhp.core.errors import InputError
from dhp.core.reasoning import without_reasoning
from dhp.core.records import Example
from dhp.core.refusals import is_refusal
from dhp.core.sentences import paragraphs
from dhp.core.slots import SLOT, fill, slots_fault
from dhp.core.specs import Spec
from dhp.core.tags import between_tags, fenced, free_tag

_UNFILLED = {"text": "...", "source": "...", "question": "...", "count": "N"}
"""What stands for the slots of a prompt that is shown without an example."""
_TAG = "revised"
# "SUMMARY_HERE"
_HERE = re.compile(r"\b([A-Z][A-Z_]*?)_HERE\b")
# What a model repeats of a prompt that asks for no tags: its last words, as "**Revised summary:**", and a
# fence round the text, as "<text> ... </text>".
_CUE = re.compile(r"^\s*(?:\*\*)?Revised [\w ]+:(?:\*\*)?")
_FENCE = re.compile(r"<(text(?:-\d+)?)>\s*(.*?)\s*</\1>", re.S)
_NAMES = {
    "text": ("TEXT", "OUTPUT", "SUMMARY", "STORY_ENDING", "ENDING", "ANSWER", "TRANSLATION"),
    "source": ("SOURCE", "ARTICLE", "DOCUMENT", "STORY", "CONTEXT", "PARAGRAPH"),
    "question": ("QUESTION",),
}
"""Our slot -> what plain text may call it, before `_HERE`."""

REFUSED = "this is a refusal and no revised text"
NO_TAGS = "the revised text does not stand between the tags asked for"
CUT_OFF = "the closing tag is missing"

Step = Annotated[str, StringConstraints(min_length=1)]


class _Request(Spec):
    """What a language model is asked, with slots."""

    slots: ClassVar[tuple[str, ...]]
    """Names of the required slots."""
    further: ClassVar[tuple[str, ...]] = ()
    """Names of the optional slots."""
    prompt: str

    @model_validator(mode="after")
    def _slots_fit(self) -> Self:
        fault = slots_fault(self.prompt, [*self.slots, *self.further], self.slots)
        if fault:
            raise ValueError(f"prompt: {fault}")
        return self


class PerturbPrompt(_Request):
    """How a language model is asked for one kind of damage to the texts of one task.

    The slot `{{tag}}` is the name of the tags round the revised text.
    """

    slots = ("text", "steps", "tag")
    further = ("source", "question", "count")
    steps: list[Step] = Field(min_length=1)
    """The written adjustment steps, without numbers and without slots."""

    @model_validator(mode="after")
    def _steps_fit(self) -> Self:
        for number, step in enumerate(self.steps, start=1):
            if SLOT.search(step):
                raise ValueError(f"step {number} holds a slot; allowed: a text without any")
        return self


class PlainPrompt(_Request):
    """A prompt of the user's own as plain text; nothing is added to it, and the answer is taken whole."""

    slots = ("text",)
    further = ("source", "question", "count")
    steps: tuple[str, ...] = ()
    """None: the text holds what steps there are."""


TextPrompt = PerturbPrompt | PlainPrompt


def plain_prompt(text: str) -> PlainPrompt:
    """A prompt from plain text with slots as in the DHP paper (`SUMMARY_HERE`) or `{{text}}`.

    Raises `InputError` for a slot of another name, and if none takes the text.
    """
    try:
        return PlainPrompt(prompt=_HERE.sub(_slot, text.strip()))
    except ValidationError as e:
        reason = str(e.errors()[0]["msg"])
        raise InputError(reason.removeprefix("Value error, ")) from None


def _slot(match: re.Match[str]) -> str:
    """Our slot for `SUMMARY_HERE`; an unknown one with the user's name, which is then refused."""
    for slot, names in _NAMES.items():
        if match[1] in names:
            return f"{{{{{slot}}}}}"
    return f"{{{{{match[0]}}}}}"


class AgainPrompt(_Request):
    """How a language model is asked again where its answer did not count."""

    slots = ("request", "answer", "reason")


class StepsPrompt(_Request):
    """How a language model is asked to write adjustment steps of its own."""

    slots = ("task",)


def prompt_name(perturber: str, degree: str | None) -> str:
    """The name of the prompt file of a variant, without its ending."""
    return perturber if degree is None else f"{perturber}.{degree}"


def written(prompt: TextPrompt, example: Example, count: int | str, steps: Sequence[str]) -> str:
    """The whole request for one example; `steps` are the prompt's own or those that the model wrote.

    Raises `InputError` if the prompt shows a question and the example has none.
    """
    question = example.fields.get("question")
    if question is None and "question" in SLOT.findall(prompt.prompt):
        raise InputError(f"example '{example.id}': has no field 'question', which the prompt shows")
    shown = {"text": example.output, "source": example.source, "question": question or ""}
    if not isinstance(prompt, PlainPrompt):  # which is sent as it stands
        shown = {slot: fenced(text, slot) for slot, text in shown.items()}
    numbered = [f"{number}. {step}" for number, step in enumerate(steps, start=1)]
    further = {"count": str(count), "steps": "\n".join(numbered), "tag": answer_tag(example)}
    return fill(prompt.prompt, {**shown, **further})


def answer_tag(example: Example) -> str:
    """The name of the tags that the revised text is asked for between: none that the example's texts hold."""
    return free_tag(_TAG, example.output, example.source, *example.fields.values())


def revised_text(answer: str, example: Example, *, whole: bool = False) -> tuple[str | None, str | None]:
    """The text between the last complete pair of tags, outside reasoning; or None and why there is none.

    The tag as the only key of a JSON object counts as such a pair. With `whole` it is all of the answer
    outside reasoning, without what it repeats of the prompt.
    """
    tag, plain = answer_tag(example), without_reasoning(answer) or ""
    if whole:
        answered = _CUE.sub("", plain).strip()
        fence = _FENCE.fullmatch(answered)
        if fence:
            answered = fence[2]
        is_text = answered and not is_refusal(answered)
        return (answered, None) if is_text else (None, REFUSED)

    text = between_tags(plain, tag)
    if text is None:
        text = _of_json(plain, tag)
    if text is not None:
        return text, None
    if is_refusal(plain):
        return None, REFUSED
    closed = between_tags(f"{plain}</{tag}>", tag)  # a text with no more than the opening tag
    return None, NO_TAGS if closed is None else CUT_OFF


# "```json\n{...}\n```"
_JSON_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)\n```", re.S)


def _of_json(answer: str, tag: str) -> str | None:
    """The text under the key `tag` of an answer that is one JSON object, perhaps within a fence."""
    plain = answer.strip()
    fence = _JSON_FENCE.fullmatch(plain)
    try:
        value = json.loads(fence[1] if fence else plain)
    except (ValueError, RecursionError):
        return None
    text = value.get(tag) if isinstance(value, dict) and len(value) == 1 else None
    return text if isinstance(text, str) else None


def again(template: AgainPrompt, request: str, answer: str, reason: str) -> str:
    """The request with an answer that did not count, and why it did not."""
    return fill(template.prompt, {"request": request, "answer": fenced(answer, "answer"), "reason": reason})


def asks_for_steps(template: StepsPrompt, prompt: PerturbPrompt) -> str:
    """The request for the adjustment steps of a prompt, shown without steps and without an example."""
    shown = [part for part in paragraphs(prompt.prompt) if {"steps", "tag"}.isdisjoint(SLOT.findall(part))]
    task = fill("\n\n".join(shown), _UNFILLED)
    return fill(template.prompt, {"task": fenced(task, "task")})
