"""The same model, prompts and protocol give the same ratings in this process and behind a server."""

import importlib.util
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import dhp
from dhp.report.advice import warnings
from tests.llm.logprob_server import logprob_server
from tests.scripts import loaded

SMOLLM2 = loaded("smollm2")
PACKAGE, make = SMOLLM2.PACKAGE, SMOLLM2.make


def both(folder: Path, tmp_path: Path, protocols: Sequence[dhp.Protocol], n: int) -> list[pd.DataFrame]:
    """The ratings in process and behind a server, in the same order."""
    given = {"dataset": "mini/story_cloze", "n": n, "protocol": protocols, "metrics": ["fluency"]}
    with logprob_server(folder) as server:
        dhp.run(
            "openai/served",
            settings=dhp.ModelSettings(
                base_url=f"{server.url}/v1", cache=tmp_path / "a", timeout=600, keep_going=True
            ),
            out=tmp_path / "there",
            **given,
        )
    settings = dhp.ModelSettings(dtype="float32", cache=tmp_path / "b", keep_going=True)
    dhp.run(f"hf/{folder}", settings=settings, out=tmp_path / "here", **given)
    return [pd.read_parquet(tmp_path / name / "ratings.parquet") for name in ("here", "there")]


def check(here: pd.DataFrame, there: pd.DataFrame) -> None:
    places = ["example", "variant", "metric", "protocol"]
    assert here[places].equals(there[places])
    assert here["status"].tolist() == there["status"].tolist()
    assert here["rule"].equals(there["rule"])
    for column in ("score", "missing_mass"):
        difference = (here[column].astype(float) - there[column].astype(float)).abs()
        assert difference.isna().equals(here[column].isna())
        assert not (difference > 1e-3).any()


def test_a_tiny_model_gives_one_figure_on_both(tiny_model: Path, tmp_path: Path) -> None:
    protocols = [
        dhp.protocol("g-eval-prob"),
        dhp.protocol("g-eval-prob", answer="letters", steps="none", max_tokens=3),
    ]
    here, there = both(tiny_model, tmp_path, protocols, n=2)
    check(here, there)
    assert 3 <= (here["status"] == "scored").sum() < len(here)
    assert here["missing_mass"].notna().sum() == (here["status"] == "scored").sum()


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec(PACKAGE) is None, reason=f"needs the package {PACKAGE}: a small real model"
)
def test_a_real_model_gives_one_figure_on_both(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    pytest.importorskip("gguf")
    here, there = both(make(tmp_path / "model"), tmp_path, [dhp.protocol("g-eval-prob")], n=1)
    check(here, there)
    assert here["status"].nunique() > 1 or (here["status"] == "scored").all()


@pytest.mark.slow
def test_probability_off_the_scale_is_warned_of() -> None:
    (result,) = dhp.run("baseline/constant", "mini/story_cloze", n=5)
    said = "80% of the probability"
    assert any(said in each for each in warnings([replace(result, missing_mass=0.8)]))
    assert not any("probability" in each for each in warnings([replace(result, missing_mass=0.5)]))
