"""Files of conversations as datasets."""

from dhp.content.catalog import own_suite, read_task
from dhp.core.errors import InputError, one_of, suggest
from dhp.core.records import Example
from dhp.core.specs import Task
from dhp.core.spool import spooled
from dhp.core.tables import as_text
from dhp.loaders.dataset import Dataset
from dhp.loaders.pairs import chosen_rows
from dhp.loaders.user import Request
from dhp.plugins.conversations.conversation import (
    CONVERSATION,
    PART,
    PARTS,
    Judged,
    Part,
    split_example,
    to_json,
)
from dhp.plugins.conversations.readers import Found, open_rows, reader_of

TASK = "conversation"
_TEXTS = ("output", "perturbed")
"""Columns of files that the core reads, as tables of texts or as logs."""
_FIELDS = ("id", "messages", "language")
_COPIED = ("language", "cluster", "reference")
"""Columns that become fields of an example."""


def conversations(asked: Request) -> Dataset | None:
    """The conversations of a file or of rows in memory; None for other data.

    Files that hold an output beside the messages, as logs of inspect_ai and observations of langfuse do, are
    conversations where `judge_part` is set. Raises `InputError` with file and place for an unknown part and
    for conversations that cannot be read.
    """
    part = _part(asked.judge_part)
    certain = asked.judge_part is not None or asked.task == TASK
    rows = open_rows(asked.source, certain)
    if rows is None or (reader := reader_of(rows, asked.fields)) is None:
        return None
    if not certain and any(rows.has(name) or name in asked.fields for name in _TEXTS):
        return None
    for field in asked.fields:
        one_of("field", field, _FIELDS, "`fields`")
    chosen = chosen_rows(rows, asked.where) if asked.where else rows
    found = reader(chosen.rows, asked.fields)
    examples = spooled(_example(each, number, part, asked) for number, each in enumerate(found, 1))
    if not examples:
        raise InputError(f"{rows.name}: no conversation in it; allowed: at least one")
    task = asked.task if isinstance(asked.task, Task) else read_task(asked.task or TASK)
    suite = own_suite(read_task(TASK), with_llm=False)
    dataset = Dataset(asked.name, examples, task, suite, examples, split=split_example)
    return dataset.in_languages(None, asked.language or task.output_language)


def _part(name: str | None) -> Part:
    for part in PARTS:
        if part == (name or "run"):
            return part
    raise InputError(f"`judge_part`: unknown part '{name}'; {suggest(str(name), PARTS)}")


def _example(found: Found, number: int, part: Part, asked: Request) -> Example:
    judged = Judged.split(found.turns, part)
    name = found.id or str(number)
    fields = {CONVERSATION: to_json(found.turns), PART: part, "cluster": name}
    for column in _COPIED:
        if (text := as_text(found.row.value(asked.fields.get(column, column)))) is not None:
            fields[column] = found.row.encodable(column, text)
    output = found.row.encodable("messages", judged.output)
    return Example(name, found.row.encodable("messages", judged.source), output, fields)
