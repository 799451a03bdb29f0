"""Surveys of experts: questions, answers, their faults, agreement.

`make_survey` finds an example that shows each perturber of a task in all its degrees. `read_answers` checks
the file that the page saved for one expert, and `aggregate` counts the votes of all into weights, with
Fleiss' kappa.
"""

import datetime as dt
import json
import logging
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import Field

from dhp.content.catalog import DATASETS, descriptions, misspelt_task, read_card, read_suite, read_task
from dhp.content.yaml_files import refusals
from dhp.core.errors import InputError, one_of, suggest
from dhp.core.files import read_text
from dhp.core.records import Example
from dhp.core.seeding import text_hash
from dhp.core.specs import Agreement, Name, Spec, Task, Weights
from dhp.core.writing import write_lines
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
    levels: dict[str, str] = {}
    for dataset in DATASETS:
        if read_card(dataset).task == task:
            for name in read_suite(dataset).perturbers:
                levels.setdefault(name, dataset)
    if not levels:
        known = {read_card(dataset).task for dataset in DATASETS}
        raise InputError(
            f"task '{task}': no bundled set has it; give texts by `dataset`; else {suggest(task, known)}"
        )
    return levels


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
        (part, *_) = perturb_datasets(dataset, task=task, suite=suite, controls=False)
        issues, lacking = [], []
        for perturber in dict.fromkeys(v.perturber for v in part.variants):
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
    if suite is not None:
        raise InputError("`suite`: goes with `dataset`; the bundled sets bring theirs")
    return _bundled_survey(task)


def _check_choice(task: Task) -> None:
    names = task.metric_names
    if len(names) < 2:
        raise InputError(
            f"task '{task.task}': has a single metric, {names[0]}, which would get all the weight"
        )


def _bundled_survey(task: str) -> Survey:
    perturbers = task_perturbers(task)
    made = {}
    for name in dict.fromkeys(perturbers.values()):
        (made[name],) = perturb_datasets(f"mini/{name}", controls=False)

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
    texts = {(text.example, text.variant): text.text for text in part.texts}
    for example in part.dataset.examples:
        degraded: dict[str, str] = {}
        for variant in variants:
            text = texts.get((example.id, variant.name))
            if text is not None:
                degraded[variant.degree or ""] = text
        if len(degraded) == len(variants):
            sentence = descriptions().get(perturber, perturber.replace("_", " ").capitalize() + ".")
            return Issue(perturber, sentence, variants[0].level, example, degraded)
    return None


_COVERAGE = 0.95
_FEWEST_FOR_INTERVAL = 3
"""Experts: without one of two there is nobody to agree with."""


def fleiss_kappa(votes: Sequence[Sequence[int]]) -> float | None:
    """Agreement beyond chance of several raters who each put every subject into one category.

    kappa = (P - P_e) / (1 - P_e) with P the mean share of agreeing pairs of raters of a subject and P_e the
    sum of the squared shares of the categories (Fleiss 1971, Psychological Bulletin 76, 378-382). Subjects
    may have different numbers of raters (Fleiss, Levin & Paik 2003, chapter 18); those with fewer than two
    are left out. `votes` has subjects x categories: how many raters chose the category. None if it is
    undefined: no subject with two raters, or all votes in one category.
    """
    rated = [row for row in votes if sum(row) > 1]  # a single rater agrees with nobody
    total = sum(map(sum, rated))
    shares = [sum(column) / total for column in zip(*rated, strict=True)]
    by_chance = math.fsum(share**2 for share in shares)
    if not rated or max(shares) == 1:
        return None
    observed = math.fsum(_agreeing_pairs(row) for row in rated) / len(rated)
    return (observed - by_chance) / (1 - by_chance)


def _agreeing_pairs(row: Sequence[int]) -> float:
    n = sum(row)
    agreeing = sum(votes * (votes - 1) for votes in row)  # ordered pairs of raters of one category
    return agreeing / (n * (n - 1))


def agreement(
    answers: Sequence[Mapping[str, str | None]], issues: Sequence[str], metrics: Sequence[str]
) -> Agreement | None:
    """Fleiss' kappa of the experts, with its 95 % interval had other experts been asked about these issues.

    The interval is that of the jackknife over experts, kappa +- t(n - 1) * s with s^2 = (n - 1) / n * the sum
    of squared deviations of the kappas without one expert (Efron & Stein 1981, Annals of Statistics 9,
    586-596). A bootstrap would count an expert who is drawn twice as two who agree. There is no interval for
    fewer than three experts, nor if all of them answer alike. An expert's answers are issue -> the metric
    chosen, or None if there is no answer.
    """

    def kappa(sheets: Sequence[Mapping[str, str | None]]) -> float | None:
        counts = []
        for issue in issues:
            votes = Counter(sheet[issue] for sheet in sheets)
            counts.append([votes[metric] for metric in metrics])
        return fleiss_kappa(counts)

    whole, n = kappa(answers), len(answers)
    if whole is None:
        return None

    # The jackknife: kappa without each expert in turn.
    without = []
    for i in range(n):
        k = kappa([*answers[:i], *answers[i + 1 :]])
        if k is not None:
            without.append(k)
    # Without one of them kappa may be undefined, and then the others alone would say too much.
    if len(without) < max(n, _FEWEST_FOR_INTERVAL):
        return Agreement(kappa=whole)
    mean = math.fsum(without) / n
    squares = math.fsum((k - mean) ** 2 for k in without)
    error = math.sqrt((n - 1) / n * squares)
    if error < 1e-9:  # all answer alike, and rounding alone is left
        return Agreement(kappa=whole)
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, (1 + _COVERAGE) / 2)) * error
    return Agreement(kappa=whole, low=max(-1.0, whole - half), high=min(1.0, whole + half))


SCHEMA = "dhp.votes/1"
ROLE_LENGTH = 100


class Answers(Spec):
    """What one expert answered, as the survey page saves it."""

    form: Literal["dhp.votes/1"] = Field(alias="schema")
    id: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    """Random, drawn when the page is opened."""
    survey: str
    """Hash of the survey that was answered."""
    task: Name
    metrics: list[Name]
    """Metrics that could be chosen."""
    date: dt.date
    expert: Annotated[str, Field(max_length=ROLE_LENGTH)] = ""
    """Role or initials, in the expert's own words."""
    answers: dict[Name, Name | None] = Field(min_length=1)
    """Perturber -> the metric it hurts most; null if the question was left open."""


def read_answers(path: Path) -> Answers:
    """The answers in a file; a fault raises `InputError`: file, place, what is wrong, what is allowed."""
    with refusals(str(path), Answers):
        read = Answers.model_validate_json(read_text(path))
    read._origin = str(path)

    # What may be answered: of a bundled task its own metrics and perturbers, else what the file names.
    perturbers: Collection[str] = read.answers
    metrics = tuple(read.metrics)
    bundled = {read_card(dataset).task for dataset in DATASETS}
    if misspelt_task(read.task):
        one_of("task", read.task, bundled, str(path))
    if read.task in bundled:
        try:
            perturbers, metrics = task_perturbers(read.task), read_task(read.task).metric_names
        except InputError as e:
            raise InputError(f"{path}: {e}") from None

    if tuple(read.metrics) != metrics:
        raise InputError(f"{path}: metrics: must be those of task '{read.task}': {', '.join(metrics)}")
    for perturber, metric in read.answers.items():
        one_of("perturber", perturber, perturbers, f"{path}: answers")
        if metric is not None:
            one_of("metric", metric, metrics, f"{path}: answers.{perturber}")
    return read


def aggregate(sheets: Sequence[Answers], name: str) -> Weights:
    """Votes and agreement of experts who answered the same survey, each once.

    The order of the sheets does not matter. Raises `InputError` for another survey, answers given twice, an
    issue that nobody voted on, and a name of other characters than lower-case letters, digits and `_`.
    """
    # All must have answered the same questions; each is held against the first.
    first, *others = sheets
    for sheet in others:
        for field in ("survey", "task"):
            value = getattr(sheet, field)
            wanted = getattr(first, field)
            if value != wanted:
                raise InputError(
                    f"{sheet.origin}: {field}: '{value}' is not that of {first.origin}, '{wanted}'; "
                    "allowed: answers to one survey"
                )
        if set(sheet.answers) != set(first.answers):
            odd = min(set(sheet.answers) ^ set(first.answers))
            raise InputError(
                f"{sheet.origin}: answers: '{odd}' is answered in only one of this file and {first.origin}"
            )
    _check_once(sheets)

    issues = list(first.answers)
    votes: dict[str, dict[str, int]] = {}
    for issue in issues:
        chosen = Counter(sheet.answers[issue] for sheet in sheets)
        votes[issue] = {metric: chosen[metric] for metric in first.metrics}
    # Its weights would be shares of no vote.
    silent = [issue for issue, row in votes.items() if not any(row.values())]
    if silent:
        raise InputError(f"answers: nobody voted on '{silent[0]}'; must have at least one vote on each")

    agreed = agreement([s.answers for s in sheets], issues, first.metrics)
    with refusals("", Weights):
        return Weights(
            weights=name,
            version=1,
            provenance=f"Votes on which metric each quality issue hurts most, survey {first.survey}.",
            date=max(s.date for s in sheets),
            experts=len(sheets),
            roles=sorted(filter(None, (sheet.expert.strip() for sheet in sheets))),
            votes={first.task: votes},
            agreement={} if agreed is None else {first.task: agreed},
        )


def _check_once(sheets: Sequence[Answers]) -> None:
    seen: dict[str, str] = {}
    for sheet in sheets:
        if sheet.id in seen:
            raise InputError(
                f"{sheet.origin}: the same answers as {seen[sheet.id]}; must have each expert once"
            )
        seen[sheet.id] = sheet.origin


def write_weights(weights: Weights, path: Path) -> None:
    """Write weights as a content file."""
    data = weights.model_dump(exclude_defaults=True)
    for figures in data.get("agreement", {}).values():
        for key, value in figures.items():
            if value is not None:
                figures[key] = round(value, 4)
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=110, default_flow_style=None)
    write_lines(path, [text])
