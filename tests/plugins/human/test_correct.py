"""`dhp correlate --correct`: a judge's means and shares with what corrects them."""

import json
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest

from tests.cli.conftest import Run


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
def test_shares_by_the_errors_of_a_run(dhp: Run, ratings: str) -> None:
    dhp(*"benchmark --model mock/noisy --dataset mini/summeval --n 6 --controls --out run --quiet".split())
    done = dhp("correlate", "--correct", ratings, "--runs", "run", "--passes", "3", "--json")
    (share,) = json.loads(done.out)["shares"]
    assert (share["judged"], share["texts"]) == (0.6, 40)
    assert 0 < share["specificity"] <= 1
    said = dhp("correlate", "--correct", ratings, "--runs", "run", "--passes", "3").out
    assert "originals and harmless edits" in said
    assert "asked again" not in said, "each text has one answer"


def test_several_answers_show_how_often_a_verdict_changes(dhp: Run, ratings: str) -> None:
    judge = "mock/noisy?samples=3"
    dhp("benchmark", "--model", judge, "--dataset", "mini/summeval", "--n", "4", "--out", "run", "--quiet")
    pd.read_csv(ratings).assign(model=judge).to_csv("of_run.csv", index=False)
    options = ("--correct", "of_run.csv", "--runs", "run", "--passes", "3")
    assert "asked again, the verdict on a text changes in" in dhp("correlate", *options).out
    (flips,) = json.loads(dhp("correlate", *options, "--json").out)["flips"]
    scores = pd.read_parquet("run/ratings.parquet").query("metric == 'fluency'")
    passed = [part >= 3 for _, part in scores.groupby(["example", "variant"])["score"]]
    pairs = [a != b for text in passed for a, b in combinations(text, 2)]
    assert flips["value"] == pytest.approx(sum(pairs) / len(pairs))
    assert flips["n"] == len(passed)
