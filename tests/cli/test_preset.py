"""`--preset paper` has the settings of Wang et al. (2025), and none that contradict them."""

import pytest

from tests.cli.conftest import Run, results_in

ASKED = "benchmark --preset paper --model openai/judge --dataset mini/summeval --n 5 --dry-run"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")


def test_it_asks_what_the_paper_asked(dhp: Run) -> None:
    """Originals and twelve kinds by four metrics, five answers each; each metric's steps are asked once."""
    shown = dhp(f"{ASKED} --perturb-model openai/other")
    assert shown.code == 0
    assert f"{5 * 13 * 4 * 5 + 4:,} ratings" in shown.out
    assert f"{5 * 6 + 6} texts" in shown.out
    assert "controls" not in shown.out


def test_it_analyses_as_the_paper_did(dhp: Run) -> None:
    assert dhp("benchmark --preset paper --model mock/noisy --dataset mini/summeval --n 6 --out r").code == 0
    result = results_in("r")
    assert (result["statistics"], result["combination"]) == ("paper", "printed")
    assert not result["controls"]


def test_all_six_sets_unless_told_otherwise(dhp: Run) -> None:
    done = dhp("benchmark", "--preset", "paper", "--model", "openai/judge", "--dry-run")
    assert done.code == 2
    assert "summeval, sumpubmed, story_cloze, answer_equivalence, wmt22_deen, wmt22_zhen" in done.err


def test_what_it_has_may_be_said_again(dhp: Run) -> None:
    same = "--samples 5 --temperature 0 --steps auto --statistics paper --no-controls"
    assert dhp(f"{ASKED} {same}").out == dhp(ASKED).out
