"""Intervals of the figures of a result: what they cover, and where there are none."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dhp
from dhp.core.errors import InputError

JUDGE = "mock/noisy?sensitivity=0.5"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run") / "r"
    dhp.run(JUDGE, "mini/summeval", controls=True, out=path)
    return path


def test_every_figure_has_its_interval(folder: Path) -> None:
    result = json.loads((folder / "results.json").read_text())
    averages = ("d_avg", "d_min", "effect_avg")
    assert set(result["ci"]) == {name + end for name in averages for end in ("", "_ew")}
    for name, (low, high) in result["ci"].items():
        assert low <= high
        if not name.startswith("d_min"):
            assert low <= result[name] <= high
    for row in result["variants"]:
        assert set(row["ci"]) == {"d", "d_ew", "effect", "effect_ew"}
        low, high = row["ci"]["d"]
        assert low <= row["d"] <= high
        assert -1 <= row["ci"]["effect"][0] <= row["effect"] <= row["ci"]["effect"][1] <= 1
    assert all(row["ci"] == {} for row in result["controls"])


def test_the_same_table_in_any_order_gives_the_same_intervals(folder: Path) -> None:
    table = pd.read_parquet(folder / "ratings.parquet")
    one = dhp.analyze(table, suite="summeval")
    two = dhp.analyze(table.sample(frac=1, random_state=5), suite="summeval")
    for name, ends in one.ci.items():
        assert two.ci[name] == pytest.approx(ends)
    assert one.ci == dhp.analyze(table, suite="summeval").ci


def test_more_examples_are_surer() -> None:
    widths = []
    for n in (6, 24):
        low, high = dhp.run("mock/noisy", "mini/summeval", n=n).variants[0].ci["effect"]
        widths.append(high - low)
    assert widths[1] < widths[0]


def table_of(n: int, drop: float, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for example in range(n):
        good = rng.integers(3, 6)
        rows += [
            (example, "original", good),
            (example, "worse", good - (rng.random() < drop) + (rng.random() < 0.3)),
        ]
    return pd.DataFrame(rows, columns=["example", "variant", "score"]).assign(metric="m")


@pytest.mark.slow
def test_effects_are_covered_about_as_often_as_promised() -> None:
    truth = (
        dhp.analyze(table_of(20_000, 0.7, 1), analysis=dhp.AnalysisConfig(resamples=None))
        .variants[0]
        .metrics["m"]
        .effect
    )
    covered = 0
    for seed in range(100):
        low, high = (
            dhp.analyze(table_of(60, 0.7, 100 + seed), analysis=dhp.AnalysisConfig(resamples=400))
            .variants[0]
            .ci["effect"]
        )
        covered += low <= truth <= high
    assert 88 <= covered <= 100


def test_where_there_is_nothing_to_resample_there_is_no_interval() -> None:
    single = dhp.analyze(table_of(1, 1.0, 3))
    assert single.ci["d_avg"] is None
    assert single.variants[0].ci["d"] is None
    assert dhp.analyze(table_of(9, 1.0, 3), analysis=dhp.AnalysisConfig(resamples=None)).ci == {}
    dosed = dhp.run("mock/ideal", "mini/summeval", n=6, doses=(1, 5))
    assert dosed.ci == {}


@pytest.mark.parametrize("resamples", [0, -3, 100_001])
def test_no_resamples_are_refused(resamples: int) -> None:
    with pytest.raises(InputError, match=f"resamples: {resamples}; allowed: 1 to 100,000"):
        dhp.run("mock/ideal", "mini/summeval", n=3, analysis=dhp.AnalysisConfig(resamples=resamples))


def test_runs_of_different_size_are_re_expressed_for_a_hundred(folder: Path) -> None:
    small = json.loads((folder / "results.json").read_text())
    assert small["n"] == 24
    assert set(small["at_100"].values()) == {None}, "nothing is said of examples that are not there"
    large = dhp.analyze(table_of(400, 0.7, 7))
    exact = dhp.analyze(table_of(100, 0.7, 8))
    assert large.at_100["d_avg"] < 0.5 * large.d_avg
    assert exact.at_100["d_avg"] == pytest.approx(exact.d_avg)


def test_few_examples_say_nothing_of_a_hundred() -> None:
    one = dhp.analyze(table_of(1, 1.0, 2))[0]
    assert set(one.at_100.values()) == {None}
    assert set(one.ci.values()) == {None}
