"""How sure and how right, by hand; intervals and the order of asking against planted truths."""

import numpy as np
import pytest

from dhp.stats.asking import asked_curve
from dhp.stats.certainty import diagram, sureness


def test_sureness_by_hand() -> None:
    """The first of two: original .9 passes (right), copies .8 passes (wrong), .2 fails (right).

    The second: original .4 fails (wrong, .6 sure), one copy .3 fails (right, .7 sure).
    """
    good, bad = [0.9, 0.4], [[0.8, 0.2], [0.3, np.nan]]
    found = sureness(good, bad, [1, 0], [[1, 0], [0, np.nan]])
    assert found is not None
    assert found.n == 2
    assert found.sure == pytest.approx(((0.9 + 0.8) / 2 + (0.6 + 0.7) / 2) / 2)
    assert found.right == pytest.approx(((1 + 0.5) / 2 + (0 + 1) / 2) / 2)
    brier = ((0.01 + (0.64 + 0.04) / 2) / 2 + (0.36 + 0.09) / 2) / 2
    assert found.brier == pytest.approx(brier)
    differences = np.array([0.85 - 0.75, 0.65 - 0.5])
    squares = ((differences - differences.mean()) ** 2).sum() + 0.1
    reach = 12.7062 * np.sqrt(squares * 2 / (2 - 1)) / 2  # Student's t with one degree, from a table
    assert (found.low, found.high) == pytest.approx(
        (differences.mean() - reach, differences.mean() + reach), rel=1e-4
    )


def test_the_number_of_copies_makes_an_honest_judge_no_less_honest() -> None:
    """One original beside twelve copies: a judge that says .7 where 70 % are good, half and half."""
    rng = np.random.default_rng(0)
    n = 40_000
    good = rng.choice([0.7, 0.3], n, p=[0.7, 0.3])
    bad = rng.choice([0.7, 0.3], (n, 12), p=[0.3, 0.7])
    found = sureness(good, bad, good > 0.5, bad > 0.5)
    assert found is not None
    assert found.sure == pytest.approx(0.7)
    assert found.sure - found.right == pytest.approx(0, abs=0.006)
    assert all(each.low <= each.good <= each.high for each in diagram(good, bad))


@pytest.mark.parametrize("clusters", [None, np.repeat(np.arange(20), 3)])
def test_the_interval_holds_the_truth(clusters: "np.ndarray | None") -> None:
    rng, held = np.random.default_rng(1), 0
    for _ in range(200):
        shift = 0.0 if clusters is None else rng.normal(0, 0.1, 20)[clusters]
        good = (rng.random(60) + shift < 0.7).astype(float)
        bad = (rng.random((60, 4)) < 0.3).astype(float)
        found = sureness(np.where(good == 1, 0.9, 0.1), np.where(bad == 1, 0.9, 0.1), good, bad, clusters)
        assert found is not None
        held += found.low <= 0.2 <= found.high  # says 90 %, is right in 70 %
    assert 0.90 <= held / 200 <= 0.99


def test_one_example_or_one_cluster_has_no_interval() -> None:
    assert sureness([0.9], [[0.2]], [1], [[0]]) is None
    assert sureness([0.9, 0.8], [[0.2], [0.1]], [1, 1], [[0], [0]], clusters=[4, 4]) is None


def planted(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Distances and verdicts of a judge that errs only near the mark."""
    score = np.where(np.arange(4) == 0, 1.0, -1.0) + rng.normal(0, 0.9, (n, 4))
    return np.abs(score), (score >= 0).astype(float)


@pytest.mark.slow
def test_the_nearest_to_the_mark_go_first_and_the_share_is_kept() -> None:
    near, passes = planted(400, np.random.default_rng(2))
    rows = asked_curve(near, passes, [0, 0.1, 0.2, 0.5, 1], np.random.default_rng(3))
    assert rows[0].passing == pytest.approx(passes[:, 1:].mean())
    assert rows[0].failing == pytest.approx(1 - passes[:, 0].mean())
    assert [row.passing for row in rows] == sorted((row.passing for row in rows), reverse=True)
    assert rows[-1].passing == pytest.approx(0, abs=1e-3)
    for row in rows:
        assert (row.good + row.damaged) / 2 == pytest.approx(row.share, abs=0.03)
    assert rows[2].gain[1] > 0
    assert rows[2].passing_ci[0] <= rows[2].passing <= rows[2].passing_ci[1]


@pytest.mark.slow
def test_an_order_that_knows_nothing_gains_nothing() -> None:
    rng = np.random.default_rng(4)
    _, passes = planted(400, rng)
    (row,) = asked_curve(rng.random(passes.shape), passes, [0.2], rng)
    assert row.gain[1] < 0 < row.gain[2]
    (alike,) = asked_curve(np.ones(passes.shape), passes, [0.2], rng)
    assert alike.gain[0] == pytest.approx(0, abs=0.01), "of equal distances a share is drawn by lot"


@pytest.mark.slow
def test_only_passing_texts_are_asked_about_where_nothing_else_can_get_through() -> None:
    near, passes = planted(400, np.random.default_rng(5))
    (all_,) = asked_curve(near, passes, [0.2], np.random.default_rng(6))
    (only,) = asked_curve(near, passes, [0.2], np.random.default_rng(6), only_passing=True)
    assert only.passing < all_.passing
    assert only.failing == pytest.approx(1 - passes[:, 0].mean()), "no failing text is asked about"
    (everything,) = asked_curve(near, passes, [0.9], np.random.default_rng(6), only_passing=True)
    assert everything.passing == pytest.approx(0, abs=1e-9)
    assert everything.of_passing == pytest.approx(1)


def test_a_missing_original_or_no_copy_is_left_out() -> None:
    near, passes = planted(100, np.random.default_rng(7))
    more = np.vstack([near, [[np.nan, 0.1, 0.1, 0.1], [0.1, np.nan, np.nan, np.nan]]])
    more_passes = np.vstack([passes, [[np.nan, 1, 1, 1], [0, np.nan, np.nan, np.nan]]])
    (row,) = asked_curve(more, more_passes, [0], np.random.default_rng(0))
    assert row.passing == pytest.approx(passes[:, 1:].mean())
    assert row.failing == pytest.approx(1 - passes[:, 0].mean())
