"""What can be checked before texts are degraded is checked first: server, key and folder of a run."""

import errno
import json
import os
from pathlib import Path

import pytest

from tests.llm.stub import stats, stub_server

from .conftest import Outcome, Run, write_tickets

DEAD = "http://127.0.0.1:9/v1"
REFUSED = f"[Errno {errno.ECONNREFUSED}] {os.strerror(errno.ECONNREFUSED)}"
KEY = "sk-right-key-0123456789"
OWN = ("--metric", "usefulness", "--scale", "1..10", "--prompt-file", "prompt.txt")
FIELDS = ("--field", "source=ticket", "--field", "output=summary")


@pytest.fixture(autouse=True)
def files(dhp: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    write_tickets(count=4)


@pytest.fixture
def no_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("texts were made")

    monkeypatch.setattr("dhp.perturb.apply.RulesApplied.texts", never)


def ask(dhp: Run, url: str | None, *more: str) -> Outcome:
    server = () if url is None else ("--base-url", url)
    given = ("--model", "openai/x", *server, "--dataset", "tickets.csv", *FIELDS, *OWN, "--json", *more)
    return dhp("benchmark", *given)


@pytest.mark.usefixtures("no_texts")
def test_no_server_no_key_and_no_folder(dhp: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for url, more, message in (
        (DEAD, (), DEAD),
        ("http://nosuch.invalid/v1", (), "http://nosuch.invalid/v1"),
        (None, (), "openai/x: OPENAI_API_KEY is not set"),
        (DEAD, ("--out", "file/x"), "--out file/x: cannot be written"),
    ):
        done = ask(dhp, url, *more)
        assert (done.code, done.err.count("\n")) == (2, 1), done.err
        assert message in done.err
    pairwise = ("--dataset", "mini/summeval", "--protocol", "battle", "--base-url", DEAD)
    done = dhp("benchmark", "--model", "openai/x", *pairwise)
    assert (done.code, done.err) == (2, f"dhp: openai/x: no server answers at {DEAD} ({REFUSED})\n")
    assert not (tmp_path / "runs").exists()


@pytest.mark.usefixtures("no_texts")
def test_a_refused_key(dhp: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with stub_server("--api-key", KEY) as url:
        without = ask(dhp, url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-key-0123456789")
        wrong = ask(dhp, url)
        assert stats(url)["calls"] == 0, "looking costs no call"
    for done in (without, wrong):
        assert (done.code, done.err.count("\n"), "OPENAI_API_KEY" in done.err) == (2, 1, True), done.err


@pytest.mark.usefixtures("no_texts")
def test_a_perturb_model_that_is_not_there(dhp: Run) -> None:
    task = ("--task", "summarization", "--perturb-model", "openai/y", "--base-url", DEAD)
    done = dhp("perturb", "--dataset", "tickets.csv", *FIELDS, *task, "--out", "texts.jsonl")
    assert (done.code, done.err.count("\n"), DEAD in done.err) == (2, 1, True), done.err


@pytest.mark.slow
def test_what_is_stored_needs_no_server_and_a_server_no_list_of_models(dhp: Run) -> None:
    with stub_server("--no-models") as url:
        first = ask(dhp, f"{url}/chat/completions", "--out", "r")
    again = ask(dhp, url, "--out", "r")
    other = ask(dhp, url, "--out", "r", "--samples", "2")
    assert (first.code, again.code) == (0, 0), first.err + again.err
    assert json.loads(first.out)["variants"] == json.loads(again.out)["variants"]
    assert "r: --samples of 'prompt'" in other.err
