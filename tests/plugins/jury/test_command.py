"""`dhp jury` on finished runs, and on what is none."""

import json

import pytest

from tests.cli.conftest import Run

ONE = ("--dataset", "mini/story_cloze", "--n", 12, "--controls")


@pytest.fixture
def runs(dhp: Run) -> tuple[str, str]:
    for judge, out in (("mock/ideal", "one"), ("mock/noisy", "two")):
        done = dhp("benchmark", "--model", judge, *ONE, "--out", out)
        assert done.code == 0, done.err
    return "one", "two"


@pytest.mark.slow
def test_a_jury_of_two_runs(dhp: Run, runs: tuple[str, str]) -> None:
    said = dhp("jury", *runs)
    assert said.code == 0, said.err
    assert "smallest jury: mock/ideal: noticed 6 of 6" in said.out
    (found,) = json.loads(dhp("jury", *runs, "--json").out)
    assert found["floor"] == 0.6
    assert found["chosen"]["judges"] == ["mock/ideal"]
    assert found["chosen"]["verdicts"] == found["alone"][0]["verdicts"]
    assert len(found["gains"]) == 2
