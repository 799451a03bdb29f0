"""Adjustment steps of the user's own, from a file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dhp.content.yaml_files import load_steps
from dhp.core.errors import InputError, one_of


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
        lacking = [name for name in wanted if name not in self(task)]
        if lacking:
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
    return StepsFile(path, load_steps(path, "variant"))
