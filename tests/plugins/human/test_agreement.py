"""Tables in, agreement out: alignment, several judges, raters, and what cannot be computed in one line."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from dhp.core.errors import InputError
from dhp.plugins.human.agreement import correlate
from dhp.plugins.human.correlation import Coefficient, Correlation, correlations
from tests.plugins.human.tables import table

RNG = np.random.default_rng(0)
HUMAN = RNG.normal(size=(12, 5)).round(2)
GOOD, BAD = (HUMAN + RNG.normal(0, s, HUMAN.shape) for s in (0.5, 3.0))


def test_two_judges_with_samples(tmp_path: Path) -> None:
    noise = RNG.normal(0, 0.5, (2, *GOOD.shape))
    samples = [table(GOOD + noise[k], sample=k, model="good") for k in range(2)]
    ratings = pd.concat([*samples, table(BAD, sample=0, model="bad")])
    file = tmp_path / "ratings.parquet"
    ratings.to_parquet(file)
    shuffled = table(HUMAN).sample(frac=1, random_state=1)
    found = correlate(file, shuffled, resamples=99)
    assert [j.judge for j in found.judges] == ["good", "bad"]
    (metric,) = found.judges[0].metrics
    pooled = next(c for c in metric.correlations if (c.level, c.coefficient) == ("pooled", "pearson"))
    mean = GOOD + noise.mean(axis=0)
    assert pooled.value == pytest.approx(stats.pearsonr(HUMAN.ravel(), mean.ravel()).statistic)
    assert found.judges[0].mean["pooled.pearson"] == pooled.value
    (pair,) = found.pairs
    assert (pair.items, pair.swap.p_two_sided) == (60, 0.01)
    assert pair.williams.p_greater < 0.01
    assert json.loads(json.dumps(found.to_dict()))["schema"] == "dhp.agreement/2"


def test_only_shared_items_count() -> None:
    judge = table(GOOD).query("source != 's3' and system != 'm0'")
    (metric,) = correlate(judge, table(HUMAN), resamples=0).judges[0].metrics
    assert metric.items == 11 * 4


def test_failed_ratings_are_left_out() -> None:
    judge = table(GOOD)
    judge.loc[[0, 7], "score"] = None
    (metric,) = correlate(judge, table(HUMAN), resamples=0).judges[0].metrics
    assert metric.items == 58


def test_raters_are_averaged() -> None:
    raters = pd.concat([table((HUMAN + k).round(1), rater=f"r{k}") for k in range(3)])
    found = correlate(table(GOOD), raters, resamples=0)
    agreed = found.raters["fluency"]
    assert agreed.raters == 3
    (metric,) = found.judges[0].metrics
    (judge,) = correlate(table(GOOD), table(HUMAN.round(1) + 1), resamples=0).judges
    assert metric.correlations[0].value == pytest.approx(judge.metrics[0].correlations[0].value, rel=1e-12)


@pytest.mark.parametrize(
    ("ratings", "human", "message"),
    [
        (
            pd.concat([table(GOOD), table(GOOD, "length")]),
            table(HUMAN, "coherence"),
            "no metric of judge",
        ),
        (
            table(GOOD),
            table(HUMAN).assign(source="x" + table(HUMAN)["source"]),
            "no source of judge .* the judge rated e.g. 's0', people e.g. 'xs0'",
        ),
        (table(GOOD).assign(score=float("inf")), table(HUMAN), "score 'inf'"),
        (table(GOOD).drop(columns="source"), table(HUMAN), "column 'source' is missing"),
        (table(GOOD[:, :1]).drop(columns="system"), table(HUMAN), "ratings: column 'system' is missing"),
        (table(GOOD), table(HUMAN[:, :1]).drop(columns="system"), "human: column 'system' is missing"),
        (
            table(GOOD).drop(columns="system"),
            table(HUMAN),
            "row 2: duplicate row of source 's0', metric 'fluency'; a column system or sample or rater may",
        ),
        (
            table(GOOD),
            pd.concat([table(HUMAN, rater="r1"), table(HUMAN, rater="r1")]),
            "human: row 61: duplicate row of .*rater 'r1'",
        ),
    ],
)
def test_bad_tables_are_one_line(ratings: pd.DataFrame, human: pd.DataFrame, message: str) -> None:
    with pytest.raises(InputError, match=message) as failed:
        correlate(ratings, human)
    assert "\n" not in str(failed.value)


def test_constant_and_few_scores_are_undefined() -> None:
    found = correlate(table(np.full((4, 3), 2.0)), table(HUMAN[:4, :3]), resamples=9)
    assert {c.value for c in found.judges[0].metrics[0].correlations} == {None}
    assert found.judges[0].mean["system.kendall"] is None
    one_system = correlate(table(GOOD[:, :1]), table(HUMAN[:, :1]), resamples=0)
    values = {c.level: c.value for c in one_system.judges[0].metrics[0].correlations}
    assert (values["per_source"], values["system"]) == (None, None)
    assert values["pooled"] is not None


SCIPY = {
    "pearson": lambda x, y: stats.pearsonr(x, y).statistic,
    "spearman": lambda x, y: stats.spearmanr(x, y).statistic,
    "kendall": lambda x, y: stats.kendalltau(x, y).statistic,
    "kendall-c": lambda x, y: stats.kendalltau(x, y, variant="c").statistic,
}


def data(seed: int, sources: int = 9, systems: int = 6, missing: int = 5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    human = rng.integers(1, 6, (sources, systems)).astype(float)
    judge = np.round(human + rng.normal(0, 1.5, human.shape))
    judge.flat[rng.choice(judge.size, missing, replace=False)] = np.nan
    return human, judge


def one(human: np.ndarray, judge: np.ndarray, level: str, coefficient: str, **more: object) -> Correlation:
    (found,) = correlations(human, judge, coefficients=[coefficient], levels=[level], **more)  # type: ignore[list-item, arg-type]
    return found


@pytest.mark.parametrize("coefficient", SCIPY)
@pytest.mark.parametrize("seed", range(3))
def test_point_estimates_equal_scipy(coefficient: Coefficient, seed: int) -> None:
    human, judge = data(seed)
    f = SCIPY[coefficient]
    there = ~np.isnan(judge)
    within = [f(h[t], j[t]) for h, j, t in zip(human, judge, there, strict=True)]
    pooled = f(human[there], judge[there])
    means = [np.nanmean(np.where(there, v, np.nan), axis=0) for v in (human, judge)]
    expected = {"per_source": np.mean(within), "pooled": pooled, "system": f(*means)}
    for level, value in expected.items():
        assert one(human, judge, level, coefficient).value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
def test_a_resample_is_the_correlation_of_the_drawn_sources(coefficient: Coefficient) -> None:
    human, judge = data(1, missing=0)
    counts = np.random.default_rng(5).multinomial(len(human), np.full(len(human), 1 / len(human)), size=2)
    drawn = [np.repeat(np.arange(len(human)), c) for c in counts]
    for level in ("pooled", "system"):
        values = []
        for rows in drawn:
            sides = [v[rows].ravel() if level == "pooled" else v[rows].mean(axis=0) for v in (human, judge)]
            values.append(SCIPY[coefficient](*sides))
        found = one(human, judge, level, coefficient, resamples=2, rng=np.random.default_rng(5))
        assert found.ci == pytest.approx(np.quantile(values, [0.025, 0.975]), abs=1e-12)


def test_constant_sources_are_left_out_and_counted() -> None:
    human, judge = data(2, missing=0)
    judge[3] = 4.0
    kept = np.delete(np.arange(len(human)), 3)
    expected = np.mean([stats.pearsonr(human[i], judge[i]).statistic for i in kept])
    found = one(human, judge, "per_source", "pearson")
    assert (found.n, found.left_out) == (8, 1)
    assert found.value == pytest.approx(expected)


def test_pooled_rests_on_items_however_many_share_their_scores() -> None:
    human, judge = data(3, sources=40, systems=25, missing=5)
    assert len(np.unique(human)) * len(np.unique(judge)) < 100
    assert one(human, judge, "pooled", "pearson").n == 40 * 25 - 5


@pytest.mark.parametrize("level", ["per_source", "pooled", "system"])
def test_what_cannot_be_correlated_is_undefined(level: str) -> None:
    human, _ = data(0, missing=0)
    for judge in (np.full(human.shape, 3.0), np.full(human.shape, 0.1)):
        for coefficient in SCIPY:
            found = one(human, judge, level, coefficient)
            assert (found.value, found.ci) == (None, None)
    two_points = one(human[:1, :2], human[:1, :2] * 2, level, "pearson")
    assert two_points.value is None


@pytest.mark.slow
@given(arrays(float, (4, 5), elements=st.integers(0, 4)), arrays(float, (4, 5), elements=st.integers(0, 4)))
def test_swapping_and_rescaling_change_nothing(human: np.ndarray, judge: np.ndarray) -> None:
    for found, other in zip(correlations(human, judge), correlations(2 * judge + 1, human), strict=True):
        assert found.value == pytest.approx(other.value, abs=1e-9)
        if found.value is not None:
            assert -1 <= found.value <= 1
