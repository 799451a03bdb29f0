"""Power from pilots, effects and mock judges; what mock judges do is what was foretold."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dhp
from dhp.content.catalog import read_task
from dhp.core.errors import InputError
from dhp.core.records import Candidate
from dhp.core.specs import Task
from dhp.judge.judges.mock import mock_judge
from dhp.runs import power as module
from dhp.runs.power import (
    PowerAnalysis,
    Question,
    VariantPower,
    power_of_effect,
    power_of_mock,
    power_of_runs,
)
from dhp.runs.reader import read_run
from dhp.stats.power import Needed
from dhp.stats.wilcoxon.signed_rank import signed_rank
from tests.stats.test_combine import combine

PILOT = "mock/noisy?sensitivity=0.4&reordering=0"


def row(found: PowerAnalysis, variant: str) -> VariantPower:
    return next(each for each in found.variants if each.variant == variant)


def noticed_by_fresh_runs(model: str, n: int, runs: int) -> tuple[float, float]:
    """Shares of runs of a mock judge with D >= 1 under minor damage: by one metric, and by four."""
    task = read_task("summarization")
    candidates = [Candidate(str(i), v, "", "") for i in range(n * runs) for v in ("original", "x.minor")]
    scores: dict[tuple[str, str], list[float]] = {}
    for rating in mock_judge(model, seed=7).rate(candidates, task):
        assert rating.score is not None
        scores.setdefault((rating.metric, rating.variant), []).append(rating.score)
    drops = [
        np.reshape(np.subtract(scores[m, "original"], scores[m, "x.minor"]), (runs, n))
        for m in task.metric_names
    ]
    log_p = np.array([[signed_rank(run).log_p for run in metric] for metric in drops]).T
    line = np.log(0.05)
    return float((log_p[:, 0] <= line).mean()), float(
        np.mean([combine(each, None, "hmp-asymptotic") <= line for each in log_p])
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "n"), [("mock/noisy?sensitivity=0.5", 25), ("mock/ideal?sensitivity=0.3", 15)]
)
def test_mock_judges_notice_as_often_as_foretold(monkeypatch: pytest.MonkeyPatch, model: str, n: int) -> None:
    monkeypatch.setattr(module, "_MOCK_EXAMPLES", 6000)
    question = Question(n=n, runs=1500)
    found = row(power_of_mock(model, question), "damage.minor")
    alone = row(power_of_mock(model, question, metrics=1), "damage.minor")
    by_one, by_four = noticed_by_fresh_runs(model, n, 600)
    for each, truth in ((found, by_four), (alone, by_one)):
        assert each.miss is not None
        assert 1 - each.miss == pytest.approx(truth, abs=0.07)


@pytest.fixture
def few_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOCK_EXAMPLES", 500)


@pytest.mark.usefixtures("few_examples")
def test_dials_of_a_mock_judge_make_variants() -> None:
    found = power_of_mock("mock/ideal?random_typos=0&reordering.major=0.2&latency=9", metrics=2)
    names = [v.variant for v in found.variants]
    assert names == [
        *("damage.minor", "damage.major", "random_typos.minor", "random_typos.major"),
        "reordering.major",
    ]
    assert row(found, "damage.minor").effect == 1
    blind = row(found, "random_typos.major")
    assert (blind.effect, blind.miss, blind.n_80) == (0, 1, Needed(None, None, None))
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["variants"][0]["n_80"]["n"] > 0


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "pilot"
    dhp.run(PILOT, "mini/summeval", out=folder)
    return folder


@pytest.mark.slow
def test_a_pilot_foretells_runs_like_itself(pilot: Path) -> None:
    question = Question(n=24)
    (found,) = power_of_runs([pilot], question)
    results = json.loads((pilot / "results.json").read_text())
    assert [v.variant for v in found.variants] == [v["variant"] for v in results["variants"]]
    assert [v.d for v in found.variants] == [v["d"] for v in results["variants"]]
    assert found.pilot == 24
    first = found.variants[0]
    cells = results["variants"][0]["metrics"].values()
    assert first.effect == pytest.approx(max(cell["effect"] for cell in cells))
    assert first.n_80 is not None
    assert first.n_80.n is not None
    (again,) = power_of_runs([pilot], replace(question, n=first.n_80.n, seed=1))
    miss = again.variants[0].miss
    assert miss is not None
    assert 1 - miss == pytest.approx(0.8, abs=0.08)
    clear = [v.miss for v in found.variants if v.miss is not None and "reordering" not in v.variant]
    blind = row(found, "reordering.minor").miss
    assert blind is not None
    assert blind > max(clear)


@pytest.mark.slow
def test_a_pilot_is_tested_as_the_run_was(pilot: Path, tmp_path: Path) -> None:
    dhp.run(
        PILOT,
        "mini/summeval",
        analysis=dhp.AnalysisConfig(statistics="paper"),
        out=tmp_path / "paper",
    )
    question = Question(runs=100)
    (paper,), (plain,) = power_of_runs([tmp_path / "paper"], question), power_of_runs([pilot], question)
    assert (paper.combination, plain.combination) == ("printed", "hmp-asymptotic")
    miss = [row(each, "reordering.minor").miss for each in (paper, plain)]
    assert miss[0] is not None
    assert miss[1] is not None
    assert miss[0] < miss[1]
    (own,) = power_of_runs([pilot], Question(runs=10, combination="hmp-asymptotic"))
    assert own.combination == "hmp-asymptotic"


@pytest.mark.slow
def test_a_metric_without_a_pair_leaves_power_undefined(tmp_path: Path) -> None:
    class Silent:
        model, protocol = "own/silent", "none"

        def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[dhp.Rating]:
            for c in candidates:
                for m in task.metrics:
                    mute = c.variant.startswith("reordering") and m.name == "fluency"
                    yield dhp.Rating(
                        c.example, c.variant, m.name, 0, None if mute else 3, "failed" if mute else "scored"
                    )

    dhp.run(Silent(), "mini/summeval", out=tmp_path / "run")
    (found,) = power_of_runs([tmp_path / "run"], Question(runs=10))
    undefined = row(found, "reordering.minor")
    assert (undefined.d, undefined.effect, undefined.miss, undefined.n_80) == (None,) * 4
    assert found.variants[0].miss is not None


@pytest.mark.slow
def test_an_effect_that_is_none_is_never_enough() -> None:
    for size in (0.0, -0.4):
        (found,) = power_of_effect(size, Question(runs=200)).variants
        assert found.miss is not None
        assert found.miss > 0.9
        assert found.n_80 == found.n_90 == Needed(None, None, None)
    (tiny,) = power_of_effect(0.001, Question(runs=50)).variants
    assert tiny.n_80 == Needed(None, None, None), "beyond the limit"
    (whole,) = power_of_effect(1.0, metrics=1).variants
    assert (whole.miss, whole.n_80, whole.n_90) == (0, Needed(5, 5, 5), Needed(5, 5, 5))


@pytest.mark.slow
def test_the_same_question_gets_the_same_answer() -> None:
    question = Question(n=30, runs=200)
    assert power_of_effect(0.3, question) == power_of_effect(0.3, question)
    assert power_of_effect(0.3, replace(question, seed=1)) != power_of_effect(0.3, question)


def test_a_pilot_of_one_example(tmp_path: Path) -> None:
    dhp.run("mock/ideal", "mini/summeval", n=1, out=tmp_path / "one")
    with pytest.raises(InputError, match="a pilot of one example tells nothing about others"):
        power_of_runs([tmp_path / "one"])


@pytest.mark.slow
def test_a_pilot_that_stopped_early_speaks_of_what_it_asked(tmp_path: Path) -> None:
    judge, data = "mock/noisy?sensitivity=0.2&random_typos=1.2", "mini/story_cloze"
    dhp.run(
        judge,
        data,
        analysis=dhp.AnalysisConfig(stop_when_resolved=True),
        out=tmp_path / "less",
    )
    dhp.run(
        judge,
        data,
        analysis=dhp.AnalysisConfig(combination="hmp-asymptotic"),
        out=tmp_path / "all",
    )
    (less,), (every,) = (power_of_runs([tmp_path / name]) for name in ("less", "all"))
    stopped = {v.variant for v in read_run(tmp_path / "less").results[0].variants if v.stopped_at}
    assert "random_typos" in stopped
    for one, other in zip(less.variants, every.variants, strict=True):
        if one.variant == "random_typos":
            assert one.n_80 is not None
            assert other.n_80 is not None
            ratio = (one.n_80.n or 0) / (other.n_80.n or 1)
            assert 0.6 < ratio < 1.6, "as if unasked examples had no score, about 2"
        elif one.variant not in stopped:
            assert replace(one, d=None) == replace(other, d=None), "but for the looks, which lower D"
