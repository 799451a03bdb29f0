"""Answers of the page of documentation, and of real judges."""

import re
from pathlib import Path

import pytest

from dhp.core.specs import Scale
from dhp.judge.extraction.rating import read_rating
from tests.scripts import loaded

PAGE = Path(__file__).resolve().parents[3] / "docs" / "extraction.md"
ROWS = re.findall(r'^\| (".*") \| (`[a-z_]+`|[1-5]) \| [^|]+ \|$', PAGE.read_text("utf-8"), re.M)
"""Each row of the table of readings: its answers, and what is read in them."""


def cases() -> list[tuple[str, str]]:
    """Each answer of the table with what is read in it."""
    pairs = []
    for cell, said in ROWS:
        for text in re.findall(r'"([^"]+)"', cell):
            pairs.append((text, said.strip("`")))
    return pairs


CASES = cases()


def test_the_table_is_there() -> None:
    assert len(ROWS) == 16
    assert len(CASES) > 35


@pytest.mark.parametrize(("answer", "said"), CASES)
def test_an_answer_is_read_as_the_table_says(answer: str, said: str) -> None:
    lines = re.sub(r" (?=\* |Grammar: |Style: |Response 2|Rating: 3$)", "\n", answer)
    read = read_rating(lines, Scale(min=1, max=5), "analyze-rate")
    expected = ("scored", float(said)) if said.isdigit() else (said, None)
    assert (read.status, read.score) == expected


@pytest.mark.realdata
@pytest.mark.slow
def test_what_judges_really_answered_is_read(real: Path) -> None:
    script = loaded("extraction")
    found = script.read(real)
    assert sum(counts.total() for counts in found.values()) == 86_240
    for name, _, share in script.shares(found):
        assert share >= 0.995, name
