"""Answers of systems to the same questions, from tables or ColossalEval's files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dhp.core.errors import InputError, listed
from dhp.core.tables import Row, Table, as_text, read_table

_QUESTION = ("instruction", "question", "prompt", "source")
_OUTPUT = ("output", "answer", "response", "text")
_TARGET = ("target", "reference")


@dataclass(frozen=True, slots=True)
class Answer:
    """What one system answered to one question."""

    id: str
    category: str
    """Category of the question; empty where the file names none."""
    question: str
    """Instruction and input of the question."""
    output: str
    """Answer of the system; empty in a file of questions."""
    target: str = ""
    """A good answer, where there is one."""


def read_answers(path: Path, *, answered: bool = True) -> list[Answer]:
    """The rows of a file of answers.

    Parameters
    ----------
    path
        A table with the columns `instruction` (and `input`), `question`, `prompt` or `source`, and `output`,
        `answer`, `response` or `text`; optionally `id`, `category` and `target` or `reference`.
    answered
        Whether each row must hold an answer.

    Raises
    ------
    InputError
        For a file of another form, an answer that is missing, or a duplicate id.
    """
    table = read_table(path)
    question = _column(table, _QUESTION, "question")
    output = _column(table, _OUTPUT, "answer") if answered else None
    found: dict[str, Answer] = {}
    for number, row in enumerate(table.rows, 1):
        name = row.text("id") if table.has("id") else str(number)
        if name in found:
            raise row.fault(f"duplicate id '{name}'")
        asked = row.text(question)
        if question == "instruction" and (more := _text(row, "input")):
            asked = f"{asked}\n{more}"
        if output and not row.has(output):
            raise row.fault(f"id '{name}': the answer in column '{output}' is missing; allowed: text")
        target = next((text for column in _TARGET if (text := _text(row, column))), "")
        found[name] = Answer(name, _text(row, "category"), asked, row.text(output) if output else "", target)
    return list(found.values())


def check_match(files: Mapping[str, Sequence[Answer]]) -> None:
    """Raise `InputError` unless all files hold the same ids with the same questions and categories.

    `files`: name for messages -> its answers; the first one is what the others are held against.
    """
    (first, expected), *others = files.items()
    known = {answer.id: answer for answer in expected}
    for name, answers in others:
        there = {answer.id: answer for answer in answers}
        for own, theirs, lacking, having in ((known, there, name, first), (there, known, first, name)):
            if missing := [i for i in own if i not in theirs]:
                more = f" and {len(missing) - 1} more" if missing[1:] else ""
                raise InputError(
                    f"{lacking}: lacks id '{missing[0]}'{more}, which {having} has; allowed: the same ids"
                )
        for i, answer in there.items():
            for what in ("question", "category"):
                if getattr(answer, what) != getattr(known[i], what):
                    raise InputError(
                        f"{name}: id '{i}' has another {what} than in {first}; allowed: the same"
                    )


def _column(table: Table, names: Sequence[str], what: str) -> str:
    found = next((name for name in names if table.has(name)), None)
    if found is None:
        there = listed(table.columns)
        raise InputError(
            f"{table.name}: no column for the {what}; allowed: {', '.join(names)}; it has {there}"
        )
    return found


def _text(row: Row, column: str) -> str:
    """The text in a column; empty where there is none."""
    text = as_text(row.value(column)) or ""
    return row.encodable(column, text) if text.strip() else ""
