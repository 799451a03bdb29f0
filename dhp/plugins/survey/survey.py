"""The questions of a survey: which metric of a task does each kind of damage hurt most?

`make_survey` degrades texts of the task by all perturbers of a suite. Of each perturber it takes the first
example that shows it in all its degrees (`_issue`).
"""

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from dhp.content.catalog import DATASETS, descriptions, read_card, read_suite, read_task
from dhp.core.errors import InputError, suggest
from dhp.core.records import Example
from dhp.core.seeding import text_hash
from dhp.core.specs import Task
from dhp.perturb.builder import perturb_datasets
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
        issues = []
        for issue in self.issues:
            issues.append({**asdict(issue), "example": issue.example.to_dict()})
        return text_hash(json.dumps([self.task.model_dump(), issues]))


def task_perturbers(task: str) -> dict[str, str]:
    """Perturber -> the first dataset whose suite has it, over the benchmark's suites of a task.

    Raises `InputError` if there is nothing to vote on: the task has one metric, or no suite.
    """
    _check_choice(read_task(task))
    first_datasets: dict[str, str] = {}
    for dataset in DATASETS:
        if read_card(dataset).task == task:
            for name in read_suite(dataset).perturbers:
                first_datasets.setdefault(name, dataset)
    if not first_datasets:
        known = {read_card(dataset).task for dataset in DATASETS}
        raise InputError(
            f"task '{task}': no bundled set has it; give texts by `dataset`; else {suggest(task, known)}"
        )
    return first_datasets


def make_survey(task: str, dataset: str | None = None, suite: str | None = None) -> Survey:
    """The survey of a task: which metric does each perturber hurt most?

    No text is made by a language model, so that a survey is the same wherever it is made with the same
    installation. Perturbers are shown on the texts of a file, `dataset`, by its suite or `suite`, else on the
    bundled mini sets of the task, each with its own suite. Raises `InputError` for an unknown task, one
    without a choice of metrics, and one that no bundled set has without `dataset`.
    """
    if dataset is not None:
        _check_choice(read_task(task))
        # Harmless edits hurt no metric, so nobody is asked about them.
        part = perturb_datasets(dataset, task=task, suite=suite, controls=False)[0]
        return _own_survey(part)
    if suite is not None:
        raise InputError("`suite`: goes with `dataset`; the bundled sets bring theirs")
    return _bundled_survey(task)


def _check_choice(task: Task) -> None:
    names = task.metric_names
    if len(names) < 2:
        raise InputError(
            f"task '{task.task}': has a single metric, {names[0]}, which would get all the weight"
        )


def _own_survey(part: PerturbedDataset) -> Survey:
    """The survey on texts of the user's own; a perturber that they do not show is left out."""
    # Of the order of the suite, each once: a variant for each degree names its perturber.
    perturbers = dict.fromkeys(variant.perturber for variant in part.variants)
    issues, lacking = [], []
    for perturber in perturbers:
        issue = _issue(part, perturber)
        if issue:
            issues.append(issue)
        else:
            lacking.append(perturber)

    if lacking:
        logging.getLogger("dhp").warning(
            "left out of the survey, as no text shows all degrees: %s", ", ".join(lacking)
        )
    return Survey(part.dataset.task, tuple(issues))


def _bundled_survey(task: str) -> Survey:
    """The survey on the bundled mini sets of a task, which show all its perturbers."""
    made: dict[str, PerturbedDataset] = {}
    issues = []
    for perturber, dataset in task_perturbers(task).items():
        # Each set is degraded once, for all its perturbers.
        if dataset not in made:
            made[dataset] = perturb_datasets(f"mini/{dataset}", controls=False)[0]
        issue = _issue(made[dataset], perturber)
        if issue is None:
            raise InputError(f"mini/{dataset}: no example shows perturber '{perturber}' in all degrees")
        issues.append(issue)
    return Survey(read_task(task), tuple(issues))


def _issue(part: PerturbedDataset, perturber: str) -> Issue | None:
    """The issue on the first example that can be degraded in all its degrees; None without one."""
    variants = [variant for variant in part.variants if variant.perturber == perturber]
    texts = {(text.example, text.variant): text.text for text in part.texts}
    for example in part.dataset.examples:
        degraded: dict[str, str] = {}
        for variant in variants:
            text = texts.get((example.id, variant.name))
            if text is not None:
                degraded[variant.degree or ""] = text
        if len(degraded) == len(variants):
            # A perturber of the user's own has no description: its name has to do.
            sentence = descriptions().get(perturber, perturber.replace("_", " ").capitalize() + ".")
            return Issue(perturber, sentence, variants[0].level, example, degraded)
    return None
