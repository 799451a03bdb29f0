"""Conversations of a file as a dataset."""

from collections.abc import Collection, Iterable

from dhp.content.catalog import own_suite, read_task
from dhp.core.errors import InputError, one_of, suggest
from dhp.core.records import Example
from dhp.core.specs import Task
from dhp.core.tables import Table, as_text, sound
from dhp.loaders.dataset import Dataset
from dhp.loaders.left_out import leave_out
from dhp.loaders.pairs import chosen_rows, free_name, id_of_texts
from dhp.loaders.request import Request
from dhp.plugins.conversations.conversation import (
    CONVERSATION,
    PART,
    PARTS,
    Judged,
    Part,
    split_example,
    to_json,
)
from dhp.plugins.conversations.files import open_rows
from dhp.plugins.conversations.formats import Found, Reader, of_messages, of_turns, reader_of

TASK = "conversation"
_TEXT_COLUMNS = ("output", "perturbed")
"""Columns of files that the core reads, as tables of texts or as logs."""
_FIELDS = ("id", "messages", "language")
_COPIED = ("language", "cluster", "reference")
"""Columns that become fields of an example."""


def conversations(asked: Request) -> Dataset | None:
    """The conversations of a file or of rows in memory; None for other data.

    Files that hold an output beside the messages, as logs of inspect_ai and observations of langfuse do, are
    conversations if `judge_part` is set. Raises `InputError` with file and place for an unknown part and
    for conversations that cannot be read.
    """
    part = _part(asked.judge_part)
    # Whether the user says that it holds conversations; else its columns must.
    certain = asked.judge_part is not None or asked.task == TASK
    rows = open_rows(asked.source, certain)
    if rows is None:
        return None
    reader = reader_of(rows, asked.fields)
    if reader is None:
        return None
    # A log or table with an output is read as single answers, unless the user says otherwise.
    if not certain and _has_output(rows, asked):
        return None
    for name in asked.fields:
        one_of("field", name, _FIELDS, "`fields`")

    chosen = chosen_rows(rows, asked.where) if asked.where else rows
    if reader in (of_messages, of_turns):
        read: Iterable[Found] = _each_row(chosen, reader, asked)
    else:
        # Spans and observations of one conversation stand in several rows, so these are read together.
        read = reader([sound(row) for row in chosen.rows], asked.fields)
    examples: list[Example] = []
    taken: set[str] = set()
    for conversation in read:
        example = _example(conversation, part, asked, taken)
        examples.append(example)
        taken.add(example.id)
    if not examples:
        raise InputError(f"{rows.name}: no conversation in it; must have at least one")

    task = asked.task if isinstance(asked.task, Task) else read_task(asked.task or TASK)
    suite = own_suite(read_task(TASK), with_llm=False)
    # The examples twice: those to be judged, and those that foreign answers are drawn from.
    dataset = Dataset(asked.name, tuple(examples), task, suite, tuple(examples), split=split_example)
    return dataset.in_languages(None, asked.language or task.output_language)


def _has_output(rows: Table, asked: Request) -> bool:
    """Whether a column of outputs is there, or named by the user."""
    return any(rows.has(name) or name in asked.fields for name in _TEXT_COLUMNS)


def _each_row(rows: Table, reader: Reader, asked: Request) -> list[Found]:
    """A conversation of each row; rows that hold none are left out, see `leave_out`."""
    kept: list[Found] = []
    reasons: dict[str, list[str]] = {}
    for row in rows.rows:
        try:
            kept += reader([sound(row)], asked.fields)
        except InputError as e:
            # Without its place, so that the same fault of several rows is one reason.
            reason = str(e).removeprefix(f"{row.place}: ")
            if len(rows.rows) == 1:  # its fault says more than that all rows are left out
                raise InputError(f"{row.place}: {reason}") from None
            reasons.setdefault(reason, []).append(row.place)
    leave_out(rows.name, reasons, len(rows.rows), strict=asked.strict)
    return kept


def _part(name: str | None) -> Part:
    wanted = name or "run"
    for part in PARTS:
        if part == wanted:
            return part
    raise InputError(f"`judge_part`: unknown part '{name}'; {suggest(str(name), PARTS)}")


def _example(conversation: Found, part: Part, asked: Request, taken: Collection[str]) -> Example:
    """The example of a conversation; without an id it is known by its turns."""
    judged = Judged.split(conversation.turns, part)
    fields = {CONVERSATION: to_json(conversation.turns), PART: part}
    for column in _COPIED:
        name = asked.fields.get(column, column)
        text = as_text(conversation.row.value(name))
        if text is not None:
            fields[column] = conversation.row.encodable(column, text)
    source = conversation.row.encodable("messages", judged.source)
    output = conversation.row.encodable("messages", judged.output)
    # Without an id it is known by its texts.
    identity = conversation.id or free_name(id_of_texts(source, output, fields), taken)
    # A conversation is a cluster of its own, unless the file names one.
    return Example(identity, source, output, {"cluster": identity, **fields})
