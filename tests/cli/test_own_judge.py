"""One's own data and prompt in one command, as a new user types it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from tests.llm.stub import stats, stub_server

from .conftest import Outcome, Run, write_tickets

TASK = """
task: tickets
instruction: Summarise the ticket.
source_label: Ticket
output_label: Summary
metrics:
  - name: usefulness
    scale: {min: 1, max: 10}
    definition: How useful the summary is to an agent.
    steps: [Read the ticket., Give a score from 1 to 10.]
    question: How useful is it?
    antonym: uselessness
"""
FIELDS = ("--field", "source=ticket", "--field", "output=summary")
OWN = ("--metric", "usefulness", "--scale", "1..10", "--prompt-file", "prompt.txt")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with stub_server("--say", "tests.cli.says:by_length") as url:
        yield url


@pytest.fixture(autouse=True)
def files(dhp: Run) -> None:
    write_tickets()
    Path("task.yaml").write_text(TASK)


def ask(dhp: Run, server: str, *more: str) -> Outcome:
    model = ("--model", "openai/NAME", "--base-url", server)
    data = ("--dataset", "tickets.csv", *FIELDS)
    return dhp("benchmark", *model, *data, "--samples", "1", "--out", "r", "--json", *more)


@pytest.mark.slow
def test_with_a_task_file_at_the_first_try(dhp: Run, server: str, tmp_path: Path) -> None:
    done = ask(dhp, server.removesuffix("/v1"), "--task", "task.yaml", "--prompt-file", "prompt.txt")
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert result["protocol"].startswith("prompt@")
    assert list(result["variants"][0]["metrics"]) == ["usefulness"]
    shown = json.loads((tmp_path / "r" / "prompts.json").read_text())[0]["prompt"]
    assert shown.startswith("Ticket (high): Printer X")
    assert "{" not in shown


@pytest.mark.slow
def test_without_a_task_file_and_with_a_name(dhp: Run, server: str, tmp_path: Path) -> None:
    done = ask(dhp, server, *OWN, "--name", "v2")
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert result["protocol"].startswith("v2@")
    assert result["scales"] == {"usefulness": [1, 10]}
    before = stats(server)["statuses"]
    again = ask(dhp, server, *OWN, "--name", "v2")
    assert json.loads(again.out)["variants"] == result["variants"], "the same command twice"
    assert stats(server)["statuses"] == before, "nothing is paid twice"


@pytest.mark.slow
def test_a_scale_on_which_lower_is_better_is_turned_round(dhp: Run, server: str, tmp_path: Path) -> None:
    up, down = (
        json.loads(ask(dhp, server, *OWN[:2], "--scale", ends, *OWN[4:], "--out", out).out)
        for ends, out in (("1..10", "up"), ("10..1", "down"))
    )
    frames = [pd.read_parquet(tmp_path / name / "ratings.parquet")["score"] for name in ("up", "down")]
    assert (frames[0] + frames[1] == 11).all()
    every = [v["metrics"]["usefulness"]["mean_drop"] for r in (up, down) for v in r["variants"]]
    drops = [drop for drop in every if drop is not None]  # short texts have no major damage of some kinds
    assert drops
    half = len(drops) // 2
    assert drops[:half] == pytest.approx([-d for d in drops[half:]])


@pytest.mark.slow
def test_labels_and_json(dhp: Run, tmp_path: Path) -> None:
    (tmp_path / "verdict.txt").write_text("Is this fine?\n{{summary}}\nSay PASS or FAIL.")
    (tmp_path / "both.txt").write_text('{ticket}\n{summary}\nAs JSON: {"tone": 1-5, "clarity": 1-5}')
    with stub_server("--say", "tests.cli.says:pass_or_fail") as url:
        verdicts = ask(dhp, url, "--metric", "fine", "--labels", "fail,pass", "--prompt-file", "verdict.txt")
    assert verdicts.code == 0, verdicts.err
    assert json.loads(verdicts.out)["scales"] == {"fine": [1, 2]}
    assert json.loads(verdicts.out)["rules"]["label"] > 0
    with stub_server("--say", "tests.cli.says:as_json") as url:
        metrics = ("--metric", "tone", "--metric", "clarity", "--scale", "1..5")
        several = ask(dhp, url, *metrics, "--answer", "json", "--prompt-file", "both.txt", "--out", "several")
        asked = stats(url)["statuses"]["200"]
    assert several.code == 0, several.err
    result = json.loads(several.out)
    texts = result["ratings"]["asked"] / 2
    assert result["ratings"]["scored"] == 2 * texts
    assert texts / 2 < asked <= texts, "one call for both metrics, and none for the same text twice"
    assert list(result["variants"][0]["metrics"]) == ["tone", "clarity"]


def test_a_faulty_prompt_is_told_before_texts_are_made(
    dhp: Run, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("texts were made")

    monkeypatch.setattr("dhp.perturb.apply.RulesApplied.texts", never)
    Path("none.txt").write_text("Rate it.")
    done = ask(dhp, server, *OWN[:4], "--prompt-file", "none.txt")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "none.txt: " in done.err


@pytest.mark.slow
def test_other_judges_take_the_metric_too(dhp: Run) -> None:
    done = dhp("benchmark", "--model", "mock/ideal", "--dataset", "tickets.csv", *FIELDS, *OWN[:4], "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["scales"] == {"usefulness": [1, 10]}


@pytest.mark.slow
def test_a_model_that_thinks_gets_the_room_that_it_needs(dhp: Run, tmp_path: Path) -> None:
    note = "answers were cut at 512 tokens before any rating: all are asked with --answer-tokens 4000"
    with stub_server("--say", "tests.cli.says:thinking") as url:
        done = ask(dhp, url, *OWN)
        first = stats(url)["statuses"]["200"]
        again = ask(dhp, url, *OWN)
        assert stats(url)["statuses"]["200"] == first, "the same command pays nothing"
        asked = ask(dhp, url, *OWN, "--answer-tokens", "4000", "--out", "given")
        assert stats(url)["statuses"]["200"] == first, "every answer was asked for with 4000 tokens"
        cut = ask(dhp, url, *OWN, "--answer-tokens", "256", "--out", "cut")
    assert done.code == 0, done.err
    assert done.err.count(note) == again.err.count(note) == 1
    results = [json.loads(each.out) for each in (done, again, asked)]
    assert len({r["protocol"] for r in results}) == 1, "the signature has the room that was used"
    assert results[0]["variants"] == results[1]["variants"] == results[2]["variants"]
    assert results[0]["usage"] == results[1]["usage"], "what was looked at first is counted once"
    frame = pd.read_parquet(tmp_path / "r" / "ratings.parquet")
    assert set(frame["status"]) == {"scored"}
    assert (cut.code, note in cut.err) == (3, False), "what was asked for is kept"
    assert "cut at 256 tokens" in cut.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("says", "remedy"),
    [("too_long", "7 and 8 lie outside 1-5: --scale 1..10"), ("rambling", '"Rating: N"')],
)
def test_what_cannot_be_read_is_not_paid_for(dhp: Run, says: str, remedy: str) -> None:
    low = (*OWN[:2], "--scale", "1..5", *OWN[4:], "--concurrency", "1")
    with stub_server("--say", f"tests.cli.says:{says}") as url:
        done = ask(dhp, url, *low)
        paid = stats(url)["statuses"]["200"]
        assert (done.code, done.out) == (3, "")
        assert remedy in done.err
        assert paid <= 2 * 52, "each is asked for once more"
        going = ask(dhp, url, *low, "--keep-going")
        assert going.code == 3, "more than half of the ratings have no score"
        assert stats(url)["statuses"]["200"] > paid
    assert "100.0%" in going.out
