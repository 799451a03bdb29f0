"""Answers of experts: read and checked, and counted into weights.

`read_answers` checks the file that the page saved for one expert: its form, then that metrics and perturbers
are those of the task. `aggregate` checks that all files answer one survey, each once, counts the votes on
each issue, and adds the agreement of the experts.
"""

import datetime as dt
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import Field

from dhp.content.catalog import DATASETS, misspelt_task, read_card, read_task
from dhp.content.yaml_files import refusals
from dhp.core.errors import InputError, one_of
from dhp.core.files import read_text
from dhp.core.specs import Name, Spec, Weights
from dhp.core.writing import write_lines
from dhp.plugins.survey.agreement import agreement
from dhp.plugins.survey.survey import task_perturbers

SCHEMA = "dhp.votes/1"
ROLE_LENGTH = 100
"""Most characters of an expert's role or initials. Chosen; the page allows no more either."""


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
    # For the messages of `aggregate`, which name the files that differ.
    read._origin = str(path)

    # What may be answered: of a bundled task its own metrics and perturbers, else whatever the file names.
    perturbers: Collection[str] = read.answers
    metrics = tuple(read.metrics)
    bundled = {read_card(dataset).task for dataset in DATASETS}
    if misspelt_task(read.task):
        one_of("task", read.task, bundled, str(path))
    if read.task in bundled:
        try:
            perturbers = task_perturbers(read.task)
            metrics = read_task(read.task).metric_names
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
    first = sheets[0]
    for sheet in sheets[1:]:
        _check_same_survey(sheet, first)
    _check_once(sheets)

    votes = _votes(sheets)
    agreed = agreement([sheet.answers for sheet in sheets], list(votes), first.metrics)
    roles = []
    for sheet in sheets:
        role = sheet.expert.strip()
        if role:  # it is optional
            roles.append(role)
    with refusals("", Weights):
        return Weights(
            weights=name,
            version=1,
            provenance=f"Votes on which metric each quality issue hurts most, survey {first.survey}.",
            date=max(sheet.date for sheet in sheets),
            experts=len(sheets),
            # Sorted, so that the order of the files does not matter.
            roles=sorted(roles),
            votes={first.task: votes},
            agreement={first.task: agreed} if agreed else {},
        )


def _check_same_survey(sheet: Answers, first: Answers) -> None:
    """All must have answered the same questions; each is held against the first."""
    for field in ("survey", "task"):
        value = getattr(sheet, field)
        wanted = getattr(first, field)
        if value != wanted:
            raise InputError(
                f"{sheet.origin}: {field}: '{value}' is not that of {first.origin}, '{wanted}'; "
                "allowed: answers to one survey"
            )
    in_one_alone = set(sheet.answers) ^ set(first.answers)
    if in_one_alone:
        # The first by name: a set has no order, and the message should always be the same.
        odd = min(in_one_alone)
        raise InputError(
            f"{sheet.origin}: answers: '{odd}' is answered in only one of this file and {first.origin}"
        )


def _check_once(sheets: Sequence[Answers]) -> None:
    seen: dict[str, str] = {}
    for sheet in sheets:
        if sheet.id in seen:
            raise InputError(
                f"{sheet.origin}: the same answers as {seen[sheet.id]}; must have each expert once"
            )
        seen[sheet.id] = sheet.origin


def _votes(sheets: Sequence[Answers]) -> dict[str, dict[str, int]]:
    """Issue -> metric -> its votes; raises `InputError` for an issue without any."""
    votes = {}
    for issue in sheets[0].answers:
        chosen = Counter(sheet.answers[issue] for sheet in sheets)
        # Without None, which stands for questions left open.
        by_metric = {metric: chosen[metric] for metric in sheets[0].metrics}
        if not any(by_metric.values()):  # its weights would be shares of no vote
            raise InputError(f"answers: nobody voted on '{issue}'; must have at least one vote on each")
        votes[issue] = by_metric
    return votes


def write_weights(weights: Weights, path: Path) -> None:
    """Write weights as a content file."""
    data = weights.model_dump(exclude_defaults=True)
    for figures in data.get("agreement", {}).values():
        for key, value in figures.items():
            figures[key] = round(value, 4)  # what is None is a default, and not there
    # `default_flow_style=None`: the votes on an issue in one line, all around them as blocks.
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=110, default_flow_style=None)
    write_lines(path, [text])
