"""Logs of other tools as datasets.

A log of a known form says where its texts stand; in a table of inputs and outputs the columns say it by
their names. Of each entry the first place that holds a text counts. With contexts the task is to answer
from passages, else to follow an instruction; the outputs become the originals of the dataset.
"""

import ast
import json
import logging
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from dhp.content.catalog import GENERAL_SUITE, read_suite, read_task
from dhp.core.errors import InputError, one_of, suggest
from dhp.core.files import read_json
from dhp.core.options import near_keywords
from dhp.core.records import Example
from dhp.core.specs import ANY_TASK, Task
from dhp.core.tables import TABLE_SUFFIXES, Row, read_table
from dhp.loaders.dataset import Dataset
from dhp.loaders.inspect_log import LOG_SUFFIX, read_eval_file
from dhp.loaders.request import Request
from dhp.plugins.frameworks.log_forms import FORMS, Paths, content_kind, log_kind

PRODUCTION = (
    "the originals are production texts, not references: this tests if the judge notices that they got "
    "worse, not if they were good or if its scores of them are right"
)
"""The note on every result of a log."""
_SAID = (
    "content",
    "page_content",
    "text",
    "output",
    "answer",
    "response",
    "message",
    "question",
    "input",
    "query",
)
"""Keys under which a nested value may hold its text, the likeliest first."""

_PLAIN: Paths = {
    "id": ("id",),
    "input": ("input", "inputs", "question", "query", "prompt", "user_input", "messages"),
    "output": ("output", "outputs", "response", "answer", "completion", "actual_output", "actualOutput"),
    "reference": (
        "reference",
        "reference_outputs",
        "expected_output",
        "expectedOutput",
        "expected",
        "ground_truth",
        "target",
    ),
    "context": (
        "context",
        "contexts",
        "retrieved_contexts",
        "retrieval_context",
        "retrievalContext",
        "documents",
        "retrieved_documents",
        "passages",
    ),
}
"""Our field -> columns, in any case and with or without `_`; the first one that holds a text counts."""


def logs(asked: Request) -> Dataset | None:
    """The texts of a log, or of a table of inputs and outputs whose task is not said; None for other data."""
    if not isinstance(asked.source, str):
        return None
    is_log = log_kind(Path(asked.source)) != "table"
    # A log says itself what it is; a table is taken only if its columns name input and output.
    if not is_log and not (_may_be_mapped(asked) and is_log_table(asked.source, asked.fields)):
        return None
    if asked.where:
        raise InputError(f"`where`: is for tables of texts; {asked.source} is a log")
    return log_dataset(asked.source, task=asked.task, fields=asked.fields, language=asked.language)


def _may_be_mapped(asked: Request) -> bool:
    """Whether the columns of a table say themselves what they are.

    They do if no task is said, or one that answers a question from passages and the table has both.
    """
    if asked.task is None:
        return asked.suite is None or asked.suite.task == ANY_TASK
    task = asked.task if isinstance(asked.task, Task) else read_task(asked.task)
    asks = "question" in task.required_fields  # other tasks need no look into the file
    return asks and "context" in _plain_paths(str(asked.source), asked.fields)


@near_keywords
def log_dataset(
    path: str | Path,
    *,
    task: str | Task | None = None,
    fields: Mapping[str, str] = {},
    language: str | None = None,
) -> Dataset:
    """The inputs and outputs of a stored log as a dataset whose originals are the outputs.

    Parameters
    ----------
    path
        An inspect_ai log (`.json`, `.eval`), `results.json` of promptfoo, a test run of deepeval, or a table
        of inputs and outputs (`.jsonl`, `.json`, `.csv`, ...), such as langfuse and openevals export.
    task
        What the writer had to do; default: `rag` if every entry has a context, else `instruction`.
    fields
        `input`, `output`, `reference`, `context` or `id` -> the column, or the path into an entry, where it
        stands.
    language
        Code of the language of the outputs, such as `en`; perturbers for one language need it.

    Returns
    -------
    Dataset
        One example an entry that has input and output; of several epochs of a sample the first.

    Raises
    ------
    InputError
        For a log of another kind or version, one without outputs, and a field that is not there.
    """
    file = Path(path)
    for name in fields:
        one_of("field", name, _PLAIN, "`fields`")
    kind, rows, usual = _read(file)
    _check_named(file, rows, fields)
    paths = dict(usual)
    for name, named_path in fields.items():
        paths[name] = (named_path,)
    entries = list(_entries(file, kind, rows, paths))
    known = task if isinstance(task, Task) else read_task(task or _task_of(entries))
    examples = tuple(_example(entry, known) for entry in entries)
    suite = read_suite(GENERAL_SUITE)
    # The examples twice: those to be judged, and those that foreign sentences are drawn from.
    dataset = Dataset(file.name, examples, known, suite, examples, notes=(PRODUCTION,))
    return dataset.in_languages(None, language)


def _task_of(entries: Sequence[Mapping[str, str]]) -> str:
    """The task of the texts if the user names none."""
    with_context = all("context" in entry for entry in entries)
    return "rag" if with_context else "instruction"


def is_log_table(path: str | Path, fields: Mapping[str, str]) -> bool:
    """Whether a file is a table with a column of inputs and one of outputs, unlike the tables of dhp itself.

    `fields` as in `log_dataset`.
    """
    paths = _plain_paths(path, fields)
    return "input" in paths and "output" in paths and "source" not in paths


def _plain_paths(path: str | Path, fields: Mapping[str, str]) -> Paths:
    """Our field -> the columns of a table that are called so; `source` is that of dhp's own tables."""
    file = Path(path)
    # Only the columns are asked for here, so rows that cannot be read do not matter.
    columns = read_table(file, broken=True).columns if file.is_file() else ()
    paths = _paths_in(columns)
    for name, column in fields.items():
        paths[name] = (column,)
    if "source" in columns:
        paths["source"] = ("source",)
    return paths


def _paths_in(columns: Collection[str]) -> dict[str, tuple[str, ...]]:
    """`_PLAIN` with the columns as a table spells them."""
    spelled = {_plain(column): column for column in columns}
    paths: dict[str, tuple[str, ...]] = {}
    for name, usual in _PLAIN.items():
        for each in usual:
            if _plain(each) in spelled:
                paths[name] = (*paths.get(name, ()), spelled[_plain(each)])
    return paths


def _plain(column: str) -> str:
    """The same text for `retrieval_context`, `retrievalContext` and `Retrieval Context`."""
    return re.sub(r"[\W_]+", "", column.lower())


def _example(entry: Mapping[str, str], task: Task) -> Example:
    fields = {}
    if "reference" in entry:
        fields["reference"] = entry["reference"]
    source = entry["input"]
    if "question" in task.required_fields:  # its source are the passages to answer from
        fields["question"] = entry["input"]
        source = entry.get("context", "")
    elif "context" in entry:
        fields["context"] = entry["context"]
    return Example(entry["id"], source, entry["output"], fields)


def _read(file: Path) -> tuple[str, Sequence[Row], Paths]:
    """The kind of log, its entries, and the location of texts in them."""
    suffix = file.suffix.lower()
    if suffix == LOG_SUFFIX:
        data = read_eval_file(file)
    elif suffix == ".json":
        data = read_json(file, careless=True)
    elif suffix in TABLE_SUFFIXES:
        table = read_table(file)
        return "log", table.rows, _paths_in(table.columns)
    else:
        raise InputError(
            f"{file}: unknown kind of log '{suffix}'; {suggest(suffix, [LOG_SUFFIX, *TABLE_SUFFIXES])}"
        )
    # A `.json` file may be a log or a plain table: what is in it decides.
    kind = content_kind(data)
    if kind == "table":
        table = read_table(file)
        return "log", table.rows, _paths_in(table.columns)
    form = FORMS[kind]
    return form.name, form.rows(str(file), data, versioned=True), form.texts


def _check_named(file: Path, rows: Sequence[Row], fields: Mapping[str, str]) -> None:
    """Raises `InputError` for a path that the user names and no entry has."""
    for name, path in sorted(fields.items()):
        if rows and all(row.value(path) is None for row in rows):
            raise InputError(
                f"{file}: `fields` {name}={path}: no entry has it; an entry has {', '.join(rows[0].values)}"
            )


def _entries(file: Path, kind: str, rows: Sequence[Row], paths: Paths) -> Iterator[dict[str, str]]:
    """The texts of each entry that has input and output; a warning counts the others."""
    lacking: Counter[str] = Counter()
    seen: set[str] = set()
    for number, row in enumerate(rows, 1):
        texts: dict[str, str] = {}
        for name in paths:
            text = _first(row, name, paths[name])
            if text:
                texts[name] = text

        if "output" not in texts:
            lacking["without output"] += 1
            continue
        if "input" not in texts:
            lacking["without input"] += 1
            continue
        if _epoch(row) > 1:  # inspect_ai answers a sample several times
            lacking["of further epochs"] += 1
            continue

        # An entry without an id is known by its number, which also tells equal ids apart.
        texts.setdefault("id", str(number))
        if texts["id"] in seen:
            texts["id"] = f"{texts['id']}#{number}"
        seen.add(texts["id"])
        yield texts
    # `seen` holds the ids of all entries that were yielded.
    if not seen:
        raise InputError(
            f"{file}: {kind} without outputs ({len(rows)} entries); allowed: entries with an input and an "
            "output, or columns by `fields` input=COLUMN and output=COLUMN"
        )
    if lacking:
        reasons = ", ".join(f"{count} {why}" for why, count in lacking.items())
        logging.getLogger("dhp").warning("%s: %d entries, left out: %s", file, len(rows), reasons)


def _epoch(row: Row) -> int:
    # Only inspect_ai numbers its epochs, from 1 on; entries of other logs have none.
    epoch = row.values.get("epoch") or 1
    try:
        return int(str(epoch))
    except ValueError:
        raise row.fault(f"epoch '{epoch}'; must be a whole number") from None


def _first(row: Row, name: str, paths: Sequence[str]) -> str | None:
    """The first text at one of the paths of our field `name`."""
    for path in paths:
        value = row.value(path)
        # Text that is a JSON object has the output in one of its parts, which the user has to name.
        if name == "output" and isinstance(value, str):
            row.check_no_object(path)
        # A cell of a table may hold a whole list of passages.
        if name == "context" and isinstance(value, str):
            value = _unpacked(value)
        text = _text(value, last=name == "output")
        if text:
            return row.encodable(path, text)
    return None


def _unpacked(cell: str) -> object:
    """The list that a cell holds as JSON or as Python prints it; else the cell itself."""
    if cell.lstrip()[:1] != "[":
        return cell
    for read in (json.loads, ast.literal_eval):  # neither runs what it reads
        try:
            value = read(cell)
        # The last two are raised for lists that are nested too deeply.
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        return value if isinstance(value, list) else cell
    return cell


def _text(value: object, *, last: bool) -> str | None:
    """The text of a value: of messages all that was said, or with `last` what was said last."""
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, Mapping):
        return _text_of_mapping(value, last=last)
    if isinstance(value, list):
        return _text_of_list(value, last=last)
    return None


def _text_of_mapping(value: Mapping[str, object], *, last: bool) -> str | None:
    for key in _SAID:
        text = _text(value.get(key), last=last)
        if text:
            return text
    choices = value.get("choices")
    if isinstance(choices, list) and choices:  # a whole answer of OpenAI's
        return _text(choices[0], last=last)
    return _text(value.get("messages"), last=last)


def _text_of_list(values: Sequence[object], *, last: bool) -> str | None:
    parts = []
    for each in values:
        text = _text(each, last=last)
        if text:
            parts.append(text)
    # Of a chat the last message is the output; of the parts of one text all belong to it.
    is_chat = any(isinstance(each, Mapping) and "role" in each for each in values)
    if last and is_chat:
        return parts[-1] if parts else None
    return "\n\n".join(parts) or None
