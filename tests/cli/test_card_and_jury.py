"""`dhp report --card` and `dhp jury` on finished runs, and on what is none."""

import json
from pathlib import Path

import pytest

from .conftest import Run

ONE = ("--dataset", "mini/story_cloze", "--n", 12, "--controls")


@pytest.fixture
def runs(dhp: Run) -> tuple[str, str]:
    for judge, out in (("mock/ideal", "one"), ("mock/noisy", "two")):
        done = dhp("benchmark", "--model", judge, *ONE, "--out", out)
        assert done.code == 0, done.err
    return "one", "two"


@pytest.mark.slow
def test_a_card_in_three_forms_and_a_jury_of_two_runs(dhp: Run, runs: tuple[str, str]) -> None:
    done = dhp("report", "one", "--card")
    assert done.code == 0, done.err
    assert "mock/ideal: notices missing letters" in done.out
    assert json.loads(Path("one/card.json").read_text("utf-8"))[0]["judge"] == "mock/ideal"
    assert dhp("report", "one", "--card", "--out", "apart").code == 0
    for name in ("card.html", "card.md", "card.json"):
        assert Path("apart", name).read_bytes() == Path("one", name).read_bytes()

    said = dhp("jury", *runs)
    assert said.code == 0, said.err
    assert "smallest jury: mock/ideal: noticed 6 of 6" in said.out
    (found,) = json.loads(dhp("jury", *runs, "--json").out)
    assert found["floor"] == 0.6
    assert found["chosen"]["judges"] == ["mock/ideal"]
    assert found["chosen"]["verdicts"] == found["alone"][0]["verdicts"]
    assert len(found["gains"]) == 2
