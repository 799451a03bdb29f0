"""Files as people and their programs write them: read, or refused with what to do."""

import json
import logging
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dhp
from dhp.core.errors import InputError
from dhp.loaders.dataset import Dataset
from dhp.loaders.resolve import resolve_datasets

ROWS = [
    (f"Doc {i} says: opened {1900 + i}.", f"The café opened in {1900 + i}; it serves tea.") for i in range(20)
]
OBJECTS = [{"source": source, "output": output} for source, output in ROWS]


def read(path: Path, **more: Any) -> Dataset:
    (found,) = resolve_datasets([str(path)], task="summarization", **more)
    return found


def texts(path: Path, **more: Any) -> list[tuple[str, str]]:
    return [(example.source, example.output) for example in read(path, **more).examples]


def lines(mark: str, rows: list[tuple[str, str]] = ROWS) -> str:
    quoted = ([f'"{cell}"' for cell in row] for row in [("source", "output"), *rows])
    return "\n".join(mark.join(row) for row in quoted)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("cp1252.csv", lines(",").encode("cp1252")),
        ("utf16.csv", lines("\t").encode("utf-16")),
        ("utf16be.csv", b"\xfe\xff" + lines(",").encode("utf-16-be")),
        ("bom.csv", lines(";").encode("utf-8-sig")),
        ("declared.csv", ("sep=;\n" + lines(";")).encode()),
        ("declared_bar.csv", ("sep=|\r\n" + lines("|")).encode()),
        ("bars.csv", lines("|").encode()),
        ("tabs.tsv", lines("\t").encode()),
        ("list.jsonl", json.dumps(OBJECTS).encode()),
        ("pretty.jsonl", json.dumps(OBJECTS, indent=2).encode()),
        ("comma.json", json.dumps(OBJECTS).replace("}]", "},]").encode()),
        ("commas.jsonl", "\n".join(json.dumps(each).replace("}", ",}") for each in OBJECTS).encode()),
    ],
)
def test_it_is_read_as_it_was_meant(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    assert texts(tmp_path / name) == ROWS


def test_a_spreadsheet_is_read(tmp_path: Path) -> None:
    pd.DataFrame(OBJECTS).to_excel(tmp_path / "x.xlsx", index=False)
    assert texts(tmp_path / "x.xlsx") == ROWS
    (tmp_path / "broken.xlsx").write_bytes(b"PK junk")
    with pytest.raises(InputError, match=r"broken\.xlsx: not a spreadsheet"):
        texts(tmp_path / "broken.xlsx")


def test_an_encoding_that_is_only_guessed_is_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "x.csv").write_bytes(lines(",").encode("cp1252"))
    texts(tmp_path / "x.csv")
    (said,) = caplog.messages
    assert "read as Windows-1252; if letters look wrong, save it as 'CSV UTF-8'" in said


def test_another_encoding_is_refused_with_what_to_do(tmp_path: Path) -> None:
    rows = [("文章讲的是一家咖啡馆。", "咖啡馆一九零一年开业，供应茶水。")] * 5
    (tmp_path / "x.csv").write_bytes(lines(",", rows).encode("gb18030"))
    with pytest.raises(InputError, match="not UTF-8 text; save it as UTF-8, in a spreadsheet as 'CSV UTF-8'"):
        texts(tmp_path / "x.csv")


def with_faults(path: Path, empty: list[int], cut: list[int]) -> Path:
    """JSON Lines of which some lines have no output, and others are cut off."""
    rows = [json.dumps({**each, "output": ""} if i in empty else each) for i, each in enumerate(OBJECTS)]
    path.write_text("\n".join(row[:15] if i in cut else row for i, row in enumerate(rows)))
    return path


def test_up_to_a_tenth_of_the_rows_is_left_out_with_one_note(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = with_faults(tmp_path / "x.jsonl", [3], [7])
    found = read(path)
    assert [example.output for example in found.examples] == [
        each["output"] for i, each in enumerate(OBJECTS) if i not in (3, 7)
    ]
    (said,) = caplog.messages
    assert said.startswith(f"{path}: 2 of 20 rows are left out: broken JSON at column")
    assert said.endswith("; column 'output' is empty (line 4)")


def test_what_programs_print_for_a_missing_value_is_no_text(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [{**each, "output": "<NA>"} if i == 3 else each for i, each in enumerate(OBJECTS)]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert len(read(tmp_path / "x.jsonl").examples) == len(OBJECTS) - 1
    assert "column 'output' is empty (line 4)" in caplog.text


@pytest.mark.parametrize(("empty", "cut"), [([1, 5], [9]), (list(range(20)), [])])
def test_more_are_refused_with_all_rows_in_one_message(
    tmp_path: Path, empty: list[int], cut: list[int]
) -> None:
    with pytest.raises(InputError, match=rf"{len(empty) + len(cut)} of 20 rows ") as caught:
        read(with_faults(tmp_path / "x.jsonl", empty, cut))
    assert all(f"line {i + 1}" in str(caught.value) for i in [*empty, *cut])
    assert "\n" not in str(caught.value)


def test_a_row_of_another_length_is_left_out_or_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "x.csv"
    path.write_text(lines(",") + "\nonly one")
    assert texts(path) == ROWS
    assert "1 of 21 rows are left out: 1 values; " in caplog.messages[0]
    with pytest.raises(InputError, match="`strict` allows none"):
        read(path, strict=True)


def test_a_cell_that_holds_json_needs_a_path_to_its_text(tmp_path: Path) -> None:
    cells = [json.dumps({"answer": output, "parts": [{"text": source}]}) for source, output in ROWS]
    frame = pd.DataFrame({"source": [source for source, _ in ROWS], "outputs": cells})
    frame.to_csv(tmp_path / "x.csv", index=False)
    assert texts(tmp_path / "x.csv", fields={"output": "outputs.answer"}) == ROWS
    deeper = texts(tmp_path / "x.csv", fields={"output": "outputs.parts[0].text"})
    assert [output for _, output in deeper] == [source for source, _ in ROWS]
    with pytest.raises(InputError, match=r"holds a JSON object \(answer, parts\).* output=outputs.KEY"):
        read(tmp_path / "x.csv", fields={"output": "outputs"})


def test_json_in_a_block_of_code_needs_a_path_too(tmp_path: Path) -> None:
    cells = [f"```json\n{json.dumps({'answer': output}, indent=1)}\n```" for _, output in ROWS]
    frame = pd.DataFrame({"source": [source for source, _ in ROWS], "output": cells})
    frame.to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(InputError, match=r"'output' holds a JSON object \(answer\)"):
        read(tmp_path / "x.csv")
    assert texts(tmp_path / "x.csv", fields={"output": "output.answer"}) == ROWS


def test_a_json_object_is_refused_among_pairs_and_by_dhp_judge(tmp_path: Path) -> None:
    cells = [json.dumps({"answer": output}) for _, output in ROWS]
    plain = pd.DataFrame({"source": [source for source, _ in ROWS], "output": cells})
    plain.assign(perturbed="Worse.").to_csv(tmp_path / "pairs.csv", index=False)
    with pytest.raises(InputError, match="'output'"):
        read(tmp_path / "pairs.csv")
    with pytest.raises(InputError, match="'output'"):
        dhp.judge("mock/noisy", plain)


def test_a_chat_without_an_answer_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def chat(source: str, output: str, place: int) -> str:
        messages = [{"role": "user", "content": source}, {"role": "assistant", "content": output}]
        return json.dumps({"messages": messages[:1] if place == 4 else messages})

    path = tmp_path / "chats.jsonl"
    path.write_text("\n".join(chat(*row, place) for place, row in enumerate(ROWS)))
    (found,) = resolve_datasets([str(path)])
    assert len(found.examples) == 19
    (said,) = caplog.messages
    assert said.startswith(f"{path}: 1 of 20 rows ")
    assert said.endswith("(line 5)")
    with pytest.raises(InputError, match="`strict` allows none"):
        resolve_datasets([str(path)], strict=True)


def test_a_missing_file_names_a_near_one(tmp_path: Path) -> None:
    (tmp_path / "answers.csv").write_text(lines(","))
    with pytest.raises(InputError, match=r"answer.csv: does not exist.*'answers.csv'"):
        read(tmp_path / "answer.csv")


@pytest.fixture(autouse=True)
def notes(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, logger="dhp")
