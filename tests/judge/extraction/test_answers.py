"""Answers of the page of documentation, of real judges, and mutated ones."""

import re
import runpy
from pathlib import Path

import pytest

from dhp.core.specs import Scale
from dhp.judge.extraction.rating import read_rating

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "extraction.md"
ROWS = re.findall(r'^\| (".*") \| (`[a-z_]+`|[1-5]) \| [^|]+ \|$', PAGE.read_text("utf-8"), re.M)
CASES = [(text, said.strip("`")) for cell, said in ROWS for text in re.findall(r'"([^"]+)"', cell)]


def test_the_table_is_there() -> None:
    assert len(ROWS) == 13
    assert len(CASES) > 35


@pytest.mark.parametrize(("answer", "said"), CASES)
def test_an_answer_is_read_as_the_table_says(answer: str, said: str) -> None:
    lines = re.sub(r" (?=\* |Grammar: |Style: |Response 2|Rating: 3$)", "\n", answer)
    read = read_rating(lines, Scale(min=1, max=5), "analyze-rate")
    assert (read.status, read.score) == (("scored", float(said)) if said.isdigit() else (said, None))


ANSWERS = [
    "The plot is clear, but 2 names are wrong, which keeps it from being a 5 out of 5. Rating: 4/5",
    "评分：4分。理由：内容完整，有1个错误。",
    "Output (a) names the mayor. Therefore, Output (a) is better.",
    '{"score": 3.5, "reason": "between 3 and 4"}',
    "8 7\nThe first text is shorter.",
]


@pytest.mark.slow
def test_mutated_answers_neither_raise_nor_hang() -> None:
    found = runpy.run_path(str(ROOT / "scripts" / "fuzz_extraction.py"))["fuzz"](ANSWERS, 100, seed=1)
    assert sum(outcome.read for outcome in found.values()) == 100
    assert {name: outcome.faults for name, outcome in found.items() if outcome.faults} == {}


@pytest.mark.realdata
@pytest.mark.slow
def test_what_judges_really_answered_is_read(real: Path) -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "extraction.py"))
    found = script["read"](real)
    assert sum(counts.total() for counts in found.values()) == 86_240
    for name, _, share in script["shares"](found):
        assert share >= 0.995, name
