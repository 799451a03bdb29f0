"""Answers of systems to the same questions: read from files, and held against each other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dhp.core.errors import InputError, listed
from dhp.core.tables import Row, Table, as_text, read_table

# "instruction" and "output" are ColossalEval's names.
_QUESTION = ("instruction", "question", "prompt", "source")
_OUTPUT = ("output", "answer", "response", "text")
"""Names that tables in use have for a column; the first one that is there counts."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one system answered to one question."""

    id: str
    category: str
    """Category of the question; empty if the file names none."""
    question: str
    """Instruction and input of the question."""
    output: str
    """Answer of the system; empty in a file of questions."""
    target: str = ""
    """A good answer, if there is one."""


def read_answers(path: Path, *, answered: bool = True) -> list[Answer]:
    """The rows of a file of answers.

    A table with the columns `instruction` (and `input`), `question`, `prompt` or `source`, and `output`,
    `answer`, `response` or `text`, which each row must hold if it is `answered`; optionally `id`,
    `category` and `target` or `reference`. Raises `InputError` for a file of another form, an answer that is
    missing, or a duplicate id.
    """
    table = read_table(path)
    question = _column(table, _QUESTION, "question")
    output = _column(table, _OUTPUT, "answer") if answered else None
    by_id: dict[str, Answer] = {}
    for number, row in enumerate(table.rows, 1):
        # Files without ids are held against each other row by row.
        name = row.text("id") if table.has("id") else str(number)
        if name in by_id:
            raise row.fault(f"duplicate id '{name}'")

        # ColossalEval parts a question into an instruction and what it is about.
        asked = row.text(question)
        more = _text(row, "input") if question == "instruction" else ""
        if more:
            asked = f"{asked}\n{more}"

        answer = ""
        if output:
            if not row.has(output):
                raise row.fault(f"id '{name}': the answer in column '{output}' is missing; must be text")
            row.check_no_object(output)
            answer = row.text(output)
        target = _text(row, "target") or _text(row, "reference")
        by_id[name] = Answer(name, _text(row, "category"), asked, answer, target)
    return list(by_id.values())


def check_match(files: Mapping[str, Sequence[Answer]]) -> None:
    """Raise `InputError` unless all files hold the same ids with the same questions and categories.

    `files`: name for messages -> its answers; the first one is what the others are held against.
    """
    # Each file against the first, so that a message names two files.
    names = list(files)
    first = names[0]
    known = _by_id(files[first])
    for name in names[1:]:
        by_id = _by_id(files[name])
        _check_no_less(name, by_id, first, known)
        _check_no_less(first, known, name, by_id)
        for each, answer in by_id.items():
            for what in ("question", "category"):
                if getattr(answer, what) != getattr(known[each], what):
                    raise InputError(
                        f"{name}: id '{each}' has another {what} than in {first}; must be the same"
                    )


def _by_id(answers: Sequence[Answer]) -> dict[str, Answer]:
    return {answer.id: answer for answer in answers}


def _check_no_less(name: str, ids: Mapping[str, Answer], other: str, wanted: Mapping[str, Answer]) -> None:
    missing = [each for each in wanted if each not in ids]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise InputError(f"{name}: lacks id '{missing[0]}'{more}, which {other} has; must have the same ids")


def _column(table: Table, names: Sequence[str], what: str) -> str:
    for name in names:
        if table.has(name):
            return name
    columns = listed(table.columns)
    raise InputError(f"{table.name}: no column for the {what}; allowed: {', '.join(names)}; it has {columns}")


def _text(row: Row, column: str) -> str:
    """The text in a column; empty without one."""
    text = as_text(row.value(column)) or ""
    return row.encodable(column, text) if text.strip() else ""
