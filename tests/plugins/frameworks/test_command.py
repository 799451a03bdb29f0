"""`dhp benchmark --dataset LOG`: a judge on the texts of a log."""

from pathlib import Path

import pytest

from tests.cli.conftest import Run, results_in, write_rows

WORDS = "The river rose again. Nobody saw the bridge fall in {}. Later the town paid for it."

JUDGE = """
def judge(*, inputs, outputs):
    assert inputs.startswith("What")
    return len(outputs) / 400
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(JUDGE)
    rows = [{"input": f"What happened in {i}?", "output": WORDS.format(1900 + i)} for i in range(8)]
    write_rows(str(tmp_path / "log.jsonl"), rows)
    return tmp_path / "log.jsonl"


def test_the_report_says_what_the_originals_are(dhp: Run, log: Path) -> None:
    judge = ("--model", "python:mine.py:judge", "--scale", "0..1", "--out", "run")
    done = dhp("benchmark", "--dataset", log, *judge)
    assert done.code == 0, done.err
    assert "production texts, not references" in done.out
    assert "production texts, not references" in Path("run/report.html").read_text()
    result = results_in("run")
    d = {v["variant"]: v["d"] for v in result["variants"]}
    assert d["sentence_deletion.major"] == pytest.approx(8 * 0.2314, rel=1e-3)
    assert (d["sentence_repetition.major"], result["n"]) == (pytest.approx(0, abs=1e-6), 8)


def test_verdicts_say_how_many_degraded_texts_still_pass(dhp: Run, log: Path) -> None:
    judge = ("--model", "python:mine.py:judge", "--scale", "0..1", "--threshold", "0.05")
    done = dhp("benchmark", "--dataset", log, "--out", "run", "--details", *judge)
    assert "score: 100% of the degraded texts still pass at 0.05, of the originals 100%" in done.out
    scores, verdicts = results_in("run")
    assert (scores["protocol"], verdicts["protocol"]) == ("none", "pass@0.05")


def test_doctor_shows_what_a_judge_is_given(dhp: Run, log: Path) -> None:
    done = dhp("doctor", "--judge", "python:mine.py:judge", "--map", "inputs=source")
    said = "function, metric 'score', synchronous, scale not known; inputs <- source, outputs <- output"
    assert said in done.out
    wrong = dhp("doctor", "--judge", "python:mine.py:juge")
    assert "no 'juge' in mine.py; did you mean 'judge'?" in wrong.out
    assert wrong.code == 1
