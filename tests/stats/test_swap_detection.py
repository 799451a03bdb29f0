"""Detection of two judges compared: brute force over all swaps as truth, the printed figures, the level."""

import math
from itertools import combinations, product

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from dhp.stats.arrays import cluster_sums
from dhp.stats.detection import averaged_kinds, detection, detection_influences
from dhp.stats.influences import Influences, difference
from dhp.stats.swap import noninferiority, swap
from dhp.stats.swap_detection import _swapped, detection_pairs

Floats = npt.NDArray[np.float64]
LEVELS = ["a", "b", "b"]


def detection_pair(
    one: Floats, other: Floats, levels: list[str], clusters: npt.NDArray[np.int64] | None = None
) -> tuple[Influences, Influences]:
    (pair,) = detection_pairs([one, other], levels, clusters)
    return pair


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def judged(n: int, drop: float, seed: int, kinds: int = 3, metrics: int = 3) -> Floats:
    return np.round(rng(seed).normal(drop, 1, (n, kinds, metrics)))


def by_hand(x: Floats, clusters: npt.NDArray[np.intp] | None) -> float:
    """Detection of one kind from (n, M): the cross-fitted value, cut to what the metrics see."""
    each = detection_influences(x).value
    value = detection(x[:, None], ["a"], clusters).seen.value[0, 0]
    return float(np.clip(value, np.nanmin(each), np.nanmax(each)))


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [None, np.array([0, 0, 1, 2, 2, 3, 4])])
def test_figures_after_a_swap_are_those_of_judges_whose_answers_were_swapped(
    clusters: npt.NDArray[np.intp] | None,
) -> None:
    """And influences are widened by as much as these figures vary more than the flipped shares do."""
    one, other = judged(7, 0.9, 1, 1)[:, 0], judged(7, 0.2, 2, 1)[:, 0]
    lacking = rng(3).random(one.shape) < 0.15
    one[lacking] = other[lacking] = math.nan
    index = np.arange(7) if clusters is None else clusters
    patterns = np.array(list(product([1, -1], repeat=int(index.max()) + 1)), dtype=np.int8)
    truth = []
    for signs in patterns:
        mine = (signs[index] < 0)[:, None]
        first, second = np.where(mine, other, one), np.where(mine, one, other)
        truth.append(by_hand(first, clusters) - by_hand(second, clusters))
    assert _swapped(one, other, index, patterns) == pytest.approx(np.array(truth))
    widened = difference(*detection_pair(one[:, None], other[:, None], ["a"], clusters))
    plain = difference(*(detection(x[:, None], ["a"], clusters).seen for x in (one, other)))
    own, there = plain.influence.ravel(), plain.defined.ravel()
    flipped = (cluster_sums(own + widened.value[1] * there / there.sum(), index) ** 2).sum()
    expected = own**2 * np.mean(np.square(truth)) / flipped
    assert widened.influence[:, 1] ** 2 == pytest.approx(expected)


def test_the_figures_are_those_that_are_printed() -> None:
    x = [judged(30, drop, seed) for drop, seed in ((0.8, 1), (0.3, 2))]
    x[0][:26, 2] = x[1][:26, 2] = math.nan  # four pairs: in no average
    for each, differences in zip(detection_pair(x[0], x[1], LEVELS), x, strict=True):
        printed = detection(differences, LEVELS)
        assert each.value == pytest.approx([printed.average[0], *printed.value])


def test_the_pairs_of_several_judges_are_those_of_every_two() -> None:
    x = [judged(20, drop, seed) for drop, seed in ((0.8, 1), (0.3, 2), (0.5, 3))]
    for found, two in zip(detection_pairs(x, LEVELS), combinations(x, 2), strict=True):
        for each, alone in zip(found, detection_pair(*two, LEVELS), strict=True):
            assert (each.value == alone.value).all()
            assert (each.influence == alone.influence).all()


def test_one_metric_needs_no_widening() -> None:
    x, y = judged(20, 0.8, 1, metrics=1), judged(20, 0.3, 2, metrics=1)
    found, _ = detection_pair(x, y, LEVELS)
    plain = averaged_kinds(detection(x, LEVELS).seen, LEVELS, np.ones(3, bool), each=True)
    assert (found.influence == plain.influence).all()


def test_the_same_judge_twice_and_judges_turned_round() -> None:
    x, y = judged(20, 0.8, 1), judged(20, 0.3, 2)
    same = detection_pair(x, x, LEVELS)
    assert difference(*same).value.tolist() == [0] * 4
    assert np.isfinite(same[0].influence).all()
    (one, other), (second, first) = detection_pair(x, y, LEVELS), detection_pair(y, x, LEVELS)
    assert one.influence == pytest.approx(first.influence)
    assert other.influence == pytest.approx(second.influence)


def test_a_judge_must_lack_what_the_other_lacks() -> None:
    x, y = judged(20, 0.8, 1), judged(20, 0.3, 2)
    y[0, 0, 0] = math.nan
    with pytest.raises(ValueError, match="NaN in the same places"):
        detection_pair(x, y, LEVELS)


@pytest.mark.slow
def test_equal_judges_are_told_apart_and_lose_in_five_per_cent() -> None:
    """Four metrics that see equally much, of which each judge has its best: what widening is for.

    Without it 8 % are told apart. A loss of the margin, where there is just that much, is ruled out in 5 %.
    """
    runs, told, ruled_out = 400, 0, 0
    many = rng(0).normal(0, 0.8, (60_000, 1, 1))
    truth = [float(detection_influences(sample(60_000, d, rng(1), many)).value.mean()) for d in (0.3, 0.45)]
    for seed in range(runs):
        random = rng(seed + 2)
        shared = random.normal(0, 0.8, (100, 1, 1))
        same = [sample(100, 0.3, random, shared) for _ in range(2)]
        told += swap(*detection_pair(*same, ["a"] * 4), random, resamples=499).p[0] <= 0.05
        new, old = sample(100, 0.3, random, shared), sample(100, 0.45, random, shared)
        test = noninferiority(
            *detection_pair(new, old, ["a"] * 4), truth[1] - truth[0], random, resamples=499
        )
        ruled_out += test.p_noninferior[0] <= 0.05
    assert stats.binomtest(told, runs, 0.05).pvalue > 0.001
    assert stats.binomtest(ruled_out, runs, 0.05).pvalue > 0.001


def sample(n: int, drop: float, random: np.random.Generator, shared: Floats | float = 0.0) -> Floats:
    return np.round(drop + shared + random.normal(0, 0.8, (n, 4, 1)) + random.normal(0, 0.8, (n, 4, 4)))
