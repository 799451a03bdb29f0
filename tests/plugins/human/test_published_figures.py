"""Figures that others published, recomputed from the answers and scores that they released."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "reproduce.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reproduce", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.parametrize(("reading", "apart"), [("ours", 0.006), ("first digit", 0.002)])
def test_topical_chat(script: ModuleType, real: Path, reading: str, apart: float) -> None:
    cells = list(script.topical_chat(real / "topical_chat", reading))
    assert len(cells) == 8 + 20, "Table 2 of Chiang and Lee (2023), and Table 4"
    for name, published, ours in cells:
        assert ours == pytest.approx(published, abs=apart + 0.0005), name


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "cells", "apart"),
    [("summeval", 72, 0.002), ("realsumm", 18, 0.002), ("newsroom", 72, 0.016), ("bagel", 27, 0.001)],
)
def test_rouge(script: ModuleType, real: Path, name: str, cells: int, apart: float) -> None:
    """Tables 1 to 5 and 7 of Wang et al. (2023)."""
    pytest.importorskip("rouge_score", reason="ROUGE needs rouge-score")
    found = list(script.rouge_rows(real, name))
    assert len(found) == cells
    for cell, published, ours in found:
        assert ours == pytest.approx(published, abs=apart + 0.0005), cell


@pytest.mark.slow
@pytest.mark.realdata
def test_auto_cot_against_none_and_free_text(script: ModuleType, real: Path) -> None:
    """The studies' conclusions: written steps bring nothing significant, an open answer follows coherence."""
    p = {name.partition(", ")[0::2]: test for name, test in script.compared(real / "topical_chat")}
    tests = {(pair, rest.split(",")[0]): test for (pair, rest), test in p.items()}
    for metric in ("naturalness", "coherence"):
        assert tests["geval against geval_no_auto_cot", metric].p_two_sided > 0.05
        assert tests["llm_eval_no_cot against geval_no_auto_cot", metric].t > 0
    assert tests["llm_eval_no_cot against geval_no_auto_cot", "coherence"].p_two_sided < 0.01


@pytest.mark.slow
@pytest.mark.realdata
def test_recorded_answers_of_a_judge_of_summeval(script: ModuleType, real: Path) -> None:
    """All 1,200 answers about each metric are read; the systems are ranked much as experts rank them."""
    found = script.recorded_judge(real)
    assert [judge.judge for judge in found.judges] == [
        "gpt-3.5-turbo-0301 (rts)",
        "gpt-3.5-turbo-0301 (stareval)",
    ]
    for judge in found.judges:
        for metric in judge.metrics:
            assert metric.items == 1200
            for one in metric.correlations:
                assert one.ci is not None
                assert one.ci[0] <= one.value <= one.ci[1]
        assert judge.mean["system.spearman"] > 0.85
    assert {pair.metric for pair in found.pairs} == {"coherence", "consistency", "fluency", "relevance"}
