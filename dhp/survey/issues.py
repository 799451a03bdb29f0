"""What a survey asks about: the quality issues of a task, each shown on an example."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from dhp.content.catalog import DATASETS, descriptions, read_card, read_suite, read_task
from dhp.core.errors import InputError, suggest
from dhp.core.records import Example
from dhp.core.seeding import text_hash
from dhp.core.specs import Task
from dhp.perturb.build import perturb_datasets
from dhp.perturb.perturbed_dataset import PerturbedDataset


@dataclass(frozen=True, slots=True)
class Issue:
    """A quality issue: a perturber, its degrees together."""

    perturber: str
    description: str
    """What was done, in one sentence."""
    level: str
    example: Example
    degraded: Mapping[str, str]
    """degree -> the output of the example made worse; an only degree has the name ``""``."""


@dataclass(frozen=True, slots=True)
class Survey:
    """The questions put to experts: which metric of the task does each issue hurt most?"""

    task: Task
    issues: tuple[Issue, ...]

    @property
    def hash(self) -> str:
        """Tells surveys apart: task, metrics, issues and examples."""
        return text_hash(json.dumps([self.task.model_dump(), [asdict(issue) for issue in self.issues]]))


def task_perturbers(task: str) -> dict[str, str]:
    """Perturber -> the first dataset whose suite has it, over the benchmark's suites of a task.

    Raises `InputError` where there is nothing to vote on: the task has one metric, or no suite.
    """
    if len(names := read_task(task).metric_names) < 2:
        raise InputError(f"task '{task}': has one metric, {names[0]}, which bears all weight")
    found: dict[str, str] = {}
    for dataset in DATASETS:
        if read_card(dataset).task == task:
            for name in read_suite(dataset).perturbers:
                found.setdefault(name, dataset)
    if not found:
        known = {read_card(dataset).task for dataset in DATASETS}
        raise InputError(f"task '{task}': no dataset of the benchmark has it; {suggest(task, known)}")
    return found


def make_survey(task: str) -> Survey:
    """The survey of a task: the perturbers of its suites on texts of the bundled mini sets.

    No text is made by a language model, so that a survey is the same wherever it is made with
    the same installation.
    Raises `InputError` for an unknown task or one without a choice of metrics.
    """
    perturbers = task_perturbers(task)
    datasets = dict.fromkeys(perturbers.values())
    made = {name: perturb_datasets(f"mini/{name}")[0] for name in datasets}
    issues = (_issue(made[dataset], perturber) for perturber, dataset in perturbers.items())
    return Survey(read_task(task), tuple(issues))


def _issue(part: PerturbedDataset, perturber: str) -> Issue:
    """The issue on the first example that can be degraded in all its degrees."""
    variants = [v for v in part.variants if v.perturber == perturber]
    texts = {(t.example, t.variant): t.text for t in part.texts if t.text is not None}
    for example in part.dataset.examples:
        degraded = {v.degree or "": texts.get((example.id, v.name)) for v in variants}
        whole = {degree: text for degree, text in degraded.items() if text is not None}
        if len(whole) == len(variants):
            return Issue(perturber, descriptions()[perturber], variants[0].level, example, whole)
    raise InputError(f"{part.dataset.name}: no example shows perturber '{perturber}' in all degrees")
