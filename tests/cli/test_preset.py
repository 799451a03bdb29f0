"""`--preset paper` has the settings of Wang et al. (2025), and none that contradict them."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

ASKED = (
    "benchmark",
    "--preset",
    "paper",
    "--model",
    "openai/judge",
    "--dataset",
    "mini/summeval",
    "--n",
    "5",
)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")


def test_it_asks_what_the_paper_asked(dhp: Run) -> None:
    """Originals and twelve kinds by four metrics, five answers each; each metric's steps are asked once."""
    shown = dhp(*ASKED, "--perturb-model", "openai/other", "--dry-run")
    assert shown.code == 0
    assert f"{5 * 13 * 4 * 5 + 4:,} ratings" in shown.out
    assert f"{5 * 6 + 6} texts" in shown.out
    assert "controls" not in shown.out


def test_it_analyses_as_the_paper_did(dhp: Run, tmp_path: Path) -> None:
    run = ("--model", "mock/noisy", "--dataset", "mini/summeval", "--n", "6", "--out", str(tmp_path))
    assert dhp("benchmark", "--preset", "paper", *run).code == 0
    result = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert (result["statistics"], result["combination"]) == ("paper", "printed")
    assert not result["controls"]


def test_all_six_sets_unless_told_otherwise(dhp: Run) -> None:
    done = dhp("benchmark", "--preset", "paper", "--model", "openai/judge", "--dry-run")
    assert done.code == 2
    assert "summeval, sumpubmed, story_cloze, answer_equivalence, wmt22_deen, wmt22_zhen" in done.err


def test_what_it_has_may_be_said_again(dhp: Run) -> None:
    same = (
        "--samples",
        "5",
        "--temperature",
        "0",
        "--steps",
        "auto",
        "--statistics",
        "paper",
        "--no-controls",
    )
    assert dhp(*ASKED, *same, "--dry-run").out == dhp(*ASKED, "--dry-run").out


@pytest.mark.parametrize(
    ("contradicting", "has"),
    [
        (("--samples", "1"), "samples 5"),
        (("--temperature", "default"), "temperature 0.0"),
        (("--steps", "written"), "steps auto"),
        (("--answer", "free-text"), "answer score-only"),
        (("--protocol", "da"), "protocol dhp"),
        (("--statistics", "default"), "statistics paper"),
        (("--combination", "hmp"), "combination printed"),
        (("--controls",), "no controls"),
        (("--doses", "1,2"), "no doses"),
        (("--find-threshold",), "no find threshold"),
        (("--perturb-model", "openai/other", "--perturb-steps", "written"), "steps auto"),
    ],
)
def test_a_contradiction_is_one_line(dhp: Run, contradicting: tuple[str, ...], has: str) -> None:
    done = dhp(*ASKED, *contradicting)
    (option,) = [each for each in contradicting if each.startswith("--")][-1:]
    said = f"{option}: contradicts --preset paper, which has {has}; leave one of them out\n"
    assert (done.code, done.err.partition(": ")[2]) == (2, said)


def test_an_unknown_preset(dhp: Run) -> None:
    done = dhp("benchmark", "--preset", "papr", "--model", "mock/noisy")
    assert (done.code, "unknown preset 'papr'; did you mean 'paper'?" in done.err) == (2, True)
