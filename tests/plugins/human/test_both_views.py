"""Detection beside correlation, from a real run and a table of human scores."""

import json

import numpy as np
import pandas as pd
import pytest

import dhp
from dhp.core.errors import InputError
from dhp.plugins.human.agreement import Agreement, correlate
from dhp.plugins.human.both_views import both_views
from dhp.runs.reader import Run, read_run
from tests.quick import undrawn


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("runs") / "one"
    judges = ["mock/ideal", "mock/blind?noise=1"]
    with undrawn():
        dhp.run(judges, "mini/summeval", out=folder, n=8, analysis=dhp.AnalysisConfig(weights="uniform"))
    return read_run(folder)


@pytest.fixture(scope="module")
def agreement() -> Agreement:
    rng = np.random.default_rng(0)
    human = pd.DataFrame(
        {
            "source": np.repeat(np.arange(10), 5),
            "system": np.tile(np.arange(5), 10),
            "metric": "coherence",
            "score": rng.integers(1, 6, 50),
        }
    )
    ideal = human.assign(model="mock/ideal", score=human["score"] + rng.normal(0, 0.1, 50))
    other = human.assign(model="openai/<b>", score=-human["score"])
    return correlate(pd.concat([ideal, other]), human, resamples=0)


def test_detection_is_the_mean_over_levels(run: Run, agreement: Agreement) -> None:
    rows = {row.judge: row for row in both_views(agreement, [run])}
    (ideal, blind) = (rows[name] for name in ("mock/ideal", "mock/blind?noise=1 (none)"))
    assert ideal.correlation > 0.8
    assert blind.correlation is None
    levels: dict[str, list[float]] = {}
    for variant in run.results[1].variants:
        levels.setdefault(variant.level, []).append(variant.detection or 0.0)
    expected = np.mean([np.mean(each) for each in levels.values()])
    assert blind.detection == pytest.approx(expected)
    assert blind.detection_ci[0] < expected < blind.detection_ci[1]
    assert ideal.detection > 0.9
    assert rows["openai/<b>"].detection is None


def test_runs_of_other_judges_are_an_error(run: Run, agreement: Agreement) -> None:
    others = Agreement(agreement.judges[1:], (), {})
    with pytest.raises(InputError, match="runs: are of mock/ideal, mock/blind"):
        both_views(others, [run])
    assert json.dumps(others.to_dict())
