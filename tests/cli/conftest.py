"""Runs the command line in this process; the files that several commands are given."""

import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dhp.cli.main import main
from tests.quick import short_waits, undrawn_charts

__all__ = ["dhp", "short_waits", "undrawn_charts"]


@dataclass(frozen=True)
class Outcome:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def dhp(capsys: pytest.CaptureFixture[str], tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Call it with a command line, or with its arguments; the working directory is `tmp_path`."""
    monkeypatch.chdir(str(tmp_path))
    monkeypatch.delenv("COLUMNS", raising=False)

    def run(*arguments: object) -> Outcome:
        typed = [str(a) for a in arguments] if arguments[1:] else shlex.split(str(arguments[0]))
        with pytest.raises(SystemExit) as ended:
            main(typed)
        captured = capsys.readouterr()
        code = ended.value.code
        return Outcome(code if isinstance(code, int) else 1, captured.out, captured.err)

    return run


def results_in(folder: str) -> Any:
    """The results file of a run: one result, or a list."""
    return json.loads(Path(folder, "results.json").read_text("utf-8"))


def write_rows(name: str, rows: Sequence[object]) -> None:
    """A file of JSON Lines."""
    Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")


def write_tickets(name: str = "tickets.csv", count: int = 8) -> None:
    """A table of a user's own, and a prompt for its metric `usefulness`."""
    rows = [
        f"{i};Printer X{i} stopped on Monday. It beeps. The user asks for {20 + i} euros.;"
        f"Printer X{i} stopped on Monday. The user wants {20 + i} euros back.;high"
        for i in range(count)
    ]
    Path(name).write_text("\n".join(["id;ticket;summary;priority", *rows, ""]), "utf-8")
    prompt = "Ticket ({priority}): {ticket}\nSummary: {summary}\nUsefulness from 1 to 10:"
    Path("prompt.txt").write_text(prompt, "utf-8")


def write_stories(count: int) -> None:
    """The file `cloze.csv` as the owners of StoryCloze send it."""
    columns = [f"InputSentence{k}" for k in (1, 2, 3, 4)]
    columns += ["RandomFifthSentenceQuiz1", "RandomFifthSentenceQuiz2", "AnswerRightEnding"]
    story = "s{0},Tom ran {0} miles.,He fell.,It hurt.,He rested.,He felt better {0}.,He flew {0}.,1"
    rows = [",".join(["InputStoryid", *columns]), *map(story.format, range(count)), ""]
    Path("cloze.csv").write_text("\n".join(rows), "utf-8")
