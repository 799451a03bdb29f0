"""A task that nobody heard of, without a source: degraded, judged, weighed, reported."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.llm.stub import stub_server

from .conftest import Run

TASK = """
task: memo
instruction: Write a memo to the team about the decision.
output_label: Memo
output_language: en
shown_fields: {audience: Audience}
metrics:
  - {name: clarity, scale: {min: 1, max: 7}, definition: Whether the decision is clear.,
     steps: [Read the memo., Give a score from 1 to 7.], question: How clear is it?, antonym: obscurity}
  - {name: tone, scale: {min: 0, max: 9}, definition: Whether the tone suits the audience.,
     steps: [Read the memo., Give a score from 0 to 9.], question: How fitting is the tone?, antonym: x}
"""
TEXTS = (
    "The team moves to the second floor on 3 May. Desks were assigned by Ann Ortiz. They have 2 boxes each.",
    "We chose the blue design for the shop. It is 400 euros cheaper. Work starts on Monday with Leo Berg.",
    "The meeting in June is cancelled. Nobody from sales has time. It was planned by Tom Reed in March.",
)
NAMES = ("Maria", "Igor", "Wanda", "Pavel")


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    (tmp_path / "memo.yaml").write_text(TASK)
    rows = [
        {"id": f"{i}", "output": f"{text} Ask {NAMES[i % 4]} Weiss about it.", "audience": "staff"}
        for i, text in enumerate(TEXTS * 2)
    ]
    (tmp_path / "memos.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(scope="module")
def follower() -> Iterator[str]:
    with stub_server("--say", "tests.perturb.follows:follow") as address:
        yield address


WRITER = ("--perturb-model", "openai/writer", "--show", "1")
OWN = ("--dataset", "memos.jsonl", "--task", "memo.yaml")


@pytest.mark.slow
def test_an_unknown_task_from_texts_to_leaderboard(dhp: Run, follower: str, tmp_path: Path) -> None:
    server = ("--base-url", follower)
    model = ("--model", "openai/judge", "--perturb-model", "openai/writer", *server)
    dry = dhp("benchmark", *OWN, *model, "--dry-run")
    assert (dry.code, "perturbations" in dry.out) == (0, True), dry.err
    done = dhp("benchmark", *OWN, *model, "--attacks", "--controls", "--out", "one")
    assert done.code == 0, done.err
    found = json.loads((tmp_path / "one" / "results.json").read_text())
    assert set(found["variants"][0]["metrics"]) == {"clarity", "tone"}
    assert {"grammatical_errors.minor", "rewriting_insertion.major", "word_swaps.minor"} <= {
        v["variant"] for v in found["variants"]
    }
    assert "weights:uniform" in found["signature"]
    assert "Memo" in (tmp_path / "one" / "prompts.json").read_text()
    report = (tmp_path / "one" / "report.html").read_text()
    assert all(name in report for name in ("clarity", "tone", "memos.jsonl"))
    second = dhp("benchmark", *OWN, "--model", "mock/noisy", "--protocol", "none", "--out", "two")
    assert second.code == 2, "mock judges are asked no protocol"
    second = dhp("benchmark", *OWN, "--model", "mock/noisy", "--out", "two")
    assert second.code == 0, second.err
    site = dhp("leaderboard", "site", "one/results.json", "two/results.json", "--out", "site")
    assert site.code == 0, site.err
    assert "memos.jsonl" in (tmp_path / "site" / "index.html").read_text()


@pytest.mark.parametrize(
    "protocol", ["dhp", "g-eval-prob", "analyze-rate", "free-text", "da", "stars", "letters"]
)
def test_every_protocol_asks_about_it(dhp: Run, protocol: str) -> None:
    shown = dhp("show", protocol, *OWN[:4], "--metric", "tone")
    assert shown.code == 0, shown.err
    assert "<memo>" in shown.out
    assert "staff" in shown.out
    assert "Article" not in shown.out


@pytest.mark.slow
def test_its_weights_and_survey(dhp: Run, tmp_path: Path) -> None:
    survey = dhp(
        "weights", "survey", "--task", "memo.yaml", "--dataset", "memos.jsonl", "--out", "survey.html"
    )
    assert survey.code == 0, survey.err
    assert "11 questions on clarity, tone" in survey.out
    number = survey.out.split("survey ")[1][:12]
    perturbers = ["random_typos", "wrong_numbers"]
    for i, metric in enumerate(("clarity", "tone")):
        sheet = {
            "schema": "dhp.votes/1",
            "id": f"{i:016x}",
            "survey": number,
            "task": "memo",
            "metrics": ["clarity", "tone"],
            "date": "2026-05-01",
            "answers": {perturbers[0]: "tone", perturbers[1]: metric},
        }
        (tmp_path / f"{i}.json").write_text(json.dumps(sheet))
    counted = dhp("weights", "aggregate", "0.json", "1.json", "--out", "own.yaml")
    assert counted.code == 0, counted.err
    assert yaml.safe_load((tmp_path / "own.yaml").read_text())["votes"]["memo"]["random_typos"]["tone"] == 2
    suite = "suite: two\ntask: memo\nsource: own choice\nperturbers:\n"
    suite += "".join(
        f"  {name}: {{level: {level}, method: rule, params: {{k: 1}}}}\n"
        for name, level in zip(perturbers, ("character", "word"), strict=True)
    )
    (tmp_path / "two.yaml").write_text(suite)
    run = dhp(
        "benchmark", *OWN, "--model", "mock/noisy", "--suite", "two.yaml", "--weights", "own.yaml", "--json"
    )
    assert run.code == 0, run.err
    assert "weights:own" in json.loads(run.out)["signature"]


@pytest.mark.slow
def test_the_suite_that_the_task_names(dhp: Run, tmp_path: Path) -> None:
    (tmp_path / "memo.yaml").write_text(TASK + "default_suite: mine.yaml\n")
    suite = "suite: mine\ntask: memo\nsource: own choice\nperturbers:\n"
    (tmp_path / "mine.yaml").write_text(
        suite + "  reordering: {level: sentence, method: rule, params: {count: all}}\n"
    )
    done = dhp("benchmark", *OWN, "--model", "mock/noisy", "--json")
    assert done.code == 0, done.err
    assert [v["variant"] for v in json.loads(done.out)["variants"]] == ["reordering"]
    (tmp_path / "mine.yaml").write_text(
        suite + "  reordring: {level: sentence, method: rule, params: {count: all}}\n"
    )
    done = dhp("benchmark", *OWN, "--model", "mock/noisy")
    assert done.code == 2
    assert "mine.yaml: perturbers.reordring: " in done.err


def test_a_perturber_by_language_model_is_a_prompt_and_a_line(
    dhp: Run, follower: str, tmp_path: Path
) -> None:
    folder = tmp_path / "prompts" / "memo"
    folder.mkdir(parents=True)
    prompt = "Adjustment: a few errors of grammar. Hedge.\n{{steps}}\n{{text}}\nbetween the tags <{{tag}}>"
    (folder / "hedging.yaml").write_text(yaml.safe_dump({"prompt": prompt, "steps": ["Read.", "Hedge."]}))
    (tmp_path / "s.yaml").write_text(
        "suite: s\ntask: memo\nsource: own choice\nperturbers:\n"
        "  hedging: {level: sentence, method: llm, params: {count: 1}}\n"
        "  reordering: {level: sentence, method: rule, params: {count: all}}\n"
    )
    own = ("--suite", "s.yaml", "--base-url", follower)
    made = dhp("perturb", *OWN[:4], *own, *WRITER, "--perturb-prompts", "prompts")
    assert made.code == 0, made.err
    assert "hedging" in made.out
    without = dhp("perturb", *OWN[:4], *own, *WRITER)
    assert without.code == 2
    assert "task 'memo': no prompt 'hedging.yaml'; " in without.err
    left_out = dhp("perturb", *OWN[:4], "--suite", "s.yaml", "--show", "1")
    assert "hedging" in left_out.err
