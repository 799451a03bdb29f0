"""Perturbations by language model from the command line: end to end, frozen, stopped, refused."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dhp as dhp_api
from dhp.content.yaml_files import content_folder
from dhp.loaders.resolve import resolve_datasets
from tests.llm.stub import reset, stats, stub_server

from .conftest import Run, results_in, write_rows

ALL = {
    "summeval": 12,
    "sumpubmed": 12,
    "story_cloze": 6,
    "answer_equivalence": 9,
    "wmt22_deen": 10,
    "wmt22_zhen": 10,
}
SMALL = ("--dataset", "mini/summeval", "--n", "4")
GRAMMAR = "summarization/grammatical_errors.minor.yaml"


@pytest.fixture(scope="module")
def follower() -> Iterator[str]:
    with stub_server("--say", "tests.perturb.follows:follow") as address:
        yield address


@pytest.fixture(scope="module")
def refuser() -> Iterator[str]:
    with stub_server("--say", "tests.perturb.follows:refuse") as address:
        yield address


def test_data_of_ones_own_get_the_suite_of_their_task(dhp: Run, follower: str) -> None:
    output = "Ann Berg moved to Oslo in 1999. She was at home there. It is big."
    write_rows("own.jsonl", [{"source": "Ann lived in Oslo.", "output": output}])
    own = ("--dataset", "own.jsonl", "--task", "summarization")
    done = dhp("perturb", *own, "--show", "1", *by_model(follower))
    assert done.code == 0, done.err
    assert "rewriting_insertion.major" in done.out


def test_rules_that_stand_in_are_said_with_the_texts_and_in_the_audit_of_a_set(dhp: Run) -> None:
    output = "Ann Berg moved to Oslo in 1999. She was at home there. It is big."
    write_rows("own.jsonl", [{"source": "Ann lived in Oslo.", "output": output}])
    own = (
        "--dataset",
        "own.jsonl",
        "--task",
        "summarization",
        "--suite",
        "summeval",
        "--text-language",
        "en",
    )
    done = dhp("perturb", *own, "--freeze", "set")
    assert done.code == 0, done.err
    for said in (done.out, dhp("perturb", "--audit", "set").out):
        (line,) = [line for line in said.splitlines() if "rules stand in" in line]
        assert "for wrong names" in line
        assert "sentence_repetition for rephrased repetitions" in " ".join(said.split())
    assert "stand in" not in dhp("perturb", *SMALL, "--freeze", "mini").out


def by_model(url: str, *more: str) -> tuple[str, ...]:
    return ("--perturb-model", "openai/writer", "--base-url", url, *more)


@pytest.mark.slow
def test_all_variants_of_all_sets_are_made_frozen_and_judged(dhp: Run, follower: str, tmp_path: Path) -> None:
    reset(follower)
    done = dhp("perturb", "--dataset", "mini", "--n", "6", "--freeze", "set", *by_model(follower))
    assert done.code == 0, done.err
    card = json.loads((tmp_path / "set" / "card.json").read_text())
    assert {d["name"]: len(d["variants"]) for d in card["datasets"]} == {
        f"mini/{name}": count + 1 for name, count in ALL.items()
    }, "harmless edits, too"
    paid = stats(follower)["calls"]
    assert paid >= 6 * (6 + 6 + 2 + 4 + 4 + 4)
    audited = dhp("perturb", "--audit", "set")
    assert audited.code == 0
    assert "rewriting_insertion.major" in audited.out
    judged = dhp("benchmark", "--model", "mock/ideal", "--perturbed", "set", "--n", "6", "--out", "run")
    assert judged.code == 0, judged.err
    results = results_in("run")
    assert {r["dataset"]: len(r["variants"]) for r in results} == {f"mini/{n}": c for n, c in ALL.items()}
    assert all("method:llm:openai/writer+rule|" in r["signature"] for r in results)
    assert not any(r["left_out"] for r in results)
    assert stats(follower)["calls"] == paid


@pytest.mark.slow
def test_the_texts_are_paid_for_once_and_stand_in_the_manifest(
    dhp: Run, follower: str, tmp_path: Path
) -> None:
    reset(follower)
    command = ("benchmark", "--model", "mock/ideal", *SMALL, *by_model(follower), "--out", "run")
    assert dhp(*command).code == 0
    paid = stats(follower)["calls"]
    prices = ("--price-in", "1", "--price-out", "1")
    done = dhp("perturb", *SMALL, *by_model(follower), "--out", "x.jsonl", *prices)
    assert re.search(rf"by openai/writer: {paid} calls, [\d,]+ tokens, cost 0\.\d+", done.out)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["usage_of_perturb_model"]["mini/summeval"]["calls"] == paid
    origin = manifest["identity"]["datasets"][0]["origins"]["grammatical_errors"]
    assert origin.startswith("openai/writer, steps written, prompts@")
    assert dhp(*command).code == 0
    dry = dhp(*command[:-2], "--dry-run")
    assert dry.code == 0
    assert "24 texts; 24 need no call" in " ".join(dry.out.split())
    assert stats(follower)["calls"] == paid
    other = dhp(*command, "--perturb-steps", "auto")
    assert other.code == 2
    assert "(origins of mini/summeval differ)" in other.err


@pytest.mark.slow
def test_a_dry_run_asks_nothing_and_reckons_with_both_models(dhp: Run, follower: str) -> None:
    reset(follower)
    command = ("benchmark", "--model", "openai/judge", *SMALL, *by_model(follower), "--dry-run")
    done = dhp(*command, "--price-in", "1", "--price-out", "2", "--cache", "other")
    assert done.code == 0
    assert "openai/writer  ·  perturbations" in done.out
    assert "openai/judge  ·  dhp@" in done.out
    assert stats(follower)["calls"] == 0
    texts = dhp("perturb", *SMALL, *by_model(follower), "--dry-run", "--cache", "other")
    assert "24 texts" in texts.out
    assert stats(follower)["calls"] == 0


@pytest.mark.slow
def test_a_dry_run_counts_the_judging_of_texts_that_are_not_there_yet(tmp_path: Path) -> None:
    settings = dhp_api.ModelSettings(base_url="http://localhost:9/v1", cache=tmp_path)
    (texts, ratings) = dhp_api.estimate(
        "openai/judge", "mini/summeval", n=4, perturb_model="openai/writer", settings=settings
    )
    assert (texts.what, texts.bill.calls) == ("texts", 4 * 6)
    assert (ratings.what, ratings.bill.calls) == ("ratings", 4 * 14 * 4), "13 variants, 6 of them to be made"


@pytest.mark.slow
def test_a_limit_stops_the_making_and_the_same_command_goes_on(dhp: Run, follower: str) -> None:
    reset(follower)
    command = ("perturb", *SMALL, *by_model(follower), "--freeze", "set", "--cache", "mine")
    stopped = dhp(*command, "--max-calls", "10", "--concurrency", "1")
    assert stopped.code == 3, stopped.err
    assert not Path("set").exists()
    assert stats(follower)["calls"] <= 10
    assert dhp(*command).code == 0
    paid = stats(follower)["paid"]
    assert set(paid.values()) == {1}


def test_a_model_that_only_refuses_is_one_line_and_nothing_is_scored(dhp: Run, refuser: str) -> None:
    done = dhp("benchmark", "--model", "mock/ideal", *SMALL, *by_model(refuser), "--out", "run")
    assert done.code == 2
    (line,) = [line for line in done.err.splitlines() if "none of" in line]
    assert "perturber 'fictional_named_entities.minor': none of 16 answers of openai/writer passed" in line
    assert "refus" in line
    assert not Path("run").exists()


@pytest.mark.slow
def test_steps_by_the_model_are_kept(dhp: Run, follower: str, tmp_path: Path) -> None:
    command = ("benchmark", "--model", "mock/ideal", *SMALL, *by_model(follower), "--out", "run")
    done = dhp(*command, "--perturb-steps", "auto")
    assert done.code == 0, done.err
    assert "grammatical_errors.minor" in (tmp_path / "run" / "steps-perturbations.yaml").read_text()


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("summarization/fictional_entities.minor.yaml", "summarization/fictional_named_entities.minor.yaml"),
        ("summarization/grammatical_errors.minor.yml", GRAMMAR),
        ("sumarization/grammatical_errors.minor.yaml", GRAMMAR),
        ("memo/grammatical_errors.minor.yaml", "general/grammatical_errors.minor.yaml"),
        ("agian.yaml", "again.yaml"),
    ],
)
def test_a_prompt_file_that_replaces_nothing_is_refused(
    dhp: Run, follower: str, name: str, near: str
) -> None:
    """Else the bundled prompt would be paid for in its place."""
    file = Path("mine", name)
    file.parent.mkdir(parents=True)
    file.write_text("steps: [Look.]\nprompt: '{{steps}} {{text}} {{tag}}'\n")
    done = dhp("perturb", *SMALL, *by_model(follower, "--perturb-prompts", "mine"), "--out", "x.jsonl")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert f"mine: unknown prompt '{name}'; did you mean '{near}'? allowed: " in done.err


@pytest.mark.slow
def test_one_prompt_of_ones_own_is_enough_and_changes_the_hash(
    dhp: Run, follower: str, tmp_path: Path
) -> None:
    bundled = (content_folder("perturbations") / "prompts" / GRAMMAR).read_text()
    (tmp_path / "mine" / "summarization").mkdir(parents=True)
    (tmp_path / "mine" / GRAMMAR).write_text(bundled.replace("Summary:", "The summary:"))
    origins = []
    for folder, more in (("one", ()), ("two", ("--perturb-prompts", "mine"))):
        assert dhp("perturb", *SMALL, *by_model(follower, *more), "--freeze", folder).code == 0
        (card,) = json.loads((tmp_path / folder / "card.json").read_text())["datasets"]
        origins.append({v["perturber"]: v["origin"] for v in card["variants"] if v["method"] == "llm"})
    one, two = origins
    assert {p for p in one if one[p] != two[p]} == {"grammatical_errors"}


@pytest.mark.slow
def test_judge_and_perturb_model_may_be_the_same(dhp: Run, follower: str) -> None:
    done = dhp("benchmark", "--model", "openai/writer", *SMALL, *by_model(follower), "--out", "run")
    assert done.code == 0, done.err
    (made,) = results_in("run")["variants"][-1:]
    assert made["variant"] == "rewriting_insertion.major"


PLAIN = "Adjustment: one fictional entity.\n\nSummary:\n\nSUMMARY_HERE\n\nRevised Summary:\n"


def plain_folder(tmp_path: Path, text: str = PLAIN) -> tuple[str, str]:
    folder = tmp_path / "mine" / "summarization"
    folder.mkdir(parents=True)
    (folder / "fictional_named_entities.minor.txt").write_text(text)
    return "--perturb-prompts", "mine"


@pytest.mark.slow
def test_a_prompt_as_plain_text_is_asked_as_it_is_and_answered_whole(dhp: Run, tmp_path: Path) -> None:
    mine = plain_folder(tmp_path)
    with stub_server("--say", "tests.perturb.follows:follow_plain") as url:
        few = ("--dataset", "mini/summeval", "--n", "2")
        done = dhp("perturb", *few, *by_model(url, *mine), "--out", "x.jsonl")
        assert done.code == 0, done.err
        asked = [body["messages"][0]["content"] for body in stats(url)["bodies"]]
    plain = [prompt for prompt in asked if prompt.startswith("Adjustment: one fictional entity.")]
    (data,) = resolve_datasets(["mini/summeval"], n=2)
    assert {PLAIN.strip().replace("SUMMARY_HERE", e.output) for e in data.examples} <= set(plain)
    rows = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    made = [row for row in rows if row["variant"] == "fictional_named_entities.minor"]
    assert len(made) == 2
    assert all(row["output"] and not row["output"].startswith(("<", "Revised")) for row in made)


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        (PLAIN.replace("SUMMARY", "SUMARY"), (), "unknown slot '{{SUMARY_HERE}}'"),
        ("Adjustment: none. ARTICLE_HERE", (), "'{{text}}'"),
    ],
)
def test_a_faulty_plain_prompt_is_one_line(
    dhp: Run, follower: str, tmp_path: Path, text: str, more: tuple[str, ...], message: str
) -> None:
    mine = plain_folder(tmp_path, text)
    done = dhp("perturb", *SMALL, *by_model(follower, *mine, *more), "--out", "x.jsonl")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert message in done.err
    assert "fictional_named_entities.minor" in done.err


@pytest.mark.slow
def test_the_preset_of_the_paper_takes_a_file_of_steps(dhp: Run, follower: str, tmp_path: Path) -> None:
    kinds = ("fictional_named_entities", "grammatical_errors", "rewriting_insertion")
    names = [f"{kind}.{degree}" for kind in kinds for degree in ("minor", "major")]
    (tmp_path / "steps.yaml").write_text(
        "".join(f"{name}: [Look for the place., Change it.]\n" for name in names)
    )
    few = "benchmark --preset paper --model openai/judge --dataset mini/summeval --n 2".split()
    reset(follower)
    done = dhp(*few, *by_model(follower, "--perturb-steps", "steps.yaml"), "--out", "run")
    asked = [body["messages"][0]["content"] for body in stats(follower)["bodies"]]
    assert any("1. Look for the place.\n2. Change it." in prompt for prompt in asked), done.err
    assert not any("adjustment steps" in prompt and "Look for" not in prompt for prompt in asked)
