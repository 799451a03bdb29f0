"""What passes at a mark, against binomial tests, hand counts and published counts of recorded judges."""

import csv
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binomtest, norm, t

from dhp.stats.compare import compare_shares
from dhp.stats.pass_mark import passes, same_share, share, shares_at_mark, sweep

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
NAN = np.nan


def test_a_text_passes_by_every_metric_that_has_a_mark() -> None:
    scores = [[7, 3], [7, 2], [6, 5], [NAN, 3], [NAN, 2], [7, NAN]]
    assert passes(scores, [7, 3]).tolist()[:3] == [1, 0, 0]
    assert np.isnan(passes(scores, [7, 3])[3])
    assert passes(scores, [7, 3])[4] == 0, "one failure decides"
    assert np.isnan(passes(scores, [7, 3])[5])
    assert passes(scores, [7, NAN]).tolist()[:3] == [1, 1, 0]
    assert passes([[np.mean([3.7, 3.7, 3.7])]], [3.7]) == [1]
    with pytest.raises(ValueError, match="no metric has a mark"):
        passes(scores, [NAN, NAN])


@given(st.integers(0, 30), st.integers(0, 30))
def test_the_interval_is_clopper_and_pearsons(ones: int, zeros: int) -> None:
    outcomes = [1.0] * ones + [0.0] * zeros + [NAN] * 3
    value, *limits = share(outcomes)
    if not ones + zeros:
        assert np.isnan([value, *limits]).all()
        return
    assert value == pytest.approx(ones / (ones + zeros))
    assert limits == pytest.approx([*binomtest(ones, ones + zeros).proportion_ci(method="exact")])


def test_texts_that_repeat_each_other_count_once() -> None:
    outcomes = np.repeat([1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0], 10)
    clusters = np.repeat(np.arange(8), 10)
    size = (
        7 / (t.ppf(0.975, 7) / norm.ppf(0.975)) ** 2
    )  # G / (G - 1) takes one of eight away, and Student's t
    value, low, high = share(outcomes, clusters)
    assert value == 0.625
    assert low == pytest.approx(beta.ppf(0.025, 0.625 * size, 0.375 * size + 1), abs=0.01)
    assert high == pytest.approx(beta.ppf(0.975, 0.625 * size + 1, 0.375 * size), abs=0.01)
    _, plain_low, plain_high = share(outcomes)
    assert high - low > 2 * (plain_high - plain_low)


def test_of_texts_that_are_clusters_of_their_own_nothing_changes() -> None:
    outcomes = np.repeat([1.0, 0.0], [3, 20])
    assert share(outcomes, np.arange(23)) == pytest.approx(share(outcomes))


def test_of_one_cluster_nothing_is_known() -> None:
    assert share(np.ones(5), np.zeros(5, int)) == (1, 0, 1)


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "size", "same"), [(100, 1, 0.0), (30, 4, 0.5), (60, 5, 0.9)])
def test_the_interval_of_clusters_covers(groups: int, size: int, same: float) -> None:
    rng = np.random.default_rng(7)
    clusters = np.repeat(np.arange(groups), size)
    for truth in (0.05, 0.3, 0.5):
        covered = 0
        for _ in range(600):
            shared = rng.random((groups, size)) < same
            own, common = rng.random((groups, size)) < truth, rng.random((groups, 1)) < truth
            _, low, high = share(np.where(shared, common, own).ravel().astype(float), clusters)
            covered += low <= truth <= high
        assert covered / 600 >= 0.93, truth


def test_both_shares_over_marks_by_hand() -> None:
    original = np.array([[9.0], [8], [8], [5], [NAN]])
    degraded = np.array([[[7.0], [2]], [[8], [2]], [[3], [NAN]], [[5], [1]], [[6], [2]]])
    passing, _, best, elsewhere = sweep(original, degraded, [1, 5, 8, 10], np.random.default_rng(0))
    assert passing[:, 0].tolist() == [1, 1, 0.75, 0]
    assert passing[:, 1:].tolist() == [[1, 1], [0.8, 0], [0.2, 0], [0, 0]]
    assert best == 2  # 0.1 + 0.25 against 0.4
    assert all(0 <= each <= 1 for each in elsewhere)
    assert np.isnan(sweep(original[:3], degraded[:3], [5], np.random.default_rng(0))[3]).all()


@pytest.mark.slow
def test_a_mark_that_was_chosen_does_worse_on_other_texts() -> None:
    rng = np.random.default_rng(5)
    inside, other = [], []
    for _ in range(60):
        original, degraded = rng.normal(size=(16, 1)), rng.normal(-0.3, size=(16, 1, 1))
        passing, _, best, elsewhere = sweep(original, degraded, np.linspace(-2, 2, 41).tolist(), rng)
        inside.append(passing[best, 1] + 1 - passing[best, 0])
        other.append(sum(elsewhere))
    fresh = rng.normal(size=100_000), rng.normal(-0.3, size=100_000)
    least = min((fresh[1] >= m).mean() + (fresh[0] < m).mean() for m in np.linspace(-2, 2, 41))
    assert np.mean(inside) < least - 0.1, "the chosen mark flatters"
    assert np.mean(other) == pytest.approx(least, abs=0.12)


@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(10, 100)), min_size=1, max_size=40), st.integers(1, 6)
)
def test_the_same_share_passes_at_the_mark_of_another_scale(pairs: list[tuple[int, int]], mark: int) -> None:
    old, new = np.array(pairs, dtype=float).T
    found = same_share(old, mark, new)
    wanted = (old >= mark).mean()
    gap = abs((new >= found).mean() - wanted)
    assert all(gap <= abs((new >= other).mean() - wanted) + 1e-12 for other in new)
    assert same_share(old, mark, old * 10 + 3) == pytest.approx(
        10 * min((o for o in old if o >= mark), default=max(old)) + 3
    )


def test_without_a_text_of_both_there_is_no_mark() -> None:
    assert np.isnan(same_share([NAN, 1], 1, [2, NAN]))


@pytest.mark.realdata
@pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data")
def test_recorded_judges_let_pass_what_was_counted() -> None:
    """Counts of others: damaged answers of which 6 or more was scored, by ten judges; a production judge."""
    expected = [0.333, 0.976, 0.952, 0.881, 0.786, 0.762, 0.571, 0.810, 0.845, 0.952]
    scores: dict[str, list[float]] = defaultdict(list)
    with (DATA / "blind_spot" / "scores.csv").open() as file:
        for row in csv.DictReader(file):
            if row["condition"] == "plain" and row["variant"] in ("subtle", "obvious") and row["score"]:
                scores[row["judge"]].append(float(row["score"]))
    found = sorted(1 - share(passes(np.array(each)[:, None], [6]))[0] for each in scores.values())
    assert found == pytest.approx(sorted(expected), abs=6e-4)
    for name in ("specific", "vague"):
        published = json.loads((DATA / "locomo_judge" / f"{name}.json").read_text())
        rows = published["detailed_results"].values()
        votes = [vote for of in rows for each in of for vote in each["llm_judgments"].values()]
        questions = np.repeat(np.arange(len(votes) // 3), 3)
        value, low, high = share(passes(np.array(votes, dtype=float)[:, None], [1]), questions)
        assert value == pytest.approx(published["accuracy"], abs=1e-3)
        assert low < published["accuracy"] < high


def test_shares_at_a_mark_by_hand() -> None:
    """Two kinds of one level and one of another: the mean over levels; what is NaN has no part."""
    passing = [[1, 0, 1], [1, 1, 0], [0, NAN, 0], [1, 0, 0]]
    damaged, good = shares_at_mark([0, 1, NAN, 0], passing, ["a", "a", "b"])
    assert damaged.value[0] == pytest.approx(((3 / 4 + 1 / 3) / 2 + 1 / 4) / 2)
    assert good.value[0] == pytest.approx(1 / 3)
    assert damaged.influence.sum() == pytest.approx(0)
    nothing = shares_at_mark([NAN, NAN], [[NAN], [NAN]], ["a"])
    assert np.isnan([each.value[0] for each in nothing]).all()


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=4, max_size=10))
def test_two_judges_differ_at_a_mark_by_mcnemars_exact_test(pairs: list[tuple[bool, bool]]) -> None:
    outcomes = np.array(pairs, dtype=float)
    judges = [shares_at_mark(column, column[:, None], ["all"]) for column in outcomes.T]
    first, second = (
        int(((outcomes == [1, 0]) if way else (outcomes == [0, 1])).all(axis=1).sum()) for way in (1, 0)
    )
    expected = binomtest(first, first + second).pvalue if first + second else 1.0
    for share_of_judges in zip(*judges, strict=True):
        (pair,) = compare_shares(share_of_judges, np.random.default_rng(0), resamples=2000).pairs
        assert pair.p == pytest.approx(expected)
        assert pair.difference == pytest.approx((second - first) / len(pairs))
        assert pair.low <= pair.difference <= pair.high
