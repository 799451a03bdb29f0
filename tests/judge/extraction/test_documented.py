"""The answers in docs/extraction.md are read as the table there says."""

import re
from pathlib import Path

import pytest

from dhp.core.specs import Scale
from dhp.judge.extraction.rating import read_rating

PAGE = Path(__file__).resolve().parents[3] / "docs" / "extraction.md"
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
