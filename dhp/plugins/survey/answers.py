"""Answers of experts: read, counted, written as a weights file."""

import datetime as dt
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import Field, ValidationError

from dhp.content.catalog import DATASETS, misspelt_task, read_card, read_task
from dhp.content.yaml import describe
from dhp.core.errors import InputError, suggest
from dhp.core.files import read_text, write_lines
from dhp.core.specs import Name, Spec
from dhp.core.weight_spec import Weights
from dhp.plugins.survey.agreement import agreement
from dhp.plugins.survey.issues import task_perturbers

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
    """Perturber -> the metric it hurts most; null where the question was left open."""


def read_answers(path: Path) -> Answers:
    """The answers in a file; a fault raises `InputError`: file, place, what is wrong, what is allowed."""
    try:
        read = Answers.model_validate_json(read_text(path))
    except ValidationError as e:
        raise InputError(f"{path}: {describe(e, Answers)}") from None
    read._origin = str(path)
    perturbers: Collection[str] = read.answers
    metrics = tuple(read.metrics)
    bundled = {read_card(dataset).task for dataset in DATASETS}
    if misspelt_task(read.task):
        raise InputError(f"{path}: unknown task '{read.task}'; {suggest(read.task, bundled)}")
    if read.task in bundled:
        try:
            perturbers, metrics = task_perturbers(read.task), read_task(read.task).metric_names
        except InputError as e:
            raise InputError(f"{path}: {e}") from None
    if tuple(read.metrics) != metrics:
        raise InputError(f"{path}: metrics: must be those of task '{read.task}': {', '.join(metrics)}")
    for perturber, metric in read.answers.items():
        if perturber not in perturbers:
            raise InputError(
                f"{path}: answers: unknown perturber '{perturber}'; {suggest(perturber, perturbers)}"
            )
        if metric is not None and metric not in metrics:
            raise InputError(
                f"{path}: answers.{perturber}: unknown metric '{metric}'; {suggest(metric, metrics)}"
            )
    return read


def aggregate(sheets: Sequence[Answers], name: str) -> Weights:
    """Votes and agreement of experts who answered the same survey, each once.

    Parameters
    ----------
    sheets
        From `read_answers`; their order does not matter.
    name
        Of the weights: lower-case letters, digits and `_`.

    Raises
    ------
    InputError
        For another survey, answers given twice, an issue that nobody voted on, a name that is none.
    """
    first, *others = sheets
    for sheet in others:
        for field in ("survey", "task"):
            if (there := getattr(sheet, field)) != (here := getattr(first, field)):
                raise InputError(
                    f"{sheet.origin}: {field}: '{there}' is not that of {first.origin}, '{here}'; "
                    "allowed: answers to one survey"
                )
        if set(sheet.answers) != set(first.answers):
            odd = min(set(sheet.answers) ^ set(first.answers))
            raise InputError(
                f"{sheet.origin}: answers: '{odd}' is answered in only one of this file and {first.origin}"
            )
    _check_once(sheets)
    issues = list(first.answers)
    chosen = {i: [s.answers[i] for s in sheets] for i in issues}
    votes = {i: {m: chosen[i].count(m) for m in first.metrics} for i in issues}
    if silent := [issue for issue, row in votes.items() if not any(row.values())]:
        raise InputError(f"answers: nobody voted on '{silent[0]}'; allowed: at least one vote on each")
    found = agreement([s.answers for s in sheets], issues, first.metrics)
    try:
        return Weights(
            weights=name,
            version=1,
            provenance=f"Votes on which metric each quality issue hurts most, survey {first.survey}.",
            date=max(s.date for s in sheets),
            experts=len(sheets),
            roles=sorted(s.expert.strip() for s in sheets if s.expert.strip()),
            votes={first.task: votes},
            agreement={} if found is None else {first.task: found},
        )
    except ValidationError as e:
        raise InputError(describe(e, Weights)) from None


def _check_once(sheets: Sequence[Answers]) -> None:
    seen: dict[str, str] = {}
    for sheet in sheets:
        if sheet.id in seen:
            raise InputError(
                f"{sheet.origin}: the same answers as {seen[sheet.id]}; allowed: each expert once"
            )
        seen[sheet.id] = sheet.origin


def write_weights(weights: Weights, path: Path) -> None:
    """Write weights as a content file."""
    data = weights.model_dump(exclude_defaults=True)
    for found in data.get("agreement", {}).values():
        found |= {key: round(value, 4) for key, value in found.items() if value is not None}
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=110, default_flow_style=None)
    write_lines(path, [text])
