"""The prompts of the perturbers by language model: bundled, or of the user's folder.

A prompt is a file `TASK/NAME.yaml`, or `general/NAME.yaml` for tasks without their own. A file of the user's
replaces the bundled one of the same name; it may be plain text, too (`NAME.txt`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from dhp.content.yaml_files import content_folder, load_spec
from dhp.core.errors import InputError, one_of, suggest
from dhp.core.files import read_text
from dhp.core.specs import S, Suite
from dhp.perturb.llm.prompts import (
    AgainPrompt,
    PerturbPrompt,
    StepsPrompt,
    TextPrompt,
    plain_prompt,
    prompt_name,
)

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
        names = set(_names(_bundled()))
        for task, name in asked:
            names |= {f"{task}/{name}", f"{GENERAL}/{name}"}
        return names

    def check_names(self, asked: Iterable[tuple[str, str]]) -> None:
        """Raise `InputError` for a file of one's own that replaces no bundled prompt and is none asked for.

        `asked` are the tasks and names of the prompts that their suites take.
        """
        if self.folder is None:
            return
        files: list[str] = []
        for name in self.known(asked):
            files.append(f"{name}.yaml")
            if "/" in name:  # only prompts of a task may be plain text
                files.append(f"{name}.txt")
        known = sorted(files)
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder).as_posix()
            if path.is_file() and not name.startswith("."):
                one_of("prompt", name, known, str(self.folder))

    def __call__(self, task: str, name: str) -> TextPrompt:
        """The prompt of a task; raises `InputError` if there is none, or if it is faulty."""
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
        all_names = _names(_bundled())
        if self.folder:
            all_names |= _names(self.folder)
        for folder in (task, GENERAL):
            if f"{folder}/{name}" in all_names:
                return f"{folder}/{name}"
        fitting = set()
        for known in all_names:
            folder, _, of_folder = known.partition("/")
            if folder in (task, GENERAL):
                fitting.add(of_folder)
        raise InputError(f"task '{task}': no prompt '{name}.yaml'; {suggest(name, fitting)}")

    def read(self, name: str, spec: type[S]) -> S:
        """The file `NAME.yaml` as `spec` describes it: the user's, else the bundled one."""
        path = self.folder / f"{name}.yaml" if self.folder else None
        prompts = load_spec(path if path and path.is_file() else _bundled() / f"{name}.yaml", spec)
        self.read_so_far[name] = prompts.model_dump_json()
        return prompts


def _bundled() -> Path:
    return content_folder("perturbations") / "prompts"


def _names(folder: Path) -> set[str]:
    """The prompts in a folder, as their paths without an ending."""
    names = set()
    for suffix in ("yaml", "txt"):
        for path in folder.rglob(f"*.{suffix}"):
            names.add(path.relative_to(folder).with_suffix("").as_posix())
    return names


def check_prompts(suite: Suite) -> int:
    """Read the bundled prompts of a suite strictly; returns how many there are."""
    prompts = PromptFiles()
    asked = [v for v in suite.variants if v.method == "llm"]
    for variant in asked:
        prompts(suite.task, prompt_name(variant.perturber, variant.degree))
    prompts.read("again", AgainPrompt)
    prompts.read("steps", StepsPrompt)
    return len(asked)
