"""Battles: what verdicts in both orders say together, and what a battle does not depend on."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.stats import binomtest

from dhp.content.catalog import read_task
from dhp.judge.factory import find_judge
from dhp.judge.judges.compared import ComparedRatings
from dhp.judge.pairs import OVERALL, Order, PairVerdict
from dhp.plugins.arena.answers import Answer
from dhp.plugins.arena.battle import Battle, run_battle
from dhp.plugins.arena.statistics import (
    PairOutcome,
    bradley_terry,
    pair_figures,
    pair_outcome,
    position_bias,
    verdicts_by_pair,
)
from dhp.stats.discernment import discernment
from tests.judge.pairwise.pairs import pair

TASK = read_task("instruction")
CHOICES = st.sampled_from([1, 0, -1, None])


def answers(name: str) -> list[Answer]:
    return [
        Answer(str(i), "odd" if i % 2 else "even", f"Question {i}?", f"{name} says {i}.") for i in range(12)
    ]


def fought(judge: str, *names: str) -> Battle:
    return run_battle(ComparedRatings(find_judge(judge)), {name: answers(name) for name in names}, TASK)


def outcomes(*choices: tuple[int | None, int | None], final: int | None = None) -> list[PairOutcome]:
    found = []
    orders: tuple[Order, Order] = ("given", "swapped")
    for number, both in enumerate(choices):
        texts = pair(str(number), "x", "y")
        for order, choice in zip(orders, both, strict=True):
            status = "scored" if choice is not None else "unparsed"
            found.append(PairVerdict(texts, OVERALL, order, 0, choice, status))  # type: ignore[arg-type]
            if final is not None:
                found.append(PairVerdict(texts, OVERALL, order, 0, final, final=True))
    return [pair_outcome(own) for own in verdicts_by_pair(found).values()]


@pytest.mark.parametrize(
    ("both", "score", "result"),
    [
        ((1, 1), 1.0, "better"),
        ((1, 0), 0.5, "better"),
        ((1, -1), 0.0, "tie"),
        ((0, 0), 0.0, "tie"),
        ((0, -1), -0.5, "worse"),
        ((None, 1), 0.5, "better"),
        ((None, 0), 0.0, "tie"),
        ((None, None), None, "invalid"),
    ],
)
def test_two_verdicts_on_a_pair(
    both: tuple[int | None, int | None], score: float | None, result: str
) -> None:
    (outcome,) = outcomes(both)
    assert (outcome.score, outcome.result) == (score, result)
    assert outcome.reason == ("unparsed" if score is None else None)


def test_a_final_word_decides_contradictions_alone() -> None:
    scores = [o.score for o in outcomes((1, -1), (1, 1), (0, -1), final=-1)]
    assert scores == [-1.0, 1.0, -0.5]
    bias = pair_figures(outcomes((1, -1), final=-1)).bias
    assert bias.share == 1.0, "position bias is that of the first verdicts"


def test_hand_worked_figures() -> None:
    figures = pair_figures(outcomes(*[(1, 1)] * 5, (-1, -1), (1, -1), (0, 0), (None, None), (None, 0)))
    assert (figures.wins, figures.losses, figures.ties, figures.invalid, figures.n) == (5, 1, 3, 1, 9)
    assert figures.win_rate.value == pytest.approx(6.5 / 9)
    assert figures.win_rate_without_ties.value == pytest.approx(5 / 6)
    assert figures.win_rate_without_ties.ci == pytest.approx(
        tuple(binomtest(5, 6).proportion_ci(method="wilson"))
    )
    assert figures.p == pytest.approx(binomtest(5, 6).pvalue)
    assert figures.d == pytest.approx(discernment(math.log(binomtest(5, 6, alternative="greater").pvalue)))
    assert (figures.bias.flips, figures.bias.n, figures.bias.toward_first) == (1, 8, 1.0)


def test_nothing_readable_is_undefined_and_no_number() -> None:
    figures = pair_figures(outcomes((None, None)))
    assert (figures.n, figures.win_rate.value, figures.d, figures.bias) == (0, None, None, None)


@pytest.mark.slow
@given(st.lists(st.tuples(CHOICES, CHOICES), min_size=1, max_size=30))
def test_the_other_way_round_the_figures_are_mirrored(both: list[tuple[int | None, int | None]]) -> None:
    one = pair_figures(outcomes(*both))
    turned = [tuple(None if c is None else -c for c in each) for each in both]
    other = pair_figures(outcomes(*turned))  # type: ignore[arg-type]
    assert (one.wins, one.losses, one.ties, one.invalid) == (
        other.losses,
        other.wins,
        other.ties,
        other.invalid,
    )
    assert one.p == pytest.approx(other.p)
    if one.win_rate.value is not None and other.win_rate.value is not None:
        assert one.win_rate.value == pytest.approx(1 - other.win_rate.value)
    if one.win_rate.ci and other.win_rate.ci:
        assert one.win_rate.ci == pytest.approx((1 - other.win_rate.ci[1], 1 - other.win_rate.ci[0]))


@pytest.mark.slow
def test_better_systems_win_and_are_stronger() -> None:
    found = fought("mock/ideal?good=0&fair=1&bad=2", "fair", "bad", "good")
    won = {(c.first, c.second): (c.figures.wins, c.figures.losses) for c in found.contests}
    assert won[("fair", "bad")][1] == won[("bad", "good")][0] == 0
    assert [s.system for s in found.strengths] == ["good", "fair", "bad"]
    assert sum(s.value for s in found.strengths) == pytest.approx(0)
    assert all(s.ci and s.ci[0] - 1e-4 <= s.value <= s.ci[1] + 1e-4 for s in found.strengths)
    assert fought("mock/ideal?good=0&bad=2", "good", "bad").strengths == []


def test_swapped_inputs_give_the_mirrored_battle() -> None:
    one, other = (fought("mock/noisy?x=1&y=2", *names).to_json()["contests"][0] for names in ("xy", "yx"))
    assert one["better"] == other["worse"]
    assert one["worse"] == other["better"]
    assert one["tie"] == other["tie"]
    assert one["mean_scores"] == other["mean_scores"][::-1]
    assert (one["p"], one["position_bias"]) == (other["p"], other["position_bias"])


def test_categories_add_up_to_the_whole() -> None:
    (contest,) = fought("mock/noisy?x=1&y=2", "x", "y").contests
    assert set(contest.by_category) == {"odd", "even"}
    for name in ("wins", "losses", "ties", "invalid"):
        total = sum(getattr(f, name) for f in contest.by_category.values())
        assert total == getattr(contest.figures, name)
    assert Counter(o.result for o in contest.outcomes)["better"] == contest.figures.wins


def test_a_judge_that_always_says_first() -> None:
    as_given, swapped = np.ones(40), -np.ones(40)
    bias = position_bias(as_given, swapped)
    assert (bias.share, bias.toward_first, bias.ci[1]) == (1, 1, 1)
    assert bias.p == pytest.approx(2 * 0.5**40)


def test_position_bias_by_hand() -> None:
    """Ten pairs, four flip, three of them toward the first."""
    bias = position_bias([1, 1, 1, -1, 1, 1, 1, -1, 0, 1], [-1, -1, -1, 1, 1, 1, 1, -1, 0, 0])
    assert (bias.flips, bias.n, bias.toward_first) == (4, 10, 0.75)
    exact = stats.binomtest(4, 10).proportion_ci(method="exact")
    assert bias.ci == pytest.approx((exact.low, exact.high))
    assert bias.p == pytest.approx(stats.binomtest(3, 4).pvalue)
    assert position_bias([np.nan], [1]) is None
    steady = position_bias([1, -1], [1, -1])
    assert (steady.share, steady.toward_first, steady.p) == (0, None, 1)


def test_strengths_maximise_the_likelihood() -> None:
    wins = np.array([[0, 7, 9, 4], [3, 0, 6, 5], [1, 4, 0, 2], [6, 5, 8, 0.0]])

    def loss(free: np.ndarray) -> float:
        s = np.concatenate([[0], free])
        return float((wins * np.logaddexp(0, s[None, :] - s[:, None])).sum())

    best = np.concatenate([[0], optimize.minimize(loss, np.zeros(3), tol=1e-12).x])
    np.testing.assert_allclose(bradley_terry(wins, prior=0), best - best.mean(), atol=1e-5)


def test_strengths_stay_finite_and_mirror() -> None:
    wins = np.array([[0, 10], [0, 0.0]])
    found = bradley_terry(wins)
    assert np.isfinite(found).all()
    assert found[0] > found[1]
    np.testing.assert_allclose(bradley_terry(wins.T), found[::-1])
