"""Corrected means and shares of systems: planted truths are covered, and what cannot be corrected says so."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dhp.core.errors import InputError
from dhp.plugins.human.corrected import corrected_means, corrected_shares, prediction_powered_mean
from dhp.stats.error_rates import ErrorRates
from tests.cli.conftest import Run
from tests.plugins.human.tables import table

RNG = np.random.default_rng(5)
TRUTH = RNG.normal([3.0, 4.0], 0.7, (200, 2))
LENIENT = TRUTH + 0.8 + RNG.normal(0, 0.3, TRUTH.shape)


def test_a_lenient_judge_is_put_right_by_few_human_scores() -> None:
    human = table(TRUTH[:40])
    for j, found in enumerate(corrected_means(table(LENIENT, model="lenient"), human)):
        assert (found.system, found.texts, found.labelled) == (f"m{j}", 200, 40)
        assert found.judged == pytest.approx(LENIENT[:, j].mean())
        low, high = found.corrected.ci
        assert low < TRUTH[:, j].mean() < high < found.judged
        assert high - low < 0.8 * (found.human.ci[1] - found.human.ci[0])
        same = prediction_powered_mean(TRUTH[:40, j], LENIENT[:40, j], LENIENT[40:, j])
        assert found.corrected.value == pytest.approx(same.value)


def test_too_few_human_scores_correct_nothing() -> None:
    one, two = corrected_means(table(LENIENT[:50]), table(TRUTH[:1]))
    assert (one.labelled, one.human, one.corrected) == (1, None, None)
    (full, _) = corrected_means(table(LENIENT[:9]), table(TRUTH[:9]))
    assert full.corrected is None
    assert full.human is not None
    assert two.texts == 50


@pytest.mark.slow
def test_shares_are_corrected_and_covered() -> None:
    """80 % of good texts pass and 30 % of bad ones: the judge says 55 % where half are good."""
    held, errors = 0, {"judge": {"fluency": ErrorRates((160, 200), (140, 200))}}
    for seed in range(30):
        rng = np.random.default_rng(seed)
        good = rng.random((300, 1)) < 0.5
        passed = np.where(good, rng.random(good.shape) < 0.8, rng.random(good.shape) < 0.3)
        rates = {"fluency": ErrorRates((rng.binomial(200, 0.8), 200), (rng.binomial(200, 0.7), 200))}
        (found,) = corrected_shares(table(passed * 5.0), 4, {"judge": rates})
        held += found.corrected.ci[0] <= 0.5 <= found.corrected.ci[1]
    assert 26 <= held <= 30
    (by_hand,) = corrected_shares(table(np.array([[5.0]] * 55 + [[1.0]] * 45)), 4, errors)
    assert by_hand.corrected.value == pytest.approx((0.55 + 0.7 - 1) / 0.5)


def test_faults() -> None:
    with pytest.raises(InputError, match=r"'judge' \(fluency\); allowed: tone"):
        corrected_means(table(LENIENT), table(TRUTH, metric="tone"))
    with pytest.raises(InputError, match="no text of judge 'judge' has a human score of 'fluency'"):
        corrected_means(table(LENIENT), table(TRUTH).assign(source=lambda t: "x" + t["source"]))
    with pytest.raises(InputError, match="no error rates of judge 'a' by fluency; the run has b: fluency"):
        corrected_shares(table(LENIENT, model="a"), 4, {"b": {"fluency": ErrorRates((1, 1), (1, 1))}})


@pytest.fixture
def ratings(tmp_path: Path) -> str:
    rows = [
        {"source": f"s{i}", "system": "m", "metric": "fluency", "score": 1 + i % 5, "model": "mock/noisy"}
        for i in range(40)
    ]
    table = pd.DataFrame(rows)
    table.to_csv(tmp_path / "ratings.csv", index=False)
    table[:20].assign(score=lambda t: t["score"] - 0.5).drop(columns="model").to_csv(
        tmp_path / "few.csv", index=False
    )
    return str(tmp_path / "ratings.csv")


def test_means_by_few_human_scores(dhp: Run, ratings: str, tmp_path: Path) -> None:
    done = dhp("correlate", "--correct", ratings, "--human", tmp_path / "few.csv")
    assert done.code == 0
    assert "prediction-powered inference (PPI++); it assumes that the texts that humans scored" in done.out
    found = json.loads(dhp("correlate", "--correct", ratings, "--human", tmp_path / "few.csv", "--json").out)
    (mean,) = found["means"]
    assert (mean["texts"], mean["labelled"], mean["judged"]) == (40, 20, 3.0)
    assert mean["corrected"]["value"] == pytest.approx(2.5)


@pytest.mark.slow
def test_a_run_gives_error_rates_and_says_how_often_a_verdict_changes(dhp: Run, ratings: str) -> None:
    judge = "mock/noisy?samples=3"
    dhp("benchmark", "--model", judge, "--dataset", "mini/summeval", "--n", "4", "--out", "run", "--quiet")
    pd.read_csv(ratings).assign(model=judge).to_csv("of_run.csv", index=False)
    options = ("--correct", "of_run.csv", "--runs", "run", "--passes", "3")
    assert "asked again, the verdict on a text changes in" in dhp("correlate", *options).out
    found = json.loads(dhp("correlate", *options, "--json").out)
    (share,), (flips,) = found["shares"], found["flips"]
    assert (share["judged"], share["texts"]) == (0.6, 40)
    scores = pd.read_parquet("run/ratings.parquet").query("metric == 'fluency'")
    means = scores.groupby(["example", "variant"])["score"].mean()
    good = means[means.index.get_level_values("variant").isin(("original", "harmless", "identity"))]
    assert share["sensitivity"] == pytest.approx((good >= 3).mean())
    passed = [part >= 3 for _, part in scores.groupby(["example", "variant"])["score"]]
    pairs = [a != b for text in passed for a, b in combinations(text, 2)]
    assert flips["value"] == pytest.approx(sum(pairs) / len(pairs))
    assert flips["n"] == len(passed)
