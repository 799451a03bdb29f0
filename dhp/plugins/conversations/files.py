"""Files with conversations as rows."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dhp.core.files import opened, read_json
from dhp.core.tables import TABLE_SUFFIXES, Row, Table, read_table, table
from dhp.loaders.inspect_log import LOG_SUFFIX, read_eval_file
from dhp.loaders.memory import Rows, rows_table
from dhp.loaders.telemetry import records
from dhp.plugins.conversations.formats import INPUT

_KEYS = ("messages", "turns", "observations", "traceId", "trace_id")
"""Names one of which stands in the first line of a file of conversations."""
_ENTRIES = ("samples", "data", "conversationalTestCases", "conversational_test_cases", "goldens")
"""Keys below which a file has its entries: inspect_ai's, langfuse's, and those of deepeval."""
_LONGEST_LINE = 2**24
"""Bytes of a first line that are looked at. Chosen: 16 MiB hold any single conversation."""


def open_rows(source: str | Rows, certain: bool) -> Table | None:
    """The rows of a file, each a conversation, a span or an observation; None for other data.

    Unless it is `certain` that they are conversations, only the first line of a table tells.
    """
    if not isinstance(source, str):
        return rows_table(source)
    path = Path(source)
    suffix = path.suffix.lower()
    if not path.is_file() or suffix not in (*TABLE_SUFFIXES, LOG_SUFFIX):
        return None
    if suffix == LOG_SUFFIX:
        return _table_of(path, read_eval_file(path))
    if suffix == ".json":
        return _table_of(path, read_json(path, careless=True))
    if not certain and not _begins_so(path, suffix):
        return None
    return read_table(path, broken=True)


def _table_of(path: Path, data: Any) -> Table | None:
    """The entries of a JSON file as rows; None without any."""
    rows: list[Row] = []
    columns: dict[str, None] = {}  # in the order in which they come
    for entry in _entries(data):
        if isinstance(entry, dict):
            rows.append(Row(f"{path}: entry {len(rows) + 1}", entry))
            columns.update(dict.fromkeys(entry))
    return table(str(path), columns, rows) if rows else None


def _begins_so(path: Path, suffix: str) -> bool:
    """Whether the first line of a table may be (part of) a conversation, or names a column of messages."""
    if suffix not in (".jsonl", ".csv", ".tsv"):
        return False
    with opened(path) as file:
        line = file.readline(_LONGEST_LINE)
    if suffix != ".jsonl":
        # The head of a table: "id,messages,language".
        return re.search(rb"\bmessages\b", line) is not None
    names = (*_KEYS, INPUT)
    # Searched, not parsed: a line that is cut at the limit is no JSON.
    return any(f'"{name}"'.encode() in line for name in names)


def _entries(data: Any) -> Sequence[Any]:
    """The entries of a JSON file: of a list, a log of inspect_ai, a page of langfuse, spans, a test run."""
    if isinstance(data, list):
        # A list of messages is one conversation; any other list has an entry for each.
        is_conversation = all(isinstance(each, dict) and "role" in each for each in data)
        return [{"messages": data}] if data and is_conversation else data
    if not isinstance(data, dict):
        return []
    if "resourceSpans" in data:
        return list(records([data]))
    run = data.get("testRunData", data)  # deepeval's frame
    if isinstance(run, dict):
        for key in _ENTRIES:
            if isinstance(run.get(key), list) and run[key]:
                return list(run[key])
    # An object without a list of entries is an entry itself.
    return [data]
