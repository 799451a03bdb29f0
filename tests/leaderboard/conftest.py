"""Runs to make leaderboards of."""

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from dhp import AnalysisConfig, run
from tests.cli.conftest import dhp
from tests.quick import undrawn, undrawn_charts
from tests.unsealed import unsealed

__all__ = ["dhp", "undrawn_charts"]

DATASETS = ("mini/summeval", "mini/answer_equivalence")
MODELS = {"good": "mock/ideal", "noisy": "mock/noisy", "blind": "mock/blind"}
Edit = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of three runs over two datasets, which tests may edit."""
    folder = tmp_path_factory.mktemp("runs")
    with undrawn():
        for name, model in MODELS.items():
            run(model, list(DATASETS), out=folder / name)
            unsealed(folder / name)
    return folder


def known(runs: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The results of all runs, by model and dataset."""
    found = [r for name in MODELS for r in json.loads((runs / name / "results.json").read_text())]
    return {(r["model"], r["dataset"]): r for r in found}


@pytest.fixture
def edited(runs: Path, tmp_path: Path) -> Callable[..., Path]:
    """Makes a file of the noisy judge's first result, changed."""

    def make(name: str, change: Edit) -> Path:
        first = json.loads((runs / "noisy" / "results.json").read_text())[0]
        change(first)
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(first))
        return path

    return make


def soon() -> str:
    """A time that is later than any result's, but not by much."""
    return (dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)).isoformat(timespec="seconds")


def signed(result: dict[str, Any], part: str, value: str) -> None:
    """Change a part of a result's signature."""
    parts = [p.partition(":") for p in result["signature"].split("|")]
    result["signature"] = "|".join(f"{n}:{value if n == part else v}" for n, _, v in parts)


def run_with_own_weights(folder: Path) -> Path:
    """Make the run `run` with weights that do not ship; their file."""
    row = {"coherence": 0.7, "consistency": 0.1, "fluency": 0.1, "relevance": 0.1}
    own = {"weights": "own", "version": 1, "provenance": "Made up.", "otherwise": "uniform"}
    file = folder / "own.yaml"
    file.write_text(yaml.safe_dump(own | {"tasks": {"summarization": {"reordering": row}}}))
    run("mock/noisy", "mini/summeval", analysis=AnalysisConfig(weights=str(file)), out=folder / "run")
    return file
