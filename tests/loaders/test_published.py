"""Each published form, written as its owners do, and each way in which it can be wrong."""

from pathlib import Path

import pytest

from dhp.content.catalog import read_card
from dhp.core.errors import InputError
from dhp.loaders.published import read_published

from .conftest import write_csv, write_jsonl, write_parquet

STORY = {
    "InputStoryid": "s1",
    "InputSentence1": "Ann had a cat.",
    "InputSentence2": "It ran off.",
    "InputSentence3": "She looked for it.",
    "InputSentence4": "It sat on a tree.",
    "RandomFifthSentenceQuiz1": "Ann bought a car.",
    "RandomFifthSentenceQuiz2": "Ann took it home.",
    "AnswerRightEnding": "2",
}
ARTICLE = {
    "id": "a",
    "text": "An article.",
    "human_summaries": ["One.", "One. Two.", "Three. Four."],
    "x": [1],
}


def answer(qid: str, length: int, mark: str = "r", **more: object) -> dict[str, object]:
    return {"qid": qid, "question": "Why?", "context": "Because.", "reference": mark * length, **more}


def message(dataset: str, path: Path) -> str:
    with pytest.raises(InputError) as e:
        read_published(read_card(dataset), path)
    assert "\n" not in str(e.value)
    return str(e.value)


@pytest.mark.parametrize("form", ["jsonl", "parquet", "folder"])
def test_summeval_takes_the_first_of_the_longest_summaries(tmp_path: Path, form: str) -> None:
    rows = [ARTICLE, {**ARTICLE, "id": "b", "human_summaries": ["Only."]}]
    write = write_jsonl if form == "jsonl" else write_parquet
    path = write(tmp_path / f"s.{'jsonl' if form == 'jsonl' else 'parquet'}", rows)
    found = read_published(read_card("summeval"), tmp_path if form == "folder" else path)
    assert [(e.id, e.source, e.output) for e in found] == [
        ("a", "An article.", "One. Two."),
        ("b", "An article.", "Only."),
    ]


def test_summeval_faults_name_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"id": "a"}\n{"id": "\xff"}\n')
    assert "line 2: not UTF-8" in message("summeval", path)
    write_jsonl(path, [{**ARTICLE, "id": "b"}, ARTICLE, ARTICLE])
    assert f"{path}: line 3: duplicate id 'a' (first at {path}: line 2)" in message("summeval", path)
    write_jsonl(path, [{"id": "a", "text": "b", "human_summary": []}])
    assert "column 'human_summaries' is missing; did you mean 'human_summary'?" in message("summeval", path)
    write_jsonl(path, [{**ARTICLE, "human_summaries": []}])
    assert "line 1: column 'human_summaries' holds no summary" in message("summeval", path)
    write_jsonl(path, [ARTICLE, {"id": "b", "human_summaries": ["S."]}])
    assert "line 2: column 'text' is empty" in message("summeval", path)
    path.write_text('{"id": "a", "text": "\\ud800", "human_summaries": ["x"]}\n')
    assert "line 1: column 'text' holds a lone surrogate" in message("summeval", path)


def test_summeval_wrong_kinds_of_file(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("x")
    assert "wrong kind of file; expected: the table mteb/summeval" in message("summeval", tmp_path / "s.txt")
    assert "no such file in this folder" in message("summeval", tmp_path)
    write_parquet(tmp_path / "s.parquet", [ARTICLE])
    write_jsonl(tmp_path / "t.jsonl", [ARTICLE])
    assert "2 files could be meant (s.parquet, t.jsonl)" in message("summeval", tmp_path)


def sumpubmed(root: Path, number: int, text: str, abstract: str) -> None:
    for folder, content in (("text", text), ("abstract", abstract)):
        (root / folder).mkdir(parents=True, exist_ok=True)
        (root / folder / f"{folder}_{number}.txt").write_text(content)


@pytest.mark.parametrize("nested", ["", "sumpubmed-master"])
def test_sumpubmed_takes_the_background_sections(tmp_path: Path, nested: str) -> None:
    root = tmp_path / nested
    sumpubmed(
        root, 10, "BACKGROUND\nlong  text\n\nmore\n\nMETHODS AND RESULTS\nx", "BACKGROUND\nshort\nRESULTS\ny"
    )
    sumpubmed(root, 9, "intro\nBACKGROUND\nto the end", "BACKGROUND\nnine")
    sumpubmed(root, 1, "RESULTS\nno background", "BACKGROUND\nhere")
    sumpubmed(root, 2, "BACKGROUND\nhere", "")
    sumpubmed(root, 3, "BACKGROUND\nhere", "BACKGROUND\n\nRESULTS\nempty section")
    (root / "text" / "text_4.txt").write_text("BACKGROUND\nhas no abstract")
    found = read_published(read_card("sumpubmed"), tmp_path)
    assert [(e.id, e.source, e.output) for e in found] == [
        ("9", "to the end", "nine"),
        ("10", "long text more", "short"),
    ]


def test_sumpubmed_faults(tmp_path: Path) -> None:
    assert "no articles in this folder; expected: a folder that holds" in message("sumpubmed", tmp_path)
    (tmp_path / "x.txt").write_text("x")
    assert "wrong kind of file" in message("sumpubmed", tmp_path / "x.txt")
    sumpubmed(tmp_path, 1, "RESULTS\nx", "RESULTS\ny")
    assert "no example qualifies; allowed: The BACKGROUND section" in message("sumpubmed", tmp_path)
    (tmp_path / "text" / "text_1.txt").write_bytes(b"BACKGROUND\n\xe9")
    assert "text_1.txt: line 2" in message("sumpubmed", tmp_path)


def test_story_cloze_right_and_wrong_ending(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "c.csv", [STORY, {**STORY, "InputStoryid": "s2", "AnswerRightEnding": 1}])
    one, two = read_published(read_card("story_cloze"), path)
    assert one.id == "s1"
    assert one.source == "Ann had a cat. It ran off. She looked for it. It sat on a tree."
    assert (one.output, one.fields) == ("Ann took it home.", {"wrong_ending": "Ann bought a car."})
    assert (two.output, two.fields) == ("Ann bought a car.", {"wrong_ending": "Ann took it home."})


def test_story_cloze_without_ids_and_with_a_byte_order_mark(tmp_path: Path) -> None:
    bare = {k: v for k, v in STORY.items() if k != "InputStoryid"}
    path = write_csv(tmp_path / "c.csv", [bare, bare])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert [e.id for e in read_published(read_card("story_cloze"), tmp_path)] == ["1", "2"]


def test_story_cloze_faults(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    write_csv(path, [STORY, {**STORY, "InputStoryid": "s2", "AnswerRightEnding": "3"}])
    assert message("story_cloze", path) == f"{path}: row 2: column 'AnswerRightEnding' is '3'; allowed: 1, 2"
    write_csv(path, [STORY, STORY])
    assert "row 2: duplicate id 's1'" in message("story_cloze", path)
    write_csv(path, [{k.replace("Right", "Rigth"): v for k, v in STORY.items()}])
    assert "column 'AnswerRightEnding' is missing; did you mean 'AnswerRigthEnding'?" in message(
        "story_cloze", path
    )


def test_answer_equivalence_long_references_one_a_question(tmp_path: Path) -> None:
    (tmp_path / "v1").mkdir()
    write_jsonl(tmp_path / "v1" / "train.jsonl", [answer("q3", 151), answer("q1", 200, "late")])
    write_jsonl(
        tmp_path / "v1" / "ae_dev.jsonl",
        [answer("q1", 150), answer("q1", 160, "a", candidate="c"), answer("q1", 170), answer("q2", 10)],
    )
    found = read_published(read_card("answer_equivalence"), tmp_path)
    assert [(e.id, len(e.output), e.output[0]) for e in found] == [("q1", 160, "a"), ("q3", 151, "r")]
    assert (found[0].source, found[0].fields) == ("Because.", {"question": "Why?"})
    one = read_published(read_card("answer_equivalence"), tmp_path / "v1" / "train.jsonl")
    assert [e.id for e in one] == ["q3", "q1"]


def test_answer_equivalence_faults(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [answer("q", 150)])
    assert "no example qualifies; allowed: Reference answers of more than 150" in message(
        "answer_equivalence", path
    )
    write_jsonl(path, [{"qid": "q", "question": "x", "context": "y"}])
    assert "column 'reference' is missing" in message("answer_equivalence", path)


def test_a_dataset_without_a_reader_is_named(tmp_path: Path) -> None:
    card = read_card("summeval").model_copy(update={"dataset": "sumeval"})
    with pytest.raises(InputError, match="unknown published dataset 'sumeval'; did you mean 'summeval'"):
        read_published(card, tmp_path)
