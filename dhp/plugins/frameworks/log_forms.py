"""The logs of other tools, form by form: where texts, and the scores of a judge, stand in them.

`log_kind` and `table_kind` name the tool that wrote a file, by keys and columns that only it writes. Its
`Form` then cuts the content into entries, and says at which paths in an entry texts and names stand, and
which function yields its scores.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dhp.core.errors import InputError
from dhp.core.files import read_json
from dhp.core.rating_forms import OVERALL
from dhp.core.tables import Row
from dhp.loaders.inspect_log import LOG_SUFFIX
from dhp.plugins.frameworks.evaluation_events import evaluation_entries

Paths = Mapping[str, tuple[str, ...]]
"""Our field -> the paths in an entry; the first one that holds a text counts."""


@dataclass(frozen=True, slots=True)
class Score:
    """The score of a judge for one text under one metric."""

    metric: str
    value: object
    reason: object = None
    """The reason why there is no value."""
    failed: bool = False
    """Whether the value only stands for a failure of the judge."""
    model: object = None


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of log: how to find its entries, and in an entry the texts, their names and their scores."""

    name: str
    entries: Callable[[Any], Iterable[Any]]
    folders: tuple[str, ...]
    """Paths in an entry below which the names of example and variant stand."""
    scores: Callable[[Row], Iterable[Score]]
    texts: Paths = field(default_factory=dict)
    """Empty if texts are read from no such log."""
    versions: tuple[int, ...] = ()
    """Versions that can be read, if logs name theirs."""
    version: Callable[[Any], object] = lambda content: content.get("version")
    """Finds the version in the content of a log."""
    error: Callable[[Row], object] = lambda row: row.value("error")
    """The reason why an entry has no scores; None if it is not known."""
    same: tuple[str, ...] = ()
    """Paths in an entry; entries that hold the same at all of them judge the same text."""
    judged_by: str | None = " --model MODEL"
    """Options of the command that has the texts of such a log judged; None if it holds no texts."""

    def rows(self, place: str, content: Any, *, versioned: bool = False) -> list[Row]:
        """The entries; raises `InputError` for a version that is not known, if `versioned` also for none."""
        if self.versions:
            version = self.version(content) if isinstance(content, Mapping) else None
            # Rows of JSON Lines have no frame around them, and so no version.
            may_lack = version is None and not versioned
            if version not in self.versions and not may_lack:
                known = ", ".join(str(each) for each in self.versions)
                raise InputError(f"{place}: {self.name} of version {version}; allowed: {known}")
        rows = []
        for number, entry in enumerate(self.entries(content), 1):
            rows.append(Row(f"{place}: entry {number}", entry))
        return rows


_GRADER_FAILED = re.compile(
    r"No output$|Could not extract JSON from|Error parsing output:|API (call )?error:|"
    r"(Model grader|\S+) produced (a )?malformed response"
)
"""Beginnings of the reason if promptfoo could not read an answer, scored it 0 and did not mark it, such as
"API error:" and "Model grader produced malformed response"."""


def _promptfoo_scores(row: Row) -> Iterator[Score]:
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
        if counts[name] > 1:  # assertions of one type are told apart by a number
            name = f"{name} {counts[name]}"
        yield _graded_part(name, each)

    named = grading.get("namedScores") or {}
    for name, value in named.items():
        # A named score that an assertion has given already would count twice.
        if name not in counts:
            yield Score(str(name), value, f"no score named {name}")
    if not components and not named:
        yield _graded_part(OVERALL, grading)


def _graded_part(name: str, part: Mapping[str, Any]) -> Score:
    reason = part.get("reason")
    score = part.get("score")
    # A grader that failed counts 0 in promptfoo, which would be a score that nobody gave.
    failed = (part.get("metadata") or {}).get("graderError") is True
    if not score and _GRADER_FAILED.match(str(reason)):
        failed = True
    # Not `or`: 0 is a score, and only a missing one gives way to pass or fail.
    value = part.get("pass") if score is None else score
    return Score(name, value, reason, failed)


def _objects(entries: Iterable[Any] | None) -> list[Any]:
    return [each for each in entries or () if isinstance(each, dict)]


def _promptfoo_entries(content: Any) -> list[Any]:
    if isinstance(content, list):  # of a file of JSON Lines
        return _objects(content)
    # The outer `results` is a frame with the version, the inner one the list of entries.
    return _objects(content["results"].get("results"))


def _deepeval_entries(content: Any) -> list[Any]:
    # A test run stands alone, or within `testRunData`.
    run = content.get("testRunData", content)
    return [*_objects(run.get("testCases")), *_objects(run.get("conversationalTestCases"))]


def _inspect_entries(content: Any) -> list[Any]:
    return _objects(content.get("samples"))


def _telemetry_entries(content: Any) -> list[Any]:
    return evaluation_entries(content if isinstance(content, list) else [content])


def _langfuse_entries(content: Any) -> Iterable[Any]:
    """The scores of an export, or of a page of langfuse's API."""
    entries: Iterable[Any] = content["data"] if isinstance(content, dict) else content
    return entries


def _deepeval_scores(row: Row) -> Iterator[Score]:
    for each in row.values.get("metricsData") or ():  # type: ignore[attr-defined]
        error = each.get("error")
        value = each.get("score")
        # A metric with an error has no verdict either, whatever its `success` says.
        if value is None and error is None:
            value = each.get("success")
        name, model = str(each.get("name")), each.get("evaluationModel")
        yield Score(name, value, error, failed=error is not None, model=model)


def _inspect_scores(row: Row) -> Iterator[Score]:
    """One score for each scorer; a score of several values has one for each."""
    scores = row.value("scores")
    if not isinstance(scores, Mapping):
        return
    for name, score in scores.items():
        value, reason = score.get("value"), score.get("explanation")
        if score.get("reason"):
            reason = f"{score['reason']}: {reason}" if reason else score["reason"]
        if isinstance(value, list):  # its values have numbers for names
            value = dict(enumerate(value, 1))
        if isinstance(value, Mapping):
            for part, each in value.items():
                yield Score(f"{name} {part}", each, reason)
        else:
            yield Score(name, value, reason)


_EVALUATION = "gen_ai.evaluation"


def _event_scores(row: Row) -> Iterator[Score]:
    """The score of an event of OpenTelemetry: a number, else a label."""
    values = row.values
    score = values.get(f"{_EVALUATION}.score.value")
    label = values.get(f"{_EVALUATION}.score.label")
    error = values.get("error.type")
    reason = error or values.get(f"{_EVALUATION}.explanation")
    name = str(values.get(f"{_EVALUATION}.name") or OVERALL)
    yield Score(name, label if score is None else score, reason, failed=error is not None)


_FEEDBACK = "feedback."
_LANGSMITH_NO_SCORES = re.compile(
    r"(inputs?|outputs?|reference(_outputs)?|metadata|extra|attachments)(\..*)?$|"
    r"(.*_)?(id|time|latency|tokens|cost|name|tags|url)$|(run|status|error|created_at|index)$"
)
"""Columns of an experiment of LangSmith that are no feedback: "inputs.question", "example_id", "latency"."""


def _langsmith_scores(row: Row) -> Iterator[Score]:
    """A score for each column of feedback: `feedback.NAME`, else any that is no known part of a run."""
    columns = [column for column in row.values if column.startswith(_FEEDBACK)]
    if not columns:
        for column in row.values:
            if row.has(column) and not _LANGSMITH_NO_SCORES.match(column.lower()):
                columns.append(column)
    for column in columns:
        yield Score(column.removeprefix(_FEEDBACK), row.value(column), row.value("error"))


def _langfuse_scores(row: Row) -> Iterator[Score]:
    """The score of a row; what people said has a metric of its own."""
    # Exports of langfuse write names in one form or the other: stringValue, string_value.
    words = row.value("stringValue") or row.value("string_value")
    kind = str(row.value("dataType") or row.value("data_type") or "").upper()
    value = row.value("value")
    by_people = str(row.value("source") or "").upper() == "ANNOTATION"
    name = f"{row.value('name')} (people)" if by_people else str(row.value("name"))
    yield Score(name, words if kind == "CATEGORICAL" or value is None else value)


# Names of example and variant are those of the texts that `dhp perturb` wrote out, which a runner hands
# through as variables, metadata or inputs.
FORMS: Mapping[str, Form] = {
    "promptfoo": Form(
        "promptfoo results",
        _promptfoo_entries,
        ("vars.", "metadata.", "testCase.metadata."),
        _promptfoo_scores,
        texts={
            "id": ("id",),
            "input": ("prompt.raw",),
            "output": ("response.output",),
            "reference": ("vars.reference", "vars.expected", "vars.ground_truth"),
            "context": ("vars.context",),
        },
        versions=(1, 2, 3),
        version=lambda content: content["results"].get("version"),
        same=("prompt.raw", "response.output"),
    ),
    "deepeval": Form(
        "deepeval test run",
        _deepeval_entries,
        ("metadata.", "additionalMetadata."),
        _deepeval_scores,
        texts={
            "id": ("name",),
            "input": ("input",),
            "output": ("actualOutput",),
            "reference": ("expectedOutput",),
            "context": ("retrievalContext", "context"),
        },
        same=("input", "actualOutput"),
    ),
    "inspect_ai": Form(
        "inspect_ai log",
        _inspect_entries,
        ("metadata.",),
        _inspect_scores,
        texts={
            "id": ("id",),
            "input": ("input",),
            "output": ("output.completion", "output.choices[0].message.content"),
            "reference": ("target",),
            "context": ("metadata.context",),
        },
        versions=(1, 2),
        error=lambda row: row.value("error.message"),
        same=("id", "output.completion"),
        judged_by="",
    ),
    "telemetry": Form(
        "OpenTelemetry data",
        _telemetry_entries,
        ("", "dhp."),
        _event_scores,
        same=("gen_ai.response.id",),
        judged_by=None,
    ),
    "langsmith": Form(
        "LangSmith experiment",
        lambda content: content,
        ("", "metadata.", "inputs.", "reference.", "outputs."),
        _langsmith_scores,
        same=("example_id", "outputs", "outputs.output", "outputs.answer"),
    ),
    "langfuse": Form(
        "langfuse scores",
        _langfuse_entries,
        ("", "metadata."),
        _langfuse_scores,
        same=("traceId", "trace_id", "observationId", "observation_id"),
        judged_by=None,
    ),
    # Inputs and outputs without scores: a form only for the message that says how to have them judged.
    "texts": Form("log of texts", lambda content: content, ("",), lambda row: ()),
}
"""Name of the tool -> its logs."""


def log_kind(file: Path) -> str:
    """The kind of log that holds texts; `table` for any other file."""
    # An `.eval` file is of inspect_ai alone, so it need not be opened.
    if file.suffix == LOG_SUFFIX:
        return "inspect_ai"
    if file.suffix != ".json" or not file.is_file():
        return "table"
    return content_kind(read_json(file, careless=True))


def content_kind(content: Any) -> str:
    """The kind of log that the content of a JSON file is; `table` for any other."""
    if not isinstance(content, dict):
        return "table"
    if "eval" in content and "version" in content:
        return "inspect_ai"
    if isinstance(content.get("results"), dict) and "results" in content["results"]:
        return "promptfoo"
    run = content.get("testRunData", content)
    if isinstance(run, dict) and "testCases" in run:
        return "deepeval"
    return "table"


def table_kind(columns: Collection[str]) -> str | None:
    """The tool that exports tables with such columns; None for another table."""
    names = set(columns)
    # langfuse exports a score in each row, LangSmith a run with its scores.
    if names & {"traceId", "trace_id"} and {"name", "value"} <= names:
        return "langfuse"
    # LangSmith writes nested values flat: `inputs.question`, `feedback.correct`.
    parts = {column.partition(".")[0] for column in names}
    # Any table may have inputs and outputs: one more column of LangSmith's must be there.
    further = {"reference_outputs", "example_id", "latency", "execution_time", "run", "reference"}
    if {"inputs", "outputs"} <= parts and ("feedback" in parts or names & further):
        return "langsmith"
    return None
