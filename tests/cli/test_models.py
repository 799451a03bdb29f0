"""Language models from the command line: one line for what cannot be done, and what a run says of itself."""

import json
import re
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

from tests.llm.stub import stats, stub_server
from tests.server import Answer, Call, Scripted, refusal, reply, scripted_server

from .conftest import Run, results_in

SMALL = ("--dataset", "mini/answer_equivalence", "--n", "3", "--out", "run")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with stub_server() as address:
        yield address


UNFINISHED = {"manifest.json", "examples.jsonl", "perturbed.jsonl"}
"""The files of a run that was stopped before an example was rated with all its copies."""


def benchmark(url: str, *more: str) -> tuple[str, ...]:
    return ("benchmark", "--model", "openai/stub", "--base-url", url, *SMALL, *more)


def test_a_refused_key_is_shown_nowhere(dhp: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123456789")
    with stub_server("--mode", "wrong-key") as url:
        done = dhp(*benchmark(url))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "OPENAI_API_KEY (HTTP 401)" in done.err
    written = "".join(p.read_text() for p in Path("run").glob("*"))
    assert "secret" not in done.err + done.out + written


def test_prompts_that_are_all_too_long_end_the_run(dhp: Run) -> None:
    with stub_server("--mode", "context-too-long") as url:
        done = dhp(*benchmark(url))
    *progress, error = done.err.strip().splitlines()
    assert done.code == 2
    assert error.startswith("dhp: openai/stub: ")
    assert not any(line.startswith("dhp:") for line in progress)


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        ("tool-call", r"40 unparsed; one of them is \"\(a tool call.*the model calls tools"),
        ("content-filter", r"40 refused; .*the model refuses"),
    ],
)
def test_answers_without_a_text_stop_a_run_as_unread_ones_do(mode: str, why: str, dhp: Run) -> None:
    with stub_server("--mode", mode) as url:
        done = dhp(*benchmark(url), "--concurrency", "4", "--samples", "3")
        assert stats(url)["calls"] <= 40 + 3 * 12
    assert done.code == 3
    assert re.search(rf"none of the first 40 answers can be read: {why}", done.err), done.err


def refusing(share: int) -> Iterator[Scripted]:
    """A server that cannot process so many in ten prompts, whatever they are about."""

    def says(call: Call) -> Answer:
        number = zlib.crc32(call.raw)
        return refusal(422, f"no way, request {number}") if number % 10 < share else reply("4")

    with scripted_server(says) as server:
        yield server


@pytest.mark.slow
@pytest.mark.parametrize(("share", "code"), [(0, 0), (3, 0), (7, 3)])
def test_a_run_says_why_many_ratings_have_no_score_and_does_not_succeed_without_most(
    share: int, code: int, dhp: Run
) -> None:
    with contextmanager(refusing)(share) as server:
        done = dhp(*benchmark(f"{server.url}/v1"), "--samples", "1")
    line = r"openai/stub.*: \d+ of \d+ ratings have no score: \d+ failed: HTTP 422: no way, request \d+"
    assert done.code == code, done.err
    assert bool(re.search(line, done.out if code == 0 else done.err)) == (share > 0), done.out + done.err
    assert results_in("run")["ratings"]["failed"] > 0 or share == 0


@pytest.mark.parametrize(("share", "code"), [(0, 0), (3, 0), (7, 3)])
def test_judge_says_so_too(share: int, code: int, dhp: Run, tmp_path: Path) -> None:
    table = tmp_path / "texts.csv"
    table.write_text("source,output\n" + "".join(f"source {i},text {i}\n" for i in range(20)))
    with contextmanager(refusing)(share) as server:
        done = dhp(
            *("judge", str(table), "--model", "openai/stub", "--base-url", f"{server.url}/v1"),
            *("--out", "ratings.csv", "--samples", "1", "--metric", "fluency"),
        )
    assert done.code == code, done.err
    said = done.out if code == 0 else done.err
    assert bool(re.search(r"\d+ failed: HTTP 422: no way", said)) == (share > 0)
    assert (pd.read_csv("ratings.csv")["status"] == "scored").sum() > 0


@pytest.mark.slow
@pytest.mark.parametrize("stops", [False, True])
def test_another_model_is_in_the_manifest_and_may_stop_the_run(stops: bool, dhp: Run) -> None:
    def says(call: Call) -> Answer:
        return reply("4", model="stub-2" if len(server.calls) > 20 else "stub-1")

    with scripted_server(says) as server:
        more = ["--same-model"] if stops else []
        done = dhp(*benchmark(f"{server.url}/v1", "--samples", "1", "--concurrency", "1", *more))
    assert done.code == (3 if stops else 0)
    assert "openai/stub: another model answers: 'stub-2', at first 'stub-1'" in done.err
    counted = json.loads(Path("run/manifest.json").read_text())["answered_by"]["openai/stub"]
    assert counted["stub-1"] > 10
    assert (counted["stub-2"] == 1) == stops


def test_comparisons_that_cannot_be_read_stop_a_run_as_answers_do(dhp: Run) -> None:
    """The originals have their score without an answer, so they do not count as read."""
    with stub_server("--answer", "explain") as url:
        done = dhp(
            *("benchmark", "--model", "openai/stub", "--base-url", url, "--dataset", "mini/story_cloze"),
            *("--protocol", "choose", "--out", "run"),
        )
    assert done.code == 3, done.err


def test_missing_probabilities_are_met_only_where_allowed(dhp: Run) -> None:
    with stub_server("--no-logprobs") as url:
        done = dhp(*benchmark(url, "--protocol", "g-eval-prob"))
        assert done.code == 2
        assert "--extraction parse" in done.err
        allowed = ("--protocol", "g-eval-prob", "--extraction", "prob-or-parse", "--out", "other")
        assert dhp(*benchmark(url, *allowed)).code == 0
    assert set(pd.read_parquet("other/ratings.parquet")["rule"]) == {"parse:bare"}


def test_a_dry_run_asks_nothing_and_foretells_what_a_run_takes(
    dhp: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    prices = ("--price-in", "1", "--price-out", "2")
    with stub_server() as url:
        foretold = dhp(*benchmark(url, "--dry-run", *prices))
        assert foretold.code == 0
        assert stats(url)["calls"] == 0
        assert not Path("run").exists()
        assert dhp(*benchmark(url)).code == 0
        calls = stats(url)["calls"]
        assert "; 165 need no call" in dhp(*benchmark(url, "--dry-run")).out
    cells = next(line.split() for line in foretold.out.splitlines() if line.startswith("in one call"))
    assert int(cells[3]) == calls == 33
    said = "% of the ratings are of controls (harmless edits); --no-controls leaves them out"
    assert f"\n9{said}\n" in foretold.out, "one of eleven texts of each example"
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    without = dhp("benchmark", "--model", "openai/gpt-4o-mini", *SMALL, "--dry-run")
    assert without.code == 0, "a dry run needs no key"
    assert "no language model is asked" in dhp("benchmark", "--model", "mock/ideal", *SMALL, "--dry-run").out


def test_a_limit_ends_with_three_and_the_same_command_goes_on(dhp: Run) -> None:
    with stub_server() as url:
        done = dhp(*benchmark(url, "--max-calls", "5"))
        assert done.code == 3
        assert done.err.splitlines()[-1] == "dhp: stopped at --max-calls 5; repeat the command to resume"
        assert {p.name for p in Path("run").iterdir()} == UNFINISHED
        assert dhp(*benchmark(url)).code == 0
        assert stats(url)["calls"] == 33
        assert json.loads(Path("run/results.json").read_text())["usage"]["calls"] == 33


@pytest.mark.slow
def test_control_c_stops_at_once_and_the_same_command_goes_on(tmp_path: Path) -> None:
    with stub_server("--latency", "0.5") as url:
        command = [sys.executable, "-m", "dhp.benchmark", *benchmark(url, "--concurrency", "4")[1:]]
        process = subprocess.Popen(
            command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        end = time.monotonic() + 60
        while stats(url)["calls"] < 6 and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        assert process.returncode == 3
        assert said.splitlines()[-1].startswith("dhp: stopped")
        assert "Traceback" not in said
        assert {path.name for path in (tmp_path / "run").glob("[!.]*")} - {"report.html"} == UNFINISHED
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0
        assert stats(url)["calls"] <= 33 + 4


def test_the_manifest_says_how_the_model_was_asked(dhp: Run, url: str) -> None:
    assert dhp(*benchmark(url, "--persona", "annotator", "--language", "zh")).code == 0
    (model,) = json.loads(Path("run/manifest.json").read_text())["identity"]["models"]
    assert model["model"] == "openai/stub"
    assert model["endpoint"] == url
    assert model["settings"]["language"] == "zh"
    assert model["persona"]
    other = dhp(*benchmark(url, "--persona", "hhh"))
    assert other.code == 2
    assert "run: --language of 'dhp'" in other.err


def test_several_protocols_stand_side_by_side(dhp: Run, url: str) -> None:
    done = dhp(*benchmark(url, "--protocol", "dhp", "--protocol", "stars"))
    assert done.code == 0
    results = results_in("run")
    assert [r["protocol"].split("@")[0] for r in results] == ["dhp", "stars"]
    assert len({r["signature"] for r in results}) == 2


def test_protocols_are_listed_and_shown_with_their_exact_prompts(dhp: Run) -> None:
    listed = dhp("list", "protocols")
    assert listed.code == 0
    names = [line.split()[0] for line in listed.out.splitlines()]
    wanted = "dhp g-eval-prob g-eval-sample rate-explain analyze-rate free-text da stars letters mix"
    assert set(wanted.split()) <= set(names)
    shown = dhp("show", "dhp", "--metric", "fluency", "--variant", "random_typos.minor")
    assert shown.code == 0
    assert shown.out.count("# ----") == 1
    assert "variant 'random_typos.minor', metric 'fluency'" in shown.out
    assert "</summary>" in shown.out


def test_a_fault_of_ours_is_one_line_unless_debugged(dhp: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dhp.perturb.builder.build_texts", lambda *a, **k: 1 / 0)
    done = dhp("perturb", "--show", "1")
    assert done.code == 70
    said = "internal error, ZeroDivisionError: division by zero"
    assert done.err == f"dhp: {said}; run it again with --debug to see where\n"
    assert "Traceback" in dhp("perturb", "--show", "1", "--debug").err
