"""The method itself: a judge that sees nothing scores at chance, and what is planted in a judge is found."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm, rankdata

import dhp
from dhp.content.catalog import read_weights
from dhp.core.records import parse_variant
from dhp.stats.wilcoxon import signed_rank
from tests.judges import ByRule
from tests.scripts import loaded

CALIBRATION = loaded("calibration")
SETTINGS = list(CALIBRATION.settings())
SAMPLES: Mapping[str, int] = CALIBRATION.SAMPLES
RUNS, N = 1000, 60
LOOKS = len(SETTINGS) * len(SAMPLES)
LOW, HIGH = CALIBRATION.band(RUNS, LOOKS)


def blind(samples: int, correlation: float, **tests: Any) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = CALIBRATION.blind(samples, correlation, RUNS, N, 1, tests)
    return found


@pytest.fixture(scope="module")
def blind_logs() -> dict[tuple[str, float], np.ndarray]:
    """log p of one variant in each of a thousand runs, by scores and correlation."""
    return {
        (name, correlation): blind(samples, correlation, test=CALIBRATION.exact)["test"]
        for name, samples in SAMPLES.items()
        for correlation in CALIBRATION.CORRELATIONS
    }


def shares(logs: Mapping[tuple[str, float], np.ndarray], combination: str) -> dict[Any, float]:
    return {
        (name, metrics, correlation): CALIBRATION.noticed(
            logs[name, correlation], metrics, combination
        ).mean()
        for name in SAMPLES
        for metrics, correlation in SETTINGS
    }


@pytest.mark.slow
def test_a_blind_judge_passes_in_five_per_cent(blind_logs: Any) -> None:
    """Under `default`, in the band of all settings together."""
    default = dhp.AnalysisConfig(weights="uniform").resolve(None, [], ["fluency"]).named_combination()
    found = shares(blind_logs, default)
    assert {key: share for key, share in found.items() if not LOW <= share <= HIGH} == {}


@pytest.mark.slow
def test_the_harmonic_mean_itself_is_slightly_liberal(blind_logs: Any) -> None:
    _, high = CALIBRATION.band(RUNS, LOOKS, 0.065)
    found = shares(blind_logs, "hmp")
    assert {key: share for key, share in found.items() if not LOW <= share <= high} == {}


@pytest.mark.slow
def test_the_printed_formula_passes_more_often_with_every_metric(blind_logs: Any) -> None:
    """Which the band must show, however the metrics correlate."""
    found = shares(blind_logs, "printed")
    assert all((share > HIGH) == (metrics > 1) for (_, metrics, _), share in found.items())
    mean = {m: np.mean([share for key, share in found.items() if key[1] == m]) for m in (2, 3, 4)}
    assert mean == pytest.approx({2: 0.114, 3: 0.182, 4: 0.261}, abs=0.02)


def log_p_of_half_a_two_sided_test(d: np.ndarray) -> float:
    return signed_rank(d, "exact", "two-sided") - math.log(2)


def log_p_with_zeros_as_drops(d: np.ndarray) -> float:
    return signed_rank(np.where(d == 0, 0.1, d))


def log_p_with_zeros_in_the_null(d: np.ndarray) -> float:
    n = d.size
    mean, variance = n * (n + 1) / 4, n * (n + 1) * (2 * n + 1) / 24
    w = rankdata(np.abs(d[d != 0]))[d[d != 0] > 0].sum()
    return min(float(norm.logsf((w - mean) / math.sqrt(variance))), 0.0)


def log_p_with_ties_broken_upwards(d: np.ndarray) -> float:
    return signed_rank(np.where(d > 0, d + 0.1, d))


@pytest.mark.slow
def test_faults_in_the_test_leave_the_band() -> None:
    faults = {name: test for name, test in globals().items() if name.startswith("log_p_")}
    assert len(faults) == 4
    found = {name: CALIBRATION.noticed(logs, 1, "hmp") for name, logs in blind(1, 0.0, **faults).items()}
    assert {name: share.mean() for name, share in found.items() if LOW <= share.mean() <= HIGH} == {}


@pytest.mark.slow
@pytest.mark.parametrize(("statistics", "holds"), [("default", True), ("paper", False)])
def test_a_blind_judge_through_the_whole_benchmark(statistics: str, holds: bool) -> None:
    passed = CALIBRATION.blind_pipeline("mini/story_cloze", 60, statistics)
    margin = CALIBRATION.error(passed)
    assert (passed.mean() - margin <= 0.05) == holds
    assert (passed.mean(axis=0).max() <= CALIBRATION.band(60, passed.shape[1])[1]) == holds


PERTURBERS = (
    "random_deletions",
    "random_typos",
    "fictional_named_entities",
    "grammatical_errors",
    "reordering",
    "rewriting_insertion",
)


@pytest.mark.slow
@pytest.mark.parametrize("perturber", PERTURBERS)
def test_exactly_the_planted_sensitivity_is_found(perturber: str) -> None:
    (result,) = dhp.run(f"mock/blind?{perturber}=1", "mini/summeval")
    assert {v.variant for v in result.variants if v.d >= 1} == {f"{perturber}.minor", f"{perturber}.major"}
    assert result.d_min == 0
    assert not result.d_min_variant.startswith(perturber)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_it_is_found_among_noise(seed: int) -> None:
    """Some of the ten others pass D = 1 by chance; none of them is noticed."""
    judge = "mock/blind?noise=1&step=0.5&reordering=1.5"
    (result,) = dhp.run(judge, "mini/summeval", seed=seed)
    found = {v.variant for v in result.variants if v.verdict == "noticed"}
    assert found == {"reordering.minor", "reordering.major"}


@pytest.mark.slow
def test_a_judge_that_prefers_damage_notices_nothing() -> None:
    (result,) = dhp.run("mock/ideal?sensitivity=-1", "mini/summeval")
    assert max(v.d for v in result.variants) < 0.01
    assert {v.verdict for v in result.variants} == {"preferred"}


def lowers(expected: bool, task: str) -> ByRule:
    """Lowers one metric of each damaged text: the one that experts expect most, or least."""
    choose = max if expected else min

    def score(candidate: dhp.Candidate, metric: str) -> int:
        row = read_weights("design").row(task, parse_variant(candidate.variant).perturber)
        return 3 if row and metric == choose(row, key=lambda name: row[name]) else 4

    return ByRule(score, f"own/{'expected' if expected else 'confused'}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dataset", "task"),
    [
        ("mini/summeval", "summarization"),
        ("mini/story_cloze", "story_completion"),
        ("mini/wmt22_zhen", "translation"),
    ],
)
def test_planted_confusion_is_found(dataset: str, task: str) -> None:
    judges = [lowers(True, task), lowers(False, task)]
    right, wrong = dhp.run(judges, dataset, analysis=dhp.AnalysisConfig(weights="design"))
    for seen, confused in zip(right.variants, wrong.variants, strict=True):
        assert seen.d == pytest.approx(confused.d)
        assert min(seen.d, confused.d) >= 1
        assert confused.d_ew < confused.d
        assert seen.d_ew >= seen.d
        assert seen.misplaced <= 0.6 <= confused.misplaced
    assert wrong.d_avg_ew < wrong.d_avg < right.d_avg_ew


@pytest.mark.slow
def test_a_judge_that_lowers_whatever_changed_is_flagged_by_the_controls() -> None:
    (found,) = dhp.run("mock/ideal?harmless=1", "mini/summeval", controls=True)
    assert found.d_min >= 1
    states = {row.variant: row.verdict for row in found.controls}
    assert states == {"identity": "still", "harmless": "false alarm"}


@pytest.mark.slow
def test_a_judge_that_lowers_the_same_text_again_is_flagged_too() -> None:
    (found,) = dhp.run("mock/blind?identity=1&harmless=1", "mini/summeval", controls=True)
    assert {row.verdict for row in found.controls} == {"false alarm"}
    assert found.d_avg == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_judge_that_sees_damage_only_is_not_flagged(seed: int) -> None:
    (found,) = dhp.run("mock/noisy?samples=5", "mini/summeval", controls=True, seed=seed)
    assert found.d_avg > 1
    assert "false alarm" not in {row.verdict for row in found.controls}
