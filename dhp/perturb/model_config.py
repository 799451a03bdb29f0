"""The perturb model by name, and its estimated cost."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dhp.content.catalog import content_folder, load_spec
from dhp.core.errors import InputError, one_of, suggest
from dhp.core.files import read_text
from dhp.core.keywords import near_keywords
from dhp.core.records import Example, Variant
from dhp.core.seeding import text_hash
from dhp.core.specs import S, Suite
from dhp.llm.cached_model import CachedModel, RequestContext
from dhp.llm.estimate import Estimate, estimate_requests
from dhp.llm.replay import OnlyStored
from dhp.llm.settings import ModelSettings
from dhp.perturb.llm.model import LlmPerturber
from dhp.perturb.llm.prompts import (
    AgainPrompt,
    PerturbPrompt,
    StepsPrompt,
    TextPrompt,
    plain_prompt,
    prompt_name,
)
from dhp.perturb.perturbed_dataset import PerturbedDataset
from dhp.perturb.settings import PerturbModel

GENERAL = "general"
"""The folder of the prompts for tasks without their own."""
LOOKED_AT = 10
"""Number of examples that decide whether a resumed run has to call a model at all."""


@near_keywords
@dataclass(frozen=True, slots=True)
class _PromptFiles:
    """The prompts of the perturbers by language model: bundled, or of the user's folder."""

    own: Path | None = None
    read_so_far: dict[str, str] = field(default_factory=dict)
    """File -> its contents as they count."""

    def __post_init__(self) -> None:
        if self.own is not None and not self.own.is_dir():
            raise InputError(f"{self.own}: is not a folder; allowed: one with prompt files of perturbers")

    def check_names(self, asked: Iterable[tuple[str, str]]) -> None:
        """Raise `InputError` for a file of one's own that replaces no bundled prompt and is none asked for.

        `asked` are the tasks and names of the prompts that their suites take.
        """
        if self.own is None:
            return
        places = (f"{folder}/{name}" for task, name in asked for folder in (task, GENERAL))
        names = {*_names(_bundled()), *places}
        plain = {f"{name}.txt" for name in names if "/" in name}
        known = sorted(plain | {f"{name}.yaml" for name in names})
        for path in sorted(self.own.rglob("*")):
            name = path.relative_to(self.own).as_posix()
            if path.is_file() and not name.startswith("."):
                one_of("prompt", name, known, str(self.own))

    def __call__(self, task: str, name: str) -> TextPrompt:
        file = self.file(task, name)
        plain = self.own / f"{file}.txt" if self.own else None
        if plain is None or not plain.is_file():
            return self.read(file, PerturbPrompt)
        if plain.with_suffix(".yaml").is_file():
            raise InputError(f"{plain}: a .yaml of the same name is beside it; allowed: one of them")
        try:
            found = plain_prompt(read_text(plain))
        except InputError as e:
            raise InputError(f"{plain}: {e}") from None
        self.read_so_far[file] = found.model_dump_json()
        return found

    def file(self, task: str, name: str) -> str:
        """`TASK/NAME`, or `general/NAME` where the task has no prompt of its own; raises `InputError` for
        none."""
        there = {*_names(_bundled()), *(_names(self.own) if self.own else ())}
        for folder in (task, GENERAL):
            if f"{folder}/{name}" in there:
                return f"{folder}/{name}"
        fitting = [
            known.partition("/")[2] for known in there if known.startswith((f"{task}/", f"{GENERAL}/"))
        ]
        raise InputError(f"task '{task}': no prompt '{name}.yaml'; {suggest(name, set(fitting))}")

    def read(self, name: str, spec: type[S]) -> S:
        own = self.own / f"{name}.yaml" if self.own else None
        found = load_spec(own if own and own.is_file() else _bundled() / f"{name}.yaml", spec)
        self.read_so_far[name] = found.model_dump_json()
        return found


def _bundled() -> Path:
    return content_folder("perturbations") / "prompts"


def _names(folder: Path) -> list[str]:
    files = (path for suffix in ("yaml", "txt") for path in folder.rglob(f"*.{suffix}"))
    return sorted({path.relative_to(folder).with_suffix("").as_posix() for path in files})


@dataclass(frozen=True, slots=True)
class OpenedModel:
    """A language model ready to degrade texts."""

    llm: LlmPerturber
    """Asks what is not stored."""
    recalled: LlmPerturber
    """Knows what is stored and asks nothing."""
    steps: str
    prompts: _PromptFiles

    def check_server(self, examples: Sequence[Example], variant: Variant, task: str) -> None:
        """Raise `InputError` where the server has to be asked for texts of a variant and cannot be."""
        stored, missing = self.recalled.recall(examples[:LOOKED_AT], variant, task)
        if missing and not stored:
            self.llm.cached_model.check_server(missing)

    def origin(self, task: str, variants: Iterable[Variant]) -> str:
        """What made the texts of a perturber: model, steps, a hash of its prompts and of steps of the model.

        No address, as sets are given away.
        """
        names = [prompt_name(v.perturber, v.degree) for v in variants]
        files = [self.prompts.file(task, name) for name in names]
        read = {name: self.prompts.read_so_far[name] for name in ("again", *files)}
        own = self.llm.auto_steps.get(task, {})
        steps = {v: own[v] for v in names if v in own}
        digest = text_hash(json.dumps([read, steps], sort_keys=True))
        return f"{self.llm.cached_model.model.model}, steps {self.steps}, prompts@{digest}"


def check_prompts(suite: Suite) -> int:
    """Read the bundled prompts of a suite strictly; returns how many there are."""
    prompts = _PromptFiles()
    asked = [v for v in suite.variants if v.method == "llm"]
    for variant in asked:
        prompts(suite.task, prompt_name(variant.perturber, variant.degree))
    prompts.read("again", AgainPrompt)
    prompts.read("steps", StepsPrompt)
    return len(asked)


def open_perturb_model(
    given: str | PerturbModel, settings: ModelSettings, context: RequestContext
) -> OpenedModel:
    """The model, to be asked on these terms; raises `InputError` for one that cannot be had."""
    given = PerturbModel(given) if isinstance(given, str) else given
    prompts = _PromptFiles(None if given.prompts is None else Path(given.prompts))
    again = prompts.read("again", AgainPrompt)
    steps = prompts.read("steps", StepsPrompt) if given.steps == "auto" else None
    model = settings.open(given.model, context)
    most = given.max_tokens
    llm = LlmPerturber(CachedModel(model, context), prompts, again, steps=steps, max_tokens=most)
    nothing_asked = CachedModel(OnlyStored(model), RequestContext(context.store))
    recalled = LlmPerturber(nothing_asked, prompts, again, steps=steps, max_tokens=most)
    return OpenedModel(llm, recalled, given.steps, prompts)


def perturbing_estimates(
    parts: Sequence[PerturbedDataset],
    model: str | PerturbModel | None,
    settings: ModelSettings,
    context: RequestContext,
) -> list[Estimate]:
    """What asking the perturb model for the texts of `parts` would take.

    The parts are those of a dry build; an answer is reckoned for each text that is not stored.
    """
    if model is None:
        return []
    opened = open_perturb_model(model, settings, context)
    found = []
    for part in parts:
        task, cached_model = part.dataset.task.task, opened.llm.cached_model
        requests = [
            request
            for variant in part.variants
            if variant.method == "llm"
            for request in opened.recalled.recall(
                part.dataset.examples, variant, task, part.dataset.language
            )[1]
        ]
        found.append(estimate_requests(cached_model, "perturbations", part.dataset.name, requests, "texts"))
    return found
