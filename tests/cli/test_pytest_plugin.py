"""The fixture `judge_audit` in a test suite of a user's own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dhp

TESTS = """
import dhp

SCALE = dhp.JudgeSettings(scale=(0, 1))

def spelling(outputs):
    words = outputs.split()
    return sum(w.strip(".,;:'\\"()-").isalnum() for w in words) / len(words) * min(1, len(outputs) / 4000)

def blind(outputs):
    return 0.5

def test_blind(judge_audit):
    judge_audit(blind, "mini/story_cloze", judge_settings=SCALE, must_notice="typos")

def test_detection(judge_audit):
    judge_audit(blind, "mini/summeval", n=6, judge_settings=SCALE, min_detection=90)

def test_passes(judge_audit):
    results = judge_audit(blind, "mini/summeval", n=6, judge_settings=SCALE, min_detection=50)
    assert results.n == 6

def test_ideal(judge_audit):
    judge_audit("mock/ideal", "mini/summeval", must_notice="all", min_detection=90)
"""


@pytest.mark.slow
def test_a_blind_judge_fails_with_the_line_of_the_gate(tmp_path: Path) -> None:
    (tmp_path / "test_judge.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n0", str(tmp_path)]
    if "dhp.cli.pytest_plugin" not in _plugins():
        command += ["-p", "dhp.cli.pytest_plugin"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert "2 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    blind = "python:test_judge:blind"
    assert f"not met: mini/story_cloze, {blind}: not shown to notice " in done.stdout
    assert f"not met: mini/summeval, {blind}: detection 50.0 %" in done.stdout
    assert f"undecided: mini/summeval, {blind}: detection 50.0 %" in done.stdout, "a warning"
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize(
    ("options", "near"),
    [({"min_detecton": 99}, "min_detection"), ({"controlls": True}, "controls")],
    ids=["of the gate", "of the run"],
)
def test_an_unknown_keyword_is_refused_before_the_judge_is_called(
    judge_audit: Callable[..., dhp.Results], options: dict[str, Any], near: str
) -> None:
    def judge(outputs: str) -> float:
        raise AssertionError("was called")

    with pytest.raises(TypeError, match=rf"judge_audit\(\) has no keyword .* '{near}'"):
        judge_audit(judge, **options)


def test_a_condition_that_is_refused_shows_the_line_of_the_test(
    judge_audit: Callable[..., dhp.Results],
) -> None:
    with pytest.raises(dhp.InputError, match="min_detection") as refused:
        judge_audit("mock/ideal", "mini/story_cloze", min_detection=0.9)
    shown = [entry.path for entry in refused.traceback if not entry.ishidden(refused)]
    assert shown == [Path(__file__)], "a report shows the test alone"


def _plugins() -> set[str]:
    from importlib.metadata import entry_points

    return {entry.value for entry in entry_points(group="pytest11")}
