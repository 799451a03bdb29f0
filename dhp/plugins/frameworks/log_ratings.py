"""The scores that a judge gave in the log of another tool, as a table of ratings."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhp.core.errors import InputError, listed, one_of
from dhp.core.files import opened, read_json
from dhp.core.recorded import OVERALL
from dhp.core.records import ORIGINAL
from dhp.core.tables import Row, as_text, is_blank, read_table
from dhp.loaders.inspect_log import LOG_SUFFIX, read_eval_file
from dhp.loaders.left_out import leave_out
from dhp.plugins.frameworks.evaluation_events import evaluation_entries, is_telemetry
from dhp.plugins.frameworks.logs import is_log_table, log_kind
from dhp.plugins.frameworks.scorers import graded

if TYPE_CHECKING:
    import pandas as pd

_NAMES: Mapping[str, tuple[str, ...]] = {
    "example": ("example", "example_id"),
    "variant": ("variant",),
    "level": ("level",),
    "cluster": ("cluster",),
}
"""Column of a table of ratings -> what a log may call it."""
_NEEDED = ("example", "variant")
_LONGEST_LINE = 100_000_000


@dataclass(frozen=True, slots=True)
class _Score:
    """What a judge said of one text under one metric."""

    metric: str
    value: object
    reason: object = None
    """Why there is no value, if there is none."""
    failed: bool = False
    """Whether the value only stands for a failure of the judge."""
    model: object = None


@dataclass(frozen=True, slots=True)
class _Form:
    """A kind of log: where its entries are, what names a text in an entry, and what scores it."""

    name: str
    entries: Callable[[Any], Iterable[Any]]
    folders: tuple[str, ...]
    """Paths in an entry below which the names of example and variant stand."""
    scores: Callable[[Row], Iterable[_Score]]
    error: Callable[[Row], object] = lambda row: row.value("error")
    """Why an entry has no scores; None if no reason is known."""
    judged_by: str = " --model MODEL"
    """Options of the command that has the texts of such a log judged."""


def log_ratings(path: Path, fields: Mapping[str, str]) -> "pd.DataFrame | None":
    """The ratings in a log of promptfoo, deepeval, inspect_ai or OpenTelemetry; None for another file.

    Each entry with a score is a rating of an original or a degraded text; several of the same text are
    samples. A pass counts 1, a fail 0. What a judge failed to score has no score, the status `failed` and in
    `raw` the reason, or the status `unparsed` without one. Entries that do not name their text are left out
    with a note, see `leave_out`.

    `path` is `results.json` or `.jsonl` of promptfoo, a test run of deepeval, a log of inspect_ai (`.json`,
    `.eval`), or spans or log records of OpenTelemetry (`.json`, `.jsonl`). `fields` has `example`, `variant`,
    `level` or `cluster` -> the path in an entry at which it stands. Raises `InputError` for a log without
    scores, and one that does not say which text is an original or a degraded copy, with the command that has
    its texts judged.
    """
    kind = _kind_of(path)
    if kind is None:
        return None
    form = _FORMS[kind]
    for name in fields:
        one_of("field", name, _NAMES, f"{path}: {form.name}")
    content = _content(path)
    rows = [Row(f"{path}: entry {n}", each) for n, each in enumerate(form.entries(content), 1)]
    scored = [(row, tuple(form.scores(row))) for row in rows]
    if not any(scores for _, scores in scored):
        raise InputError(f"{path}: {form.name} without scores of a judge; {_command(path, form)}")
    places = {ours: _places(form, ours, fields) for ours in _NAMES}
    _check_named(path, form, rows, places)
    return _table(path, form, scored, places)


def _kind_of(path: Path) -> str | None:
    """The kind of log that a file is; None for any other."""
    suffix = path.suffix.lower()
    if suffix == ".jsonl" and path.is_file():
        first = _first_line(path)
        return "promptfoo" if "gradingResult" in first else "telemetry" if is_telemetry(first) else None
    if suffix not in (".json", LOG_SUFFIX) or not path.is_file():
        return None
    kind = log_kind(path)
    if kind in _FORMS:
        return kind
    content = read_json(path, careless=True)
    if evaluation_entries([content]):
        return "telemetry"
    if isinstance(content, list) and is_log_table(path, {}):
        columns = read_table(path).columns
        return None if {"score", "variant", ORIGINAL} & {*columns} else "texts"
    return None


def _first_line(path: Path) -> Mapping[str, Any]:
    """The object in the first line of a file of JSON Lines; empty if there is none."""
    with opened(path) as file, suppress(ValueError, RecursionError):
        first = json.loads(file.readline(_LONGEST_LINE))
        return first if isinstance(first, dict) else {}
    return {}


def _content(path: Path) -> Any:
    if path.suffix == LOG_SUFFIX:
        return read_eval_file(path)
    if path.suffix.lower() == ".jsonl":
        return [row.values for row in read_table(path).rows]
    return read_json(path, careless=True)


def _command(path: Path, form: _Form) -> str:
    command = f"dhp benchmark --dataset {path}{form.judged_by}"
    return f"to degrade its texts and have them judged: {command}"


def _places(form: _Form, ours: str, fields: Mapping[str, str]) -> tuple[str, ...]:
    """Where a name may stand in an entry."""
    if ours in fields:
        return (fields[ours],)
    return tuple(f"{folder}{name}" for folder in form.folders for name in _NAMES[ours])


def _named(row: Row, places: Iterable[str]) -> str | None:
    """The text of the first place that has any."""
    values = (row.value(place) for place in places)
    return next((text for value in values if not is_blank(text := as_text(value))), None)


def _check_named(path: Path, form: _Form, rows: Sequence[Row], places: Mapping[str, tuple[str, ...]]) -> None:
    """Raise `InputError` if no entry says of which example and variant its text is."""
    missing = [ours for ours in _NEEDED if not any(_named(row, places[ours]) for row in rows)]
    if missing:
        names = " and ".join(missing)
        tried = ", ".join(place for ours in missing for place in places[ours])
        known = listed(list(_keys(form, rows)))
        options = " ".join(f"--field {ours}=PATH" for ours in missing)
        raise InputError(
            f"{path}: {form.name} with scores, but no entry says of which {names} its text is ({tried}; "
            f"they have {known or 'no names'}); name it by {options}, the variant of undamaged texts "
            f"being '{ORIGINAL}'; or, {_command(path, form)}"
        )


def _keys(form: _Form, rows: Sequence[Row]) -> dict[str, None]:
    """Paths at which the entries hold names, for messages."""
    keys: dict[str, None] = {}
    for row in rows:
        for folder in form.folders:
            inner = row.value(folder.removesuffix(".")) if folder else row.values
            if isinstance(inner, Mapping):
                keys |= dict.fromkeys(f"{folder}{k}" for k in inner if as_text(inner[k]) is not None)
    return keys


def _table(
    path: Path,
    form: _Form,
    scored: Sequence[tuple[Row, tuple[_Score, ...]]],
    places: Mapping[str, tuple[str, ...]],
) -> "pd.DataFrame":
    import pandas as pd

    metrics = tuple(dict.fromkeys(score.metric for _, scores in scored for score in scores))
    by_model = all(not is_blank(score.model) for _, scores in scored for score in scores)
    left_out: dict[str, list[str]] = {}
    ratings = []
    for row, scores in scored:
        names = {ours: _named(row, of) for ours, of in places.items()}
        if lacking := [ours for ours in _NEEDED if names[ours] is None]:
            left_out.setdefault(f"without {lacking[0]}", []).append(row.place)
            continue
        if not scores and (why := form.error(row)):
            scores = tuple(_Score(metric, None, why, failed=True) for metric in metrics)
        if not scores:
            left_out.setdefault("without a score", []).append(row.place)
        for score in scores:
            model = {"model": score.model} if by_model else {}
            ratings.append({**names, "metric": score.metric, **_rated(score), **model})
    leave_out(str(path), left_out, len(scored), strict=False)
    kept = [name for name in _NAMES if name in _NEEDED or any(each[name] for each in ratings)]
    columns = [*kept, "metric", "score", "status", "raw", *(["model"] if by_model else [])]
    return pd.DataFrame(ratings, columns=columns, dtype=object)


_ACCEPTED = ("true", "yes", "pass", "passed", "correct", "relevant")
_REJECTED = ("false", "no", "fail", "failed", "incorrect", "not_relevant")
_LONGEST_REASON = 200


def _rated(score: _Score) -> dict[str, object]:
    """Score, status and reason of a rating."""
    number = None if score.failed else _number(score.value)
    if number is not None:
        return {"score": number, "status": "scored", "raw": None}
    reason = as_text(score.reason) or ""
    if not reason and isinstance(score.value, str):
        reason = f"'{score.value}' is no score"
    status = "failed" if score.failed or reason.strip() else "unparsed"
    return {"score": None, "status": status, "raw": " ".join(reason.split())[:_LONGEST_REASON] or None}


def _number(value: object) -> float | None:
    """A number, also one in words; 1 for a pass and 0 for a fail; None for anything else."""
    value = graded(value)
    if isinstance(value, str):
        word = value.strip().lower()
        if word in (*_ACCEPTED, *_REJECTED):
            return float(word in _ACCEPTED)
        try:
            value = float(word)
        except ValueError:
            return None
    if not isinstance(value, bool | int | float) or not math.isfinite(value):
        return None
    return float(value)


# promptfoo ------------------------------------------------------------------------------------------------

_GRADER_FAILED = re.compile(
    r"No output$|Could not extract JSON from|Error parsing output:|API (call )?error:|"
    r"(Model grader|\S+) produced (a )?malformed response"
)
"""How the reason of an answer begins that promptfoo could not read and scored 0, where it is not marked."""


def _promptfoo_scores(row: Row) -> Iterator[_Score]:
    """One score for each assertion, and what they name themselves; without assertions that of the text."""
    grading = row.value("gradingResult")
    if not isinstance(grading, Mapping):
        return
    components = [each for each in grading.get("componentResults") or () if isinstance(each, Mapping)]
    counts: Counter[str] = Counter()
    for each in components:
        assertion = each.get("assertion") or {}
        name = str(assertion.get("metric") or assertion.get("type") or "assert-set")
        counts[name] += 1
        yield _graded_part(name if counts[name] == 1 else f"{name} {counts[name]}", each)
    named = grading.get("namedScores") or {}
    for name, value in named.items():
        if name not in counts:
            yield _Score(str(name), value, f"no score named {name}")
    if not components and not named:
        yield _graded_part(OVERALL, grading)


def _graded_part(name: str, part: Mapping[str, Any]) -> _Score:
    reason = part.get("reason")
    score = part.get("score")
    marked = (part.get("metadata") or {}).get("graderError") is True
    failed = marked or (not score and _GRADER_FAILED.match(str(reason)) is not None)
    return _Score(name, part.get("pass") if score is None else score, reason, failed)


def _promptfoo_entries(content: Any) -> list[Any]:
    entries = content if isinstance(content, list) else content["results"].get("results") or []
    return [each for each in entries if isinstance(each, dict)]


# deepeval -------------------------------------------------------------------------------------------------


def _deepeval_entries(content: Any) -> list[Any]:
    run = content.get("testRunData", content)
    lists = (run.get(name) or [] for name in ("testCases", "conversationalTestCases"))
    return [each for cases in lists for each in cases if isinstance(each, dict)]


def _deepeval_scores(row: Row) -> Iterator[_Score]:
    for each in row.values.get("metricsData") or ():  # type: ignore[attr-defined]
        score, error = each.get("score"), each.get("error")
        value = each.get("success") if score is None and error is None else score
        yield _Score(str(each.get("name")), value, error, error is not None, each.get("evaluationModel"))


# inspect_ai -----------------------------------------------------------------------------------------------


def _inspect_scores(row: Row) -> Iterator[_Score]:
    """One score for each scorer; a score of several values has one for each."""
    scores = row.value("scores")
    for name, score in (scores if isinstance(scores, Mapping) else {}).items():
        value, reason = score.get("value"), score.get("explanation")
        if score.get("reason"):
            reason = f"{score['reason']}: {reason}" if reason else score["reason"]
        parts = dict(enumerate(value, 1)) if isinstance(value, list) else value
        if not isinstance(parts, Mapping):
            yield _Score(name, value, reason)
            continue
        for part, each in parts.items():
            yield _Score(f"{name} {part}", each, reason)


# OpenTelemetry --------------------------------------------------------------------------------------------

_EVALUATION = "gen_ai.evaluation"


def _event_scores(row: Row) -> Iterator[_Score]:
    values = row.values
    score, label = (values.get(f"{_EVALUATION}.score.{part}") for part in ("value", "label"))
    error = values.get("error.type")
    reason = error or values.get(f"{_EVALUATION}.explanation")
    name = str(values.get(f"{_EVALUATION}.name") or OVERALL)
    yield _Score(name, label if score is None else score, reason, failed=error is not None)


_FORMS: Mapping[str, _Form] = {
    "promptfoo": _Form(
        "promptfoo results",
        _promptfoo_entries,
        ("vars.", "metadata.", "testCase.metadata."),
        _promptfoo_scores,
    ),
    "deepeval": _Form(
        "deepeval test run", _deepeval_entries, ("metadata.", "additionalMetadata."), _deepeval_scores
    ),
    "inspect_ai": _Form(
        "inspect_ai log",
        lambda content: content.get("samples") or [],
        ("metadata.",),
        _inspect_scores,
        error=lambda row: row.value("error.message"),
        judged_by="",
    ),
    "telemetry": _Form(
        "OpenTelemetry data",
        lambda content: evaluation_entries(content if isinstance(content, list) else [content]),
        ("", "dhp."),
        _event_scores,
    ),
    "texts": _Form("log of texts", lambda content: content, ("",), lambda row: ()),
}
