"""Prompts for degrading texts, their files, and extraction of the revised text.

Texts are never altered, never expanded, and fenced but in plain prompts, which are sent as they stand.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, StringConstraints, model_validator

from dhp.content.yaml_files import content_folder, load_spec, load_yaml
from dhp.core.errors import InputError, one_of, suggest
from dhp.core.files import read_text
from dhp.core.reasoning import without_reasoning
from dhp.core.records import Example
from dhp.core.specs import S, Spec, Suite
from dhp.core.text import (
    SLOT,
    between_tags,
    fenced,
    fill,
    free_tag,
    is_refusal,
    paragraphs,
    slots_fault,
)

_UNFILLED = {"text": "...", "source": "...", "question": "...", "count": "N"}
"""What stands for the slots of a prompt that is shown without an example."""
_TAG = "revised"
_HERE = re.compile(r"\b([A-Z][A-Z_]*?)_HERE\b")
_CUE = re.compile(r"^\s*(?:\*\*)?Revised [\w ]+:(?:\*\*)?")
_FENCE = re.compile(r"<(text(?:-\d+)?)>\s*(.*?)\s*</\1>", re.S)
"""What a model repeats of a prompt that asks for no tags: its last words, and a fence round the text."""
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
        if fault := slots_fault(self.prompt, [*self.slots, *self.further], self.slots):
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
        return PlainPrompt(prompt=_HERE.sub(lambda match: f"{{{{{_slot(match[1])}}}}}", text.strip()))
    except ValueError as e:
        reason = str(e.errors()[0]["msg"]).removeprefix("Value error, ") if hasattr(e, "errors") else str(e)
        raise InputError(reason) from None


def _slot(name: str) -> str:
    return next((slot for slot, names in _NAMES.items() if name in names), f"{name}_HERE")


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
    texts = {
        **shown,
        "count": str(count),
        "steps": "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1)),
        "tag": answer_tag(example),
    }
    return fill(prompt.prompt, texts)


def answer_tag(example: Example) -> str:
    """The name of the tags that the revised text is asked for between: none that the example's texts hold."""
    return free_tag(_TAG, example.output, example.source, *example.fields.values())


def revised_text(answer: str, example: Example, *, whole: bool = False) -> tuple[str | None, str | None]:
    """The text between the last complete pair of tags, outside reasoning; or None and why there is none.

    With `whole` it is all of the answer outside reasoning, without what it repeats of the prompt.
    """
    tag, plain = answer_tag(example), without_reasoning(answer) or ""
    if whole:
        answered = _CUE.sub("", plain).strip()
        if fence := _FENCE.fullmatch(answered):
            answered = fence[2]
        return (None, REFUSED) if not answered or is_refusal(answered) else (answered, None)
    text = between_tags(plain, tag)
    if text is not None:
        return text, None
    if is_refusal(plain):
        return None, REFUSED
    return None, CUT_OFF if between_tags(f"{plain}</{tag}>", tag) is not None else NO_TAGS


def again(template: AgainPrompt, request: str, answer: str, reason: str) -> str:
    """The request with an answer that did not count, and why it did not."""
    return fill(template.prompt, {"request": request, "answer": fenced(answer, "answer"), "reason": reason})


def asks_for_steps(template: StepsPrompt, prompt: PerturbPrompt) -> str:
    """The request for the adjustment steps of a prompt, shown without steps and without an example."""
    shown = [p for p in paragraphs(prompt.prompt) if {"steps", "tag"}.isdisjoint(SLOT.findall(p))]
    return fill(template.prompt, {"task": fenced(fill("\n\n".join(shown), _UNFILLED), "task")})


@dataclass(frozen=True, slots=True)
class StepsFile:
    """Adjustment steps of the user's own."""

    path: Path
    by_task: Mapping[str | None, Mapping[str, list[str]]]
    """Task -> variant -> steps; the key None stands for all tasks."""

    def __call__(self, task: str) -> Mapping[str, list[str]]:
        """Variant -> steps for a task."""
        return self.by_task.get(task, self.by_task.get(None, {}))

    def check(self, task: str, wanted: Sequence[str]) -> None:
        """Raise `InputError` if the steps of a wanted variant of the task are missing."""
        if lacking := [name for name in wanted if name not in self(task)]:
            raise InputError(f"{self.path}: lacks steps for task '{task}': {', '.join(lacking)}")

    def check_names(self, tasks: Iterable[str], variants: Iterable[str]) -> None:
        """Raise `InputError` for steps of a task or a variant that is none of these."""
        known, allowed = list(tasks), list(variants)
        for task, steps in self.by_task.items():
            if task is not None:
                one_of("task", task, known, str(self.path))
            for name in steps:
                one_of("variant", name, allowed, str(self.path))


def read_steps(path: Path) -> StepsFile:
    """The steps in a YAML file of `task: {variant: [step, ...]}`, or of `variant: [step, ...]` for all tasks.

    Raises `InputError` if anything else stands there.
    """
    data = load_yaml(path)
    if not isinstance(data, dict) or not data:
        raise InputError(f"{path}: must be a mapping of variant: [step, ...], by task or for all tasks")
    by_task: dict[str | None, dict[Any, Any]] = {None: data}
    if all(isinstance(steps, dict) for steps in data.values()):
        by_task = {str(task): steps for task, steps in data.items()}
    for steps in by_task.values():
        for variant, listed in steps.items():
            texts = listed if isinstance(listed, list) else []
            if not texts or not all(isinstance(step, str) and step.strip() for step in texts):
                raise InputError(f"{path}: {variant}: must be a list of steps, each a text")
    return StepsFile(path, by_task)


GENERAL = "general"
"""The folder of the prompts for tasks without their own."""


@dataclass(frozen=True, slots=True)
class PromptFiles:
    """The prompts of the perturbers by language model: bundled, or of the user's folder."""

    folder: Path | None = None
    read_so_far: dict[str, str] = field(default_factory=dict)
    """File -> its contents as they count."""

    def __post_init__(self) -> None:
        if self.folder is not None and not self.folder.is_dir():
            raise InputError(f"{self.folder}: is not a folder; allowed: one with prompt files of perturbers")

    def known(self, asked: Iterable[tuple[str, str]]) -> set[str]:
        """`TASK/NAME` of the bundled prompts and of those that are `asked` for."""
        return {
            *_names(_bundled()),
            *(f"{folder}/{name}" for task, name in asked for folder in (task, GENERAL)),
        }

    def check_names(self, asked: Iterable[tuple[str, str]]) -> None:
        """Raise `InputError` for a file of one's own that replaces no bundled prompt and is none asked for.

        `asked` are the tasks and names of the prompts that their suites take.
        """
        if self.folder is None:
            return
        names = self.known(asked)
        plain = {f"{name}.txt" for name in names if "/" in name}
        known = sorted(plain | {f"{name}.yaml" for name in names})
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder).as_posix()
            if path.is_file() and not name.startswith("."):
                one_of("prompt", name, known, str(self.folder))

    def __call__(self, task: str, name: str) -> TextPrompt:
        file = self.file(task, name)
        plain = self.folder / f"{file}.txt" if self.folder else None
        if plain is None or not plain.is_file():
            return self.read(file, PerturbPrompt)
        if plain.with_suffix(".yaml").is_file():
            raise InputError(f"{plain}: a .yaml of the same name is beside it; allowed: one of them")
        try:
            prompt = plain_prompt(read_text(plain))
        except InputError as e:
            raise InputError(f"{plain}: {e}") from None
        self.read_so_far[file] = prompt.model_dump_json()
        return prompt

    def file(self, task: str, name: str) -> str:
        """`TASK/NAME`, or `general/NAME` where the task has no prompt of its own; raises `InputError` for
        none."""
        all_names = {*_names(_bundled()), *(_names(self.folder) if self.folder else ())}
        for folder in (task, GENERAL):
            if f"{folder}/{name}" in all_names:
                return f"{folder}/{name}"
        fitting = [
            known.partition("/")[2] for known in all_names if known.startswith((f"{task}/", f"{GENERAL}/"))
        ]
        raise InputError(f"task '{task}': no prompt '{name}.yaml'; {suggest(name, set(fitting))}")

    def read(self, name: str, spec: type[S]) -> S:
        path = self.folder / f"{name}.yaml" if self.folder else None
        prompts = load_spec(path if path and path.is_file() else _bundled() / f"{name}.yaml", spec)
        self.read_so_far[name] = prompts.model_dump_json()
        return prompts


def _bundled() -> Path:
    return content_folder("perturbations") / "prompts"


def _names(folder: Path) -> list[str]:
    files = (path for suffix in ("yaml", "txt") for path in folder.rglob(f"*.{suffix}"))
    return sorted({path.relative_to(folder).with_suffix("").as_posix() for path in files})


def check_prompts(suite: Suite) -> int:
    """Read the bundled prompts of a suite strictly; returns how many there are."""
    prompts = PromptFiles()
    asked = [v for v in suite.variants if v.method == "llm"]
    for variant in asked:
        prompts(suite.task, prompt_name(variant.perturber, variant.degree))
    prompts.read("again", AgainPrompt)
    prompts.read("steps", StepsPrompt)
    return len(asked)
