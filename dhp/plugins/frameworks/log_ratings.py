"""The scores that a judge gave in the log of another tool, as a table of ratings.

The kind of log is found by its content; its form gives the entries and their scores. Then the names of
example and variant are looked up in each entry: where the user says, else at the form's usual places. A log
whose entries have no variant holds scores alone, of texts that nobody damaged; any other becomes a table.
"""

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhp.core.errors import InputError, listed, one_of
from dhp.core.files import opened, read_json
from dhp.core.ratings_table import ScoresAlone
from dhp.core.records import ORIGINAL
from dhp.core.seeding import text_hash
from dhp.core.tables import Row, as_text, is_blank, mark_of, read_table
from dhp.judge.adapters.returned import VERDICTS
from dhp.loaders.inspect_log import LOG_SUFFIX, read_eval_file
from dhp.loaders.left_out import leave_out
from dhp.plugins.frameworks.evaluation_events import evaluation_entries, is_telemetry
from dhp.plugins.frameworks.inspect_ai import graded
from dhp.plugins.frameworks.log_forms import FORMS, Form, Score, log_kind, table_kind
from dhp.plugins.frameworks.logs import is_log_table

if TYPE_CHECKING:
    import pandas as pd

_NAMES: Mapping[str, tuple[str, ...]] = {
    "example": ("example", "example_id"),
    "variant": ("variant",),
    "level": ("level",),
    "cluster": ("cluster",),
    "dataset": ("dataset",),
}
"""Column of a table of ratings -> what a log may call it."""
_NEEDED = ("example", "variant")
"""Without these nobody knows which text was judged."""
_LONGEST_LINE = 100_000_000
"""Bytes of a first line that are read to tell what a file is. Chosen: an entry of promptfoo may hold a whole
document."""


@dataclass(frozen=True, slots=True)
class _Scored:
    """An entry of a log with its scores."""

    row: Row
    scores: tuple[Score, ...]


def log_ratings(path: Path, fields: Mapping[str, str]) -> "pd.DataFrame | None":
    """The ratings in a log of promptfoo, deepeval, inspect_ai, LangSmith, langfuse or OpenTelemetry, or None.

    Each entry with a score is a rating of an original or a degraded text; several of the same text are
    samples. A pass counts 1, a fail 0. What a judge failed to score has no score, the status `failed` and in
    `raw` the reason, or the status `unparsed` without one. Entries that do not name their text are left out
    with a note, see `leave_out`.

    `path` is `results.json` or `.jsonl` of promptfoo, a test run of deepeval, a log of inspect_ai (`.json`,
    `.eval`), spans, log records or events of OpenTelemetry (`.json`, `.jsonl`), or a table that LangSmith or
    langfuse exported. None is for another file. `fields` has `example`, `variant`, `level`, `cluster` or
    `dataset` -> the path in an entry at which it stands. Raises `InputError` for a log without scores, and
    `ScoresAlone` for one that does not say which text is an original or a degraded copy, with the command
    that has its texts judged.
    """
    kind = _kind_of(path)
    if kind is None:
        return None
    form = FORMS[kind]
    for name in fields:
        one_of("field", name, _NAMES, f"{path}: {form.name}")

    rows = form.rows(str(path), _content(path))
    scored = [_Scored(row, tuple(form.scores(row))) for row in rows]
    if not any(each.scores for each in scored):
        raise InputError(f"{path}: {form.name} without scores of a judge; {_command(path, form)}")

    places = {ours: _places(form, ours, fields) for ours in _NAMES}
    missing = [ours for ours in _NEEDED if not _is_named(rows, places[ours])]
    if not missing:
        return _table(path, form, scored, places)
    message = _unnamed(path, form, rows, places, missing)
    if "variant" not in missing:
        raise InputError(message)
    # If no entry names its variant, nobody damaged the texts: the scores stand alone.
    source = "TEXTS" if form.judged_by is None else str(path)
    raise ScoresAlone(message, _alone(form, scored), source)


def _kind_of(path: Path) -> str | None:
    """The kind of log that a file is; None for any other."""
    suffix = path.suffix.lower()
    # Of a table, and of JSON Lines, the first line decides: a large file is not read whole to be refused.
    if suffix in (".csv", ".tsv") and path.is_file():
        return table_kind(_header(path))
    if suffix == ".jsonl" and path.is_file():
        first = _first_line(path)
        if "gradingResult" in first:
            return "promptfoo"
        kind = table_kind(first)
        if kind is None and is_telemetry(first):
            return "telemetry"
        return kind
    if suffix not in (".json", LOG_SUFFIX) or not path.is_file():
        return None
    kind = log_kind(path)
    # `table` is no form; such a file may still hold spans, exported scores, or inputs and outputs.
    return kind if kind in FORMS else _kind_without_texts(path)


def _kind_without_texts(path: Path) -> str | None:
    """The kind of a JSON file that is no log with texts: spans, an export of scores, inputs and outputs."""
    content = read_json(path, careless=True)
    if evaluation_entries([content]):
        return "telemetry"
    # A page of langfuse's API has its scores in `data`.
    rows = content.get("data") if isinstance(content, dict) else content
    if isinstance(rows, list) and rows and isinstance(rows[0], dict):
        exported = table_kind(rows[0])
        if exported is not None:
            return exported
    if isinstance(content, list) and is_log_table(path, {}):
        columns = read_table(path).columns
        # Tables with these columns are ratings already, or texts with their degraded copies.
        is_of_dhp = "score" in columns or "variant" in columns or ORIGINAL in columns
        return None if is_of_dhp else "texts"
    return None


def _header(path: Path) -> list[str]:
    """The columns of a table of separated values; none if the first line has broken quotation marks."""
    with opened(path) as file:
        # "utf-8-sig": a byte order mark would else stick to the name of the first column.
        line = file.readline(_LONGEST_LINE).decode("utf-8-sig", errors="replace")
    try:
        return next(csv.reader([line], delimiter=mark_of(line)), [])
    except csv.Error:
        return []


def _first_line(path: Path) -> Mapping[str, Any]:
    """The object in the first line of a file of JSON Lines; empty if there is none."""
    # A line that is no JSON, or was cut at the limit, is not of a log.
    with opened(path) as file, suppress(ValueError, RecursionError):
        first = json.loads(file.readline(_LONGEST_LINE))
        return first if isinstance(first, dict) else {}
    return {}


def _content(path: Path) -> Any:
    if path.suffix == LOG_SUFFIX:
        return read_eval_file(path)
    if path.suffix.lower() in (".jsonl", ".csv", ".tsv"):
        return [row.values for row in read_table(path).rows]
    return read_json(path, careless=True)


def _command(path: Path, form: Form) -> str:
    if form.judged_by is None:
        return "to have texts degraded for your runner: dhp perturb --dataset TEXTS --out set.csv"
    command = f"dhp benchmark --dataset {path}{form.judged_by}"
    by_runner = f"dhp perturb --dataset {path} --out set.csv"
    return f"to degrade its texts and have them judged: {command}; by your runner: {by_runner}"


def _places(form: Form, ours: str, fields: Mapping[str, str]) -> tuple[str, ...]:
    """The paths in an entry at which a name may stand."""
    if ours in fields:
        return (fields[ours],)
    places = []
    for folder in form.folders:
        places += [f"{folder}{name}" for name in _NAMES[ours]]
    return tuple(places)


def _named(row: Row, places: Iterable[str]) -> str | None:
    """The text of the first place that has any."""
    for place in places:
        text = as_text(row.value(place))
        if not is_blank(text):
            return text
    return None


def _is_named(rows: Iterable[Row], places: Sequence[str]) -> bool:
    return any(_named(row, places) for row in rows)


def _unnamed(
    path: Path,
    form: Form,
    rows: Sequence[Row],
    places: Mapping[str, tuple[str, ...]],
    missing: Sequence[str],
) -> str:
    """The message that no entry names the example and variant of its text, with what to do."""
    names = " and ".join(missing)
    tried: list[str] = []
    for ours in missing:
        tried += places[ours]
    known = listed(list(_keys(form, rows)))
    options = " ".join(f"--field {ours}=PATH" for ours in missing)
    return (
        f"{path}: {form.name} with scores, but no entry says of which {names} its text is "
        f"({', '.join(tried)}; they have {known or 'no names'}); name it by {options}, the variant of "
        f"undamaged texts being '{ORIGINAL}'; or, {_command(path, form)}"
    )


def _alone(form: Form, scored: Sequence[_Scored]) -> "pd.DataFrame":
    """The scores as a table without variants, whose examples are the texts that were judged."""
    import pandas as pd

    ratings = []
    for each in scored:
        # A text that was judged several times is one example; if nothing tells it by, each entry is one.
        same = [as_text(each.row.value(place)) for place in form.same]
        text = text_hash(repr(same)) if any(same) else each.row.place
        for score in each.scores:
            model = "the judge" if is_blank(score.model) else score.model
            ratings.append({"example": text, "metric": score.metric, **_rated(score), "model": model})
    return pd.DataFrame(ratings, dtype=object)


def _keys(form: Form, rows: Sequence[Row]) -> dict[str, None]:
    """Paths at which the entries hold names, for messages."""
    keys: dict[str, None] = {}
    for row in rows:
        for folder in form.folders:
            inner: Any = row.values
            if folder:
                inner = row.value(folder.removesuffix("."))
            if not isinstance(inner, Mapping):
                continue
            for name, value in inner.items():
                if as_text(value) is not None:
                    keys[f"{folder}{name}"] = None
    return keys


def _table(
    path: Path,
    form: Form,
    scored: Sequence[_Scored],
    places: Mapping[str, tuple[str, ...]],
) -> "pd.DataFrame":
    """The ratings of all entries that name their text."""
    import pandas as pd

    metrics: dict[str, None] = {}  # in the order in which they come
    each_has_model = True
    for each in scored:
        for score in each.scores:
            metrics[score.metric] = None
            if is_blank(score.model):
                each_has_model = False

    left_out: dict[str, list[str]] = {}
    ratings = []
    for each in scored:
        row, scores = each.row, each.scores
        names = {ours: _named(row, of) for ours, of in places.items()}
        lacking = [ours for ours in _NEEDED if names[ours] is None]
        if lacking:
            left_out.setdefault(f"without {lacking[0]}", []).append(row.place)
            continue
        if not scores:
            # An entry without scores that says why has failed under every metric.
            why = form.error(row)
            if why:
                scores = tuple(Score(metric, None, why, failed=True) for metric in metrics)
            else:
                left_out.setdefault("without a score", []).append(row.place)
        for score in scores:
            ratings.append({**names, "metric": score.metric, **_rated(score), "model": score.model})
    # Refuses a log of which too many entries are left out.
    leave_out(str(path), left_out, len(scored), strict=False)

    columns = [*_NAMES, "metric", "score", "status", "raw", "model"]
    table = pd.DataFrame(ratings, columns=columns, dtype=object)
    unused = [] if each_has_model else ["model"]
    for name in _NAMES:
        if name not in _NEEDED and not any(table[name]):
            unused.append(name)
    return table.drop(columns=unused)


_WORDS = {**VERDICTS, "relevant": True, "not_relevant": False}
"""Words for a pass and a fail; those of phoenix are added to the usual ones."""
_LONGEST_REASON = 200
"""Characters of a reason that a table keeps. Chosen."""


def _rated(score: Score) -> dict[str, object]:
    """Score, status and reason of a rating."""
    number = None if score.failed else _number(score.value)
    if number is not None:
        return {"score": number, "status": "scored", "raw": None}
    reason = as_text(score.reason) or ""
    if not reason and isinstance(score.value, str):
        reason = f"'{score.value}' is no score"
    reason = " ".join(reason.split())
    status = "failed" if score.failed or reason else "unparsed"
    return {"score": None, "status": status, "raw": reason[:_LONGEST_REASON] or None}


def _number(value: object) -> float | None:
    """A number, also one in words; 1 for a pass and 0 for a fail; None for anything else."""
    value = graded(value)  # inspect_ai's C, P and I
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _WORDS:
            return float(_WORDS[word])
        try:
            value = float(word)
        except ValueError:
            return None
    if not isinstance(value, bool | int | float) or not math.isfinite(value):
        return None
    return float(value)
