"""Batch files from the command line: texts of a perturb model, their ratings, and wrong input."""

import json
import re
from pathlib import Path

import click
import pytest

from dhp.cli.options import settings
from dhp.core import plugins
from dhp.llm.settings import ModelSettings
from dhp.plugins.batch.jobs import Job
from tests.cli.conftest import Run
from tests.perturb.follows import follow
from tests.plugins.batch.answers import expired, read, score, write, write_answers

WAY = ("benchmark", "--dataset", "mini/summeval", "--n", "2", "--cache", "cache", "--out", "out")
WRITER = ("--perturb-model", "openai/writer")
JUDGE = ("--model", "openai/judge", "--samples", "1")


@pytest.mark.slow
def test_texts_first_then_ratings(dhp: Run, tmp_path: Path) -> None:
    """Every variant's first requests are in one file; answers that fail the check are asked again."""
    way = (*WAY, *WRITER, *JUDGE)
    done = dhp(*way, "--batch-write", "1.jsonl")
    assert done.code == 3
    assert "to openai/writer): have them answered, then repeat the command with --batch-read" in done.err
    assert "openai/judge" not in done.err, "texts that are not made yet cannot be judged"
    files: list[str] = []
    for number in range(1, 6):
        says_what = follow if read(tmp_path / f"{number}.jsonl")[0]["body"]["model"] == "writer" else score
        write_answers(tmp_path / f"{number}.jsonl", tmp_path / f"{number}.results.jsonl", says_what)
        files += ["--batch-read", f"{number}.results.jsonl"]
        done = dhp(*way, *files, "--batch-write", f"{number + 1}.jsonl")
        if done.code == 0:
            break
        assert done.code == 3, done.err
    assert done.code == 0
    assert "needs 5 examples" in done.out
    counts = json.loads((tmp_path / "out" / "results.json").read_text())["ratings"]
    assert counts["asked"] == counts["scored"] > 0
    assert not (tmp_path / f"{number + 1}.jsonl").exists(), "nothing lacked"


def test_perturb_and_judge_write_batches_too(dhp: Run, tmp_path: Path) -> None:
    written = dhp("perturb", *WAY[1:-2], *WRITER, "--show", "1", "--batch-write", "p.jsonl")
    assert written.code == 3
    assert len(read(tmp_path / "p.jsonl")) == 2 * 6
    (tmp_path / "t.jsonl").write_text('{"source": "Ann has a cat.", "output": "She has a cat."}\n')
    way = ("judge", "t.jsonl", *JUDGE, "--cache", "cache", "--out", "t.csv")
    assert dhp(*way, "--batch-write", "j.jsonl").code == 3
    assert not (tmp_path / "t.csv").exists()
    write_answers(tmp_path / "j.jsonl", tmp_path / "j.results.jsonl")
    assert dhp(*way, "--batch-read", "j.results.jsonl").code == 0
    assert (tmp_path / "t.csv").exists()


@pytest.mark.slow
def test_wrong_use_is_one_line(dhp: Run, tmp_path: Path) -> None:
    way = ("benchmark", "--dataset", "mini/answer_equivalence", "--n", "2", "--cache", "cache", *JUDGE)
    assert dhp(*way, "--out", "out", "--batch-write", "r.jsonl").code == 3
    write(tmp_path / "e.jsonl", [expired(line) for line in read(tmp_path / "r.jsonl")])
    for more, fault in (
        ("--n 1 --batch-write r.jsonl", "--batch-write r.jsonl: holds other requests"),
        ("--batch-read none.jsonl", "none.jsonl: cannot be read"),
        ("--batch-write s.jsonl --refresh", "--refresh: would ask again"),
        ("--batch-write s.jsonl --dry-run", "--dry-run: counts what is not stored"),
        ("--batch-write out", "out: is a folder"),
        ("--batch-read q*.jsonl", "--batch-read 'q*.jsonl': no file fits"),
        ("--batch-read e.jsonl r.jsonl", "--batch-read is repeated for each value"),
        ("--batch-read out", "out: is a folder"),
        ("--model hf/none/x --batch-write s.jsonl", "hf/none/x: takes no batch files"),
    ):
        done = dhp(*way, "--out", "out2", *more.split())
        assert (done.code, len(done.err.splitlines())) == (2, 1), done.err
        assert fault in done.err


def test_the_dry_run_counts_a_request_a_sample_where_there_is_no_n(
    dhp: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dhp.plugins.batch.providers.check_provider", lambda name: None)
    way = "benchmark --dataset mini/answer_equivalence --n 2 --model openai/m --dry-run".split()
    assert "in one call" in dhp(*way, "--batch", "openai").out
    shown = dhp(*way, "--batch", "anthropic").out
    assert "in one call" not in shown
    assert "one call each" in shown


def test_at_anthropic_each_sample_is_counted_as_a_call(dhp: Run, tmp_path: Path) -> None:
    for name in ("old", "new"):
        rows = [{"id": str(i), "question": f"Why {i}?", "output": f"{name} says {i}."} for i in range(3)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    row = {"category": "chat", "instruction": "Why?", "input": "", "output": "Because.", "target": ""}
    (tmp_path / "answers.json").write_text(json.dumps([{**row, "id": i, "output": str(i)} for i in range(3)]))
    sampled = ("--samples", "5", "--temperature", "1", "--dry-run")
    claude = ("--base-url", "https://api.anthropic.com/v1", "--model", "openai/claude-haiku-4-5")
    for way, calls in (
        (("battle", "old.jsonl", "new.jsonl"), 3 * 2),
        (("evaluate", "--answers", "m=answers.json"), 3 * 4),
    ):
        there = dhp(*way, *sampled, *claude).out
        assert re.search(rf"^one call each +{5 * calls} ", there, re.M)
        assert "in one call" not in there
        assert re.search(rf"^in one call +{calls} ", dhp(*way, *sampled, "--model", "openai/m").out, re.M)


def test_discernment_of_an_evaluation_takes_no_batches(dhp: Run) -> None:
    way = ("evaluate", "--answers", "m=answers.json", "--model", "openai/m", "--discernment")
    done = dhp(*way, "--batch-write", "r.jsonl")
    assert (done.code, done.out) == (2, "")
    assert done.err == "dhp: --batch-write: cannot be used with --discernment; dhp benchmark takes it\n"


def test_without_the_plugin_there_are_no_options_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def options() -> set[str]:
        command = click.command("ask")(settings("settings", ModelSettings)(lambda settings: None))
        return {name for option in command.params for name in option.opts if "batch" in name}

    assert options() == {"--batch", "--batch-read", "--batch-write", "--batch-size"}
    own = [plugin for plugin in plugins.plugins() if plugin.name != "batch"]
    monkeypatch.setattr(plugins, "plugins", lambda: own)
    assert options() == {"--batch-size"}


def test_batches_are_listed_and_an_unknown_one_is_named(dhp: Run) -> None:
    assert dhp("batch", "list", "--cache", "cache").out == "there are no batches\n"
    done = dhp("batch", "cancel", "x", "--cache", "cache")
    assert done.code == 2
    assert "dhp: batch 'x': is not in cache/batches; dhp batch list shows all batches" in done.err


@pytest.mark.parametrize(
    ("state", "batch", "said"),
    [
        ("sent", "batch_1", "is being cancelled by openai; repeat this command later"),
        ("ended", "batch_1", "has ended; its answers are stored"),
        ("cancelled", "batch_1", "openai does not know it; removed"),
        ("cancelled", "", "was not sent; removed"),
    ],
)
def test_what_a_cancelled_batch_is_is_said(
    dhp: Run, monkeypatch: pytest.MonkeyPatch, state: str, batch: str, said: str
) -> None:
    job = Job("dhp-1", "openai", "openai/m", "https://api.openai.com/v1", 2, 0.0, state, batch)
    monkeypatch.setattr("dhp.plugins.batch.jobs.RemoteBatches.cancel", lambda self, name: job)
    assert dhp("batch", "cancel", "dhp-1", "--cache", "c").out.startswith(f"dhp-1: {said}")


def test_verdicts_that_wait_are_not_counted_as_done(dhp: Run) -> None:
    way = ("benchmark", "--dataset", "mini/answer_equivalence", "--n", "2", "--protocol", "choose")
    done = dhp(*way, "--model", "openai/m", "--cache", "c", "--out", "o", "--batch-write", "r.jsonl")
    assert done.code == 3
    assert "done" not in done.err


def test_a_battle_comes_by_batches(dhp: Run, tmp_path: Path) -> None:
    for name in ("old", "new"):
        rows = [{"id": i, "question": f"What is {i}?", "output": f"{name} answer {i}"} for i in range(3)]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    way = ("battle", "old.jsonl", "new.jsonl", "--model", "openai/m", "--protocol", "choose", "--cache", "c")
    done = dhp(*way, "--batch-write", "1.jsonl")
    assert (done.code, done.out) == (3, "")
    assert len(read(tmp_path / "1.jsonl")) == 3 * 2
    write_answers(tmp_path / "1.jsonl", tmp_path / "1.results.jsonl", lambda prompt: "[[A]]")
    assert dhp(*way, "--batch-read", "1.results.jsonl").code == 0
    assert dhp(*way, "--json", "--max-calls", "0").code == 0, "all is stored"


@pytest.mark.parametrize(
    ("way", "option", "asks_none"),
    [
        ("benchmark --dataset mini --model baseline/surface", "--batch-write r.jsonl", "baseline/surface"),
        ("benchmark --dataset mini --model python:f.py:judge", "--batch-read a.jsonl", "python:f.py:judge"),
        ("judge t.jsonl --out t.csv --model mock/ideal", "--batch openai", "mock/ideal"),
        ("perturb --dataset mini --show 1", "--batch-write r.jsonl", "none is given"),
    ],
)
def test_batches_are_for_language_models(dhp: Run, way: str, option: str, asks_none: str) -> None:
    done = dhp(f"{way} {option}")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"dhp: {option.split()[0]}: ")
    assert asks_none in done.err


@pytest.mark.slow
def test_an_evaluation_comes_by_batches(dhp: Run, tmp_path: Path) -> None:
    """Scores of all categories and the battle are in one file; second turns in the next."""
    for name in ("one", "two"):
        rows = [
            {
                "category": c,
                "instruction": f"Do {i}.",
                "output": f"{name} {i}.",
                "target": "T",
                "id": i,
                "input": "",
            }
            for i, c in enumerate(("brainstorming", "chat"))
        ]
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    way = "evaluate --answers one.json --answers two.json --model openai/m --cache c --samples 1".split()
    way += "--with-reference second-turn --targets one.json --out out".split()
    files: list[str] = []
    written = []
    for number in range(1, 5):
        done = dhp(*way, *files, "--batch-write", f"{number}.jsonl")
        if done.code == 0:
            break
        assert done.code == 3, done.err
        lines = read(tmp_path / f"{number}.jsonl")
        written.append({len(line["body"]["messages"]) for line in lines})
        write_answers(tmp_path / f"{number}.jsonl", tmp_path / f"{number}.results.jsonl")
        files += ["--batch-read", f"{number}.results.jsonl"]
    assert done.code == 0
    assert len(written) == 2
    assert 3 in written[1], "second turns follow the first answers"
    assert (tmp_path / "out" / "evaluation.json").exists()
