"""Marks of thoughts: each row of the table is cut, and what has no known end is never an answer."""

from pathlib import Path

import pytest
import yaml

import dhp.core.reasoning
from dhp.core.reasoning import unknown_mark, without_reasoning

TABLE = yaml.safe_load(Path(dhp.core.reasoning.__file__).with_name("thinking.yaml").read_text("utf-8"))
MARKS, HEADINGS = TABLE["marks"], TABLE["headings"]


@pytest.mark.parametrize("row", [*MARKS, *HEADINGS], ids=lambda row: row["begins"])
def test_every_mark_of_the_table_is_cut_and_leaves_nothing_where_it_never_ends(row: dict[str, str]) -> None:
    assert row["model"]
    assert row["source"]
    answer = without_reasoning(f"{row['begins']}Rating: 2?{row['ends']}\nRating: 4")
    assert answer is not None
    assert answer.strip() == "Rating: 4"
    assert without_reasoning(f"{row['begins']}Rating: 2") is None


@pytest.mark.parametrize(
    "row", [row for row in MARKS if not row.get("paired")], ids=lambda row: row["begins"]
)
def test_a_beginning_may_stand_in_the_prompt(row: dict[str, str]) -> None:
    assert (without_reasoning(f"Rating: 2?{row['ends']}Rating: 4") or "").strip() == "Rating: 4"


@pytest.mark.parametrize(
    "opens", ["<think>", "<thinking>", "<mm:think>", "<longcat_think>", "<think:6124c78e>", "<|think:start|>"]
)
@pytest.mark.parametrize("ends", ["</think>", "</thinking>", "</mm:think>", "<|think:end|>"])
def test_one_mark_may_close_what_another_opened(opens: str, ends: str) -> None:
    assert (without_reasoning(f"{opens}Rating: 2{ends}4") or "").strip() == "4"


@pytest.mark.parametrize("row", [row for row in MARKS if "answer" in row], ids=lambda row: row["begins"])
def test_thoughts_end_where_the_answer_begins(row: dict[str, str]) -> None:
    opens = row["answer"].split()[0]
    assert (without_reasoning(f"{row['begins']}Rating: 2? {opens}Rating: 4") or "").strip() == "Rating: 4"


@pytest.mark.parametrize(
    ("begins", "ends"),
    [
        ("<think>", "<//think>"),
        ("<|think_start|>", "<|think_end|>"),
        ("<｜begin▁of▁thinking｜>", "<｜end▁of▁thinking｜>"),
    ],
)
def test_a_name_of_thoughts_is_known_in_other_marks(begins: str, ends: str) -> None:
    assert (without_reasoning(f"{begins}Rating: 2?{ends}Rating: 4") or "").strip() == "Rating: 4"
    assert without_reasoning(f"{begins}Rating: 2?") is None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Thinking: a 4 seems high.\n\nAnswer: 3", "Answer: 3"),
        ("## Thinking\nRating: 4? no\n\n## Final answer\nRating: 3", "## Final answer\nRating: 3"),
        ("**Thought process:** one jump\n\n**Rating:** 3", "**Rating:** 3"),
    ],
)
def test_a_heading_of_the_answer_ends_thoughts_below_a_heading(text: str, answer: str) -> None:
    assert (without_reasoning(text) or "").strip() == answer


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("thought\nThe order is fine.\n\nRating: 2", "thought"),
        ("Thinking Process: a 4 might do, but", "Thinking Process:"),
        ("<cogitation>Rating: 3</cogitation> Rating: 5", "<cogitation>"),
        ("Rating: 4", None),
        ("I think it is fine. Rating: 4", None),
        ("The analysis shows one jump. Rating: 4", None),
    ],
)
def test_an_opening_that_looks_like_thoughts_and_has_no_known_end_is_named(
    text: str, mark: str | None
) -> None:
    assert unknown_mark(without_reasoning(text) or "") == mark
