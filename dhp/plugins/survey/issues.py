"""Issues of a survey: quality issues of a task, each with an example."""

import json
import logging
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
    """Description of the change, in one sentence."""
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
    _check_choice(read_task(task))
    found: dict[str, str] = {}
    for dataset in DATASETS:
        if read_card(dataset).task == task:
            for name in read_suite(dataset).perturbers:
                found.setdefault(name, dataset)
    if not found:
        known = {read_card(dataset).task for dataset in DATASETS}
        raise InputError(
            f"task '{task}': no bundled set has it; give texts by `dataset`; else {suggest(task, known)}"
        )
    return found


def make_survey(task: str, dataset: str | None = None, suite: str | None = None) -> Survey:
    """The survey of a task: which metric does each perturber hurt most?

    No text is made by a language model, so that a survey is the same wherever it is made with
    the same installation.

    Parameters
    ----------
    task
        Name or YAML file.
    dataset
        A file of texts of the task, to show the perturbers of their suite on. Default: the bundled mini sets
        of the task, each with its own suite.
    suite
        Name or YAML file; with `dataset` alone. Default: that of the data.

    Raises
    ------
    InputError
        For an unknown task, one without a choice of metrics, and one that no bundled set has without
        `dataset`.
    """
    if dataset is not None:
        _check_choice(read_task(task))
        (part, *_) = perturb_datasets(dataset, task=task, suite=suite, controls=False)
        perturbers = dict.fromkeys(v.perturber for v in part.variants)
        shown = {perturber: _issue(part, perturber) for perturber in perturbers}
        if lacking := [perturber for perturber, issue in shown.items() if issue is None]:
            logging.getLogger("dhp").warning(
                "left out of the survey, as no text shows all degrees: %s", ", ".join(lacking)
            )
        return Survey(part.dataset.task, tuple(issue for issue in shown.values() if issue))
    if suite is not None:
        raise InputError("`suite`: goes with `dataset`; the bundled sets bring theirs")
    return _bundled_survey(task)


def _check_choice(task: Task) -> None:
    if len(names := task.metric_names) < 2:
        raise InputError(
            f"task '{task.task}': has a single metric, {names[0]}, which would get all the weight"
        )


def _bundled_survey(task: str) -> Survey:
    perturbers = task_perturbers(task)
    datasets = dict.fromkeys(perturbers.values())
    made = {name: perturb_datasets(f"mini/{name}", controls=False)[0] for name in datasets}
    issues = []
    for perturber, dataset in perturbers.items():
        issue = _issue(made[dataset], perturber)
        if issue is None:
            raise InputError(f"mini/{dataset}: no example shows perturber '{perturber}' in all degrees")
        issues.append(issue)
    return Survey(read_task(task), tuple(issues))


def _issue(part: PerturbedDataset, perturber: str) -> Issue | None:
    """The issue on the first example that can be degraded in all its degrees; None without one."""
    variants = [v for v in part.variants if v.perturber == perturber]
    texts = {(t.example, t.variant): t.text for t in part.texts if t.text is not None}
    for example in part.dataset.examples:
        degraded = {v.degree or "": texts.get((example.id, v.name)) for v in variants}
        whole = {degree: text for degree, text in degraded.items() if text is not None}
        if len(whole) == len(variants):
            said = descriptions().get(perturber, perturber.replace("_", " ").capitalize() + ".")
            return Issue(perturber, said, variants[0].level, example, whole)
    return None
