"""`dhp benchmark --dataset LOG`: a judge on the texts of a log."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

WORDS = "The river rose again. Nobody saw the bridge fall in {}. Later the town paid for it."

JUDGE = """
def judge(*, inputs, outputs):
    assert inputs.startswith("What")
    return len(outputs) / 400
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    rows = [{"input": f"What happened in {i}?", "output": WORDS.format(1900 + i)} for i in range(8)]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "mine.py").write_text(JUDGE)
    return tmp_path / "log.jsonl"


def test_the_report_says_what_the_originals_are(dhp: Run, log: Path) -> None:
    judge = ("--model", "python:mine.py:judge", "--scale", "0..1", "--out", "run")
    done = dhp("benchmark", "--dataset", log, *judge)
    assert done.code == 0, done.err
    assert "production texts, not references" in done.out
    assert "production texts, not references" in Path("run/report.html").read_text()
    (result,) = [json.loads(Path("run/results.json").read_text())]
    d = {v["variant"]: v["d"] for v in result["variants"]}
    assert d["sentence_deletion.major"] == pytest.approx(8 * 0.2314, rel=1e-3)
    assert (d["sentence_repetition.major"], result["n"]) == (pytest.approx(0, abs=1e-6), 8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--model: is missing; name a judge, e.g. openai/NAME, python:FILE.py:OBJECT"),
        (["--model", "python:mine.py:judge"], "its scale is not known; set --scale, e.g. 0..1"),
        (["--model", "python:mine.py:judge", "--scale", "1"], "--scale 1: must have the form FIRST..LAST"),
        (["--model", "python:mine.py:judge", "--map", "x"], "--map 'x': must have the form PARAMETER=FIELD"),
        (
            ["--model", "python:mine.py:judge", "--scale", "0..1", "--map", "inputs=question"],
            "--map inputs=question: no example has that field; allowed: output, source",
        ),
        (["--model", "python:mine.py:judge", "--field", "output=a"], "--field output=a: no entry has it"),
        (["--model", "mock/ideal", "--threshold", "0.5"], "are for functions and scorers"),
    ],
)
def test_errors_are_one_line(dhp: Run, log: Path, arguments: list[str], message: str) -> None:
    done = dhp("benchmark", "--dataset", log, "--out", "run", *arguments)
    assert (done.code, message in done.err) == (2, True), done.err
    assert not Path("run").exists()


def test_verdicts_say_how_many_degraded_texts_still_pass(dhp: Run, log: Path) -> None:
    judge = ("--model", "python:mine.py:judge", "--scale", "0..1", "--threshold", "0.05")
    done = dhp("benchmark", "--dataset", log, "--out", "run", "--details", *judge)
    assert "score: 100% of the degraded texts still pass at 0.05, of the originals 100%" in done.out
    scores, verdicts = json.loads(Path("run/results.json").read_text())
    assert (scores["protocol"], verdicts["protocol"]) == ("none", "pass@0.05")


def test_doctor_shows_what_a_judge_is_given(dhp: Run, log: Path) -> None:
    done = dhp("doctor", "--judge", "python:mine.py:judge", "--map", "inputs=source")
    said = "function, metric 'score', synchronous, scale not known; inputs <- source, outputs <- output"
    assert said in done.out
    wrong = dhp("doctor", "--judge", "python:mine.py:juge")
    assert "no 'juge' in mine.py; did you mean 'judge'?" in wrong.out
    assert wrong.code == 1
