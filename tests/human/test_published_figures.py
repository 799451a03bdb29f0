"""Figures that others published, recomputed from the answers and scores that they released."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "reproduce.py"


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
    assert len(cells) == 16
    for name, published, ours in cells:
        assert ours == pytest.approx(published, abs=apart + 0.0005), name


@pytest.mark.slow
@pytest.mark.realdata
def test_summeval_rouge(script: ModuleType, real: Path) -> None:
    pytest.importorskip("rouge_score", reason="ROUGE needs rouge-score")
    for name, published, ours in script.summeval(real):
        assert ours == pytest.approx(published, abs=0.0025), name
