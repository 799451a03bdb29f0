"""What a run shows before it ends, and what a run that is stopped leaves."""

import json
import logging
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dhp
from dhp.report.labels import score
from tests.quick import undrawn_charts

__all__ = ["undrawn_charts"]

ROWS = [
    {"id": f"e{n}", "output": f"Ann has {n + 2} cats. They sleep all day. Bob feeds them."} for n in range(6)
]


@dhp.perturber(name="missing_capital", level="character")
def missing_capital(text: str, rng: random.Random) -> str:
    return text[1:]


@dhp.perturber(name="missing_end", level="sentence")
def missing_end(text: str, rng: random.Random) -> str:
    return text.removesuffix(" Bob feeds them.")


def stopping_after(calls: int, stop: BaseException) -> Callable[[str], float]:
    """A judge that counts letters, and is stopped after so many calls."""
    left = calls

    def judge(output: str) -> float:
        nonlocal left
        left -= 1
        if left < 0:
            raise stop
        return min(len(output) / 10, 10)

    return judge


def run(judge: Any, out: Path) -> dhp.Results:
    """Three texts of each of six examples."""
    perturbers = [missing_capital, missing_end]
    return dhp.run(judge, ROWS, scale=(0, 10), out=out, perturbers=perturbers, suite="none", controls=False)


def words(page: Path) -> str:
    """The text of a page without its tags."""
    main = page.read_text("utf-8").partition("<main>")[2].partition("</main>")[0]
    return " ".join(re.sub(r"<[^>]*>", " ", main).split())


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.slow
def test_a_run_that_is_stopped_leaves_a_report_of_the_examples_that_are_whole(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(stopping_after(11, KeyboardInterrupt()), tmp_path)
    said = words(tmp_path / "report.html")
    assert said.startswith(
        "Partial. The run was stopped: 3 of 6 examples are rated, each with all its copies. Repeat the "
        "command to resume."
    )
    assert f"the report of what is there so far, marked as partial: {tmp_path / 'report.html'}" in caplog.text
    assert names(tmp_path) == {"manifest.json", "examples.jsonl", "perturbed.jsonl", "report.html"}
    whole = run(stopping_after(18, KeyboardInterrupt()), tmp_path)
    assert whole[0].n == 6
    assert "Partial" not in words(tmp_path / "report.html")


def test_a_run_that_is_stopped_before_an_example_is_whole_leaves_no_report(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(stopping_after(2, KeyboardInterrupt()), tmp_path)
    assert names(tmp_path) == {"manifest.json", "examples.jsonl", "perturbed.jsonl"}


@pytest.mark.slow
def test_a_whole_report_is_not_replaced_by_a_partial_one(tmp_path: Path) -> None:
    judge = stopping_after(30, KeyboardInterrupt())
    run(judge, tmp_path)
    whole = (tmp_path / "report.html").read_bytes()
    with pytest.raises(KeyboardInterrupt):
        run(judge, tmp_path)
    assert (tmp_path / "report.html").read_bytes() == whole
    assert json.loads((tmp_path / "results.json").read_text())["n"] == 6


@pytest.mark.slow
def test_of_several_judges_those_that_are_through_are_shown_whole(tmp_path: Path) -> None:
    def patient(output: str) -> float:
        return 5.0

    with pytest.raises(KeyboardInterrupt):
        run([patient, stopping_after(8, KeyboardInterrupt())], tmp_path)
    said = words(tmp_path / "report.html")
    assert said.startswith("Partial. The run was stopped: result 2 of 2, 2 of 6 examples are rated")
    assert "2 judges" in said


@pytest.mark.slow
def test_while_a_run_goes_on_its_page_is_written_anew_and_a_few_pairs_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("dhp.report.so_far._FIRST_SECONDS", "dhp.runs.rating._SECONDS_BETWEEN_SHOWS"):
        monkeypatch.setattr(name, -1.0)
    monkeypatch.setattr("dhp.report.so_far._SHARE", 1e9)
    pages: set[str] = set()

    def judge(output: str) -> float:
        page = tmp_path / "report.html"
        if page.exists():
            pages.add(words(page).partition(" examples ")[0])
            assert "location.reload" in page.read_text("utf-8")
        return min(len(output) / 10, 10)

    with caplog.at_level(logging.INFO, logger="dhp"):
        run(judge, tmp_path)
    assert pages == {f"Partial. The run goes on: {n} of 6" for n in range(1, 6)}
    assert "location.reload" not in (tmp_path / "report.html").read_text("utf-8")
    pairs = [record.message for record in caplog.records if record.message.startswith("e0: ")]
    assert pairs == [
        'e0: score 5.1 -> 5, missing_capital: "A" went',
        'e0: score 5.1 -> 3.5, missing_end: "Bob feeds them." went',
    ], "one of each level of damage, once"
    assert f"the report so far, written anew as the run goes on: {tmp_path / 'report.html'}" in caplog.text


def test_a_text_without_a_score_has_a_dash() -> None:
    assert [score(value) for value in (8.0, 7.5, None, float("nan"))] == ["8", "7.5", "–", "–"]
