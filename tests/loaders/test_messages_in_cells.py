"""Messages that stand as JSON text in cells are messages; no JSON text is judged as a text."""

import csv
import json
from pathlib import Path

import pytest

from dhp.content.catalog import read_task
from dhp.core.errors import InputError
from dhp.loaders.dataset import Dataset
from dhp.loaders.resolve import resolve_datasets

ANSWER = "It is in Rome, {}, as everybody knows."


def chat(number: int, *, answered: bool = True) -> list[dict[str, str]]:
    asked = {"role": "user", "content": f"Where is {number}?"}
    return [asked, {"role": "assistant", "content": ANSWER.format(number)}] if answered else [asked]


def written(path: Path, rows: list[dict[str, object]]) -> str:
    """The rows as CSV with JSON in its cells, or as JSON Lines."""
    if path.suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
        return str(path)
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(
            {k: v if isinstance(v, str) else json.dumps(v) for k, v in row.items()} for row in rows
        )
    return str(path)


def read(source: str, **options: object) -> Dataset:
    (dataset,) = resolve_datasets([source], **options)  # type: ignore[arg-type]
    return dataset


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_the_output_is_the_answer(tmp_path: Path, name: str) -> None:
    rows: list[dict[str, object]] = [{"source": chat(n), "output": chat(n)} for n in range(3)]
    dataset = read(written(tmp_path / name, rows), task=read_task("dialogue"))
    assert [(e.source, e.output) for e in dataset.examples] == [
        (f"Where is {n}?", ANSWER.format(n)) for n in range(3)
    ]


def test_a_column_of_messages_makes_conversations(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"id": str(n), "messages": chat(n)} for n in range(3)]
    of_cells = read(written(tmp_path / "t.csv", rows))
    of_lines = read(written(tmp_path / "t.jsonl", rows))
    assert of_cells.examples == of_lines.examples
    assert of_cells.task.task == "conversation"


def test_chats_without_an_answer_are_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows: list[dict[str, object]] = [{"source": "Q", "output": chat(n, answered=n != 4)} for n in range(12)]
    dataset = read(written(tmp_path / "t.csv", rows), task=read_task("dialogue"))
    assert len(dataset.examples) == 11
    assert "column 'output' ends without an answer (row 5)" in caplog.text


def test_a_list_of_texts_is_no_text(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", [{"source": "Q", "output": ["One.", "Two."]}])
    with pytest.raises(InputError, match=r"holds a JSON list; .*output=output\[0\]"):
        read(path, task=read_task("dialogue"))
    dataset = read(path, task=read_task("dialogue"), fields={"output": "output[1]"})
    assert dataset.examples[0].output == "Two."
    numbers = written(tmp_path / "n.csv", [{"source": "Q", "output": "[1] is the first source."}])
    assert read(numbers, task=read_task("dialogue")).examples[0].output == "[1] is the first source."


def test_an_object_as_python_prints_it_is_no_text(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", [{"source": "Q", "output": str({"answer": "It's one.", "n": None})}])
    with pytest.raises(InputError, match=r"holds a JSON object \(answer, n\); .*output=output\.KEY"):
        read(path, task=read_task("dialogue"))
    dataset = read(path, task=read_task("dialogue"), fields={"output": "output.answer"})
    assert dataset.examples[0].output == "It's one."
