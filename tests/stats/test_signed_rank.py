"""The Wilcoxon test against scipy, exact enumeration, hand-worked tables."""

import itertools
import math
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from dhp.stats import wilcoxon
from dhp.stats.wilcoxon import Alternative, exact_log_tail, flip_log_tail, signed_rank, tilted_log_tail

ALTERNATIVES: tuple[Alternative, ...] = get_args(Alternative)
small = st.lists(st.integers(-4, 4), min_size=1, max_size=11).filter(any)


def p_of(*given: object, **settings: object) -> float:
    return math.exp(signed_rank(*given, **settings))  # type: ignore[arg-type]


def enumerated_p(differences: list[int]) -> float:
    """P(W+ >= observed) over all sign patterns of the non-zero differences; 1 where there is none."""
    nonzero = [d for d in differences if d]
    ranks = scipy_stats.rankdata(np.abs(nonzero))
    observed = sum(r for r, d in zip(ranks, nonzero, strict=True) if d > 0)
    patterns = itertools.product((0, 1), repeat=len(nonzero))
    return float(np.mean([np.dot(signs, ranks) >= observed - 1e-9 for signs in patterns]))


@given(small)
def test_default_equals_enumeration_of_all_sign_patterns(differences: list[int]) -> None:
    assert p_of(differences) == pytest.approx(enumerated_p(differences), rel=1e-12)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=11))
def test_two_sided_is_twice_the_smaller_enumerated_tail(differences: list[int]) -> None:
    tails = enumerated_p(differences), enumerated_p([-d for d in differences])
    assert p_of(differences, alternative="two-sided") == pytest.approx(min(1, 2 * min(tails)), rel=1e-12)


@pytest.mark.slow
@given(
    st.lists(st.integers(-6, 9), min_size=1, max_size=8)  # scipy permutes up to 13 of them slowly
    | st.lists(st.integers(-6, 9), min_size=14, max_size=120)
    | st.lists(st.floats(-5, 5).filter(lambda x: x == 0 or abs(x) > 1e-3), min_size=14, max_size=120)
)
def test_paper_equals_scipy_at_its_defaults(differences: list[float]) -> None:
    if not any(differences):
        return
    for alternative in ALTERNATIVES:
        expected = scipy_stats.wilcoxon(np.array(differences, dtype=float), alternative=alternative).pvalue
        assert p_of(differences, "scipy", alternative) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("zeros", [0, 1, 20])
@pytest.mark.parametrize("n", [5, 13, 14, 49, 50, 51])
def test_paper_follows_scipys_choice_of_method_with_zeros_counted(n: int, zeros: int) -> None:
    differences = np.concatenate(
        [np.arange(1, n + 1) * np.where(np.arange(n) % 3, 1.0, -1.0), np.zeros(zeros)]
    )
    for alternative in ALTERNATIVES:
        expected = scipy_stats.wilcoxon(differences, alternative=alternative).pvalue
        assert p_of(differences, "scipy", alternative) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "differences",
    [
        np.append(np.arange(2.0, 31), -1),  # all differ: exact
        np.repeat([1.0, -2, 3], 10),  # all tied: approximated
        np.array([0.0, 1, -1, 2, 2, 3]),  # so few that all signs are tried
        np.append(np.ones(2000), -np.ones(3)),  # far out in the tail
    ],
)
def test_paper_equals_scipy_with_and_without_ties(differences: np.ndarray) -> None:
    truth = scipy_stats.wilcoxon(differences, alternative="greater").pvalue
    assert p_of(differences, "scipy") == pytest.approx(truth, rel=1e-12)


# One-sided critical values of the smaller rank sum as printed in textbook tables: (n, alpha, T).
TABLE = [
    (5, 0.05, 0),
    (6, 0.05, 2),
    (8, 0.05, 5),
    (10, 0.05, 10),
    (12, 0.05, 17),
    (15, 0.05, 30),
    (20, 0.05, 60),
]
TABLE += [(25, 0.05, 100), (30, 0.05, 151), (10, 0.01, 5), (15, 0.01, 19), (20, 0.01, 43), (25, 0.01, 76)]


@pytest.mark.parametrize(("n", "alpha", "critical"), TABLE)
def test_textbook_critical_values(n: int, alpha: float, critical: int) -> None:
    total = n * (n + 1) // 2
    assert p_of(differences_with(n, total - critical)) <= alpha
    assert p_of(differences_with(n, total - critical - 1)) > alpha


def differences_with(n: int, w: int) -> list[int]:
    """1..n with signs such that the positive ones sum to w."""
    signs = [-1] * n
    for rank in range(n, 0, -1):
        if w >= rank:
            signs[rank - 1], w = 1, w - rank
    return [rank * sign for rank, sign in zip(range(1, n + 1), signs, strict=True)]


def test_three_drops_among_a_hundred_are_not_significant() -> None:
    differences = [1.0] * 3 + [0.0] * 97
    assert p_of(differences) == pytest.approx(0.125)
    assert p_of(differences, "scipy") == pytest.approx(0.0416, abs=1e-4)


def test_direction() -> None:
    drops = np.arange(1, 21)
    assert p_of(drops) == pytest.approx(2.0**-20)
    assert p_of(-drops) == 1.0


@pytest.mark.parametrize("method", ["exact", "scipy"])
@pytest.mark.parametrize("n", [20, 400])
def test_two_sided_sees_both_directions_and_stays_in_log_space(method: str, n: int) -> None:
    rises = -np.arange(1, n + 1)
    one, up, down = (
        signed_rank(d, method, side)  # type: ignore[arg-type]
        for d, side in ((-rises, "greater"), (rises, "two-sided"), (-rises, "two-sided"))
    )
    assert up == down == pytest.approx(one + math.log(2))
    assert n < 400 or up < -100


@pytest.mark.parametrize("method", ["exact", "scipy"])
@pytest.mark.parametrize("n", [1, 5, 14, 60])
def test_all_zero_is_p_one(method: str, n: int) -> None:
    for alternative in ALTERNATIVES:
        assert p_of(np.zeros(n), method, alternative) == 1.0


@pytest.mark.parametrize("bad", [[], [[1.0]], [1.0, math.nan], [math.inf]])
def test_bad_differences_are_refused(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="differences must"):
        signed_rank(bad)


@st.composite
def tied(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, int]:
    """Doubled ranks, group sizes and an attainable statistic of 201 to 320 tied differences."""
    sizes = draw(st.lists(st.integers(1, 60), min_size=1, max_size=60))
    while sum(sizes) <= 200:
        sizes.append(draw(st.integers(1, 220)))
    sizes = sizes[: next(i for i, total in enumerate(itertools.accumulate(sizes), 1) if total > 200)]
    counts = np.array(sizes)
    ranks = 2 * np.cumsum(counts) - counts + 1
    least = draw(st.sampled_from([0.3, 0.6, 0.9, 1.0]))
    positive = [draw(st.integers(round(least * size), size)) for size in sizes]
    if draw(st.booleans()):  # close to the maximum, where the tilted distribution is far from normal
        positive[0] = max(0, positive[0] - draw(st.integers(0, 3)))
    return ranks, counts, int(ranks @ np.array(positive))


@given(tied())
def test_beyond_200_the_inversion_agrees_with_enumeration(case: tuple[np.ndarray, np.ndarray, int]) -> None:
    ranks, sizes, w = case
    assert math.expm1(tilted_log_tail(ranks, sizes, w) - exact_log_tail(ranks, sizes, w)) == pytest.approx(
        0, abs=1e-4
    )


@given(tied(), st.integers(1, 10**9), st.sampled_from([1, 15, 400]))
def test_no_sum_lies_above_the_largest(
    case: tuple[np.ndarray, np.ndarray, int], beyond: int, groups: int
) -> None:
    ranks, sizes = case[0][:groups], np.minimum(case[1], 400 if groups > 15 else 1)[:groups]
    largest = int(ranks @ sizes)
    for tail in (exact_log_tail, flip_log_tail, tilted_log_tail):
        assert tail(ranks, sizes, largest) == pytest.approx(-sizes.sum() * math.log(2)), tail.__name__
        assert tail(ranks, sizes, largest + beyond) == -math.inf, tail.__name__


@pytest.mark.parametrize(
    "kind",
    [
        "likert",
        "one dominant tie",
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("no ties", "means of five")),
    ],
)
def test_inversion_on_realistic_scores(kind: str) -> None:
    rng = np.random.default_rng(3)
    for n in (201, 400):
        size = {
            "no ties": rng.permutation(n) + 1,
            "means of five": rng.integers(1, 21, n),
            "likert": rng.integers(1, 4, n),
            "one dominant tie": np.where(rng.random(n) < 0.95, 1, 2 + rng.permutation(n)),
        }[kind]
        for share in (0.5, 0.6, 0.8, 0.99):
            d = size * np.where(rng.random(n) < share, 1, -1)
            _, group, counts = np.unique(np.abs(d), return_inverse=True, return_counts=True)
            ranks = 2 * np.cumsum(counts) - counts + 1
            w = int(ranks[group][d > 0].sum())
            assert tilted_log_tail(ranks, counts, w) == pytest.approx(
                exact_log_tail(ranks, counts, w), abs=1e-6
            )


@pytest.mark.parametrize("negative", [0, 1, 2, 3, 10])
@pytest.mark.parametrize("kind", ["distinct", "triples", "pairs first"])
def test_a_nearly_perfect_judge_on_many_examples(kind: str, negative: int) -> None:
    size = {
        "distinct": np.arange(1, 303),
        "triples": np.repeat(np.arange(1, 102), 3)[:302],
        "pairs first": np.maximum(np.arange(302), 1),
    }[kind]
    d = size * np.where(np.arange(302) < negative, -1, 1)
    _, group, counts = np.unique(size, return_inverse=True, return_counts=True)
    ranks = 2 * np.cumsum(counts) - counts + 1
    w = int(ranks[group][d > 0].sum())
    # Few patterns reach W+ that high: count those whose negative ranks sum to at most what is missing.
    missing = int(ranks @ counts) - w
    patterns = [1] + [0] * missing
    for rank in ranks[group].tolist():
        for total in range(missing, rank - 1, -1):
            patterns[total] += patterns[total - rank]
    assert signed_rank(d) == pytest.approx(math.log(sum(patterns)) - 302 * math.log(2), abs=1e-9)


def test_far_tail_never_underflows() -> None:
    assert signed_rank(np.arange(1, 5001)) == pytest.approx(-5000 * math.log(2))
    assert signed_rank(np.arange(1, 5001), "scipy") < -1000


@given(small, st.integers(1, 5))
def test_scale_and_order_do_not_matter(differences: list[int], factor: int) -> None:
    reference = signed_rank(differences)
    assert signed_rank([d * factor for d in reversed(differences)]) == pytest.approx(reference, rel=1e-12)


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
@pytest.mark.parametrize("method", ["exact", "sign-flip"])
def test_clusters_flip_together_by_enumeration(method: str, alternative: str) -> None:
    generator = np.random.default_rng(6)
    for groups in (1, 2, 7, 12):
        labels = generator.integers(0, groups, 24) * 5
        d = np.round(generator.normal(0.6, 1.2, 24)) / 2
        moved = d != 0
        size = scipy_stats.rankdata(np.abs(d[moved])) if method == "exact" else np.abs(d[moved])
        shares = [(np.sign(d[moved]) * size)[labels[moved] == one].sum() for one in np.unique(labels)]
        flips = np.array(list(itertools.product((1, -1), repeat=len(shares)))) @ shares
        seen = sum(shares)
        more = flips >= seen - 1e-9 if alternative == "greater" else np.abs(flips) >= abs(seen) - 1e-9
        assert p_of(d, method, alternative, labels) == pytest.approx(more.mean(), rel=1e-12)


def test_each_pair_a_cluster_is_the_plain_test() -> None:
    d = np.round(np.random.default_rng(2).normal(0.4, 1, 60), 1)
    assert signed_rank(d, clusters=np.arange(60)) == pytest.approx(signed_rank(d), rel=1e-12)


@pytest.mark.parametrize(("n", "groups"), [(5000, 20), (4000, 60), (3000, 300)])
def test_many_pairs_in_clusters_agree_with_random_flips(n: int, groups: int) -> None:
    generator = np.random.default_rng(n)
    labels = np.arange(n) % groups
    d = generator.normal(0.02, 1, n) + generator.normal(0, 0.2, groups)[labels]
    shares = np.bincount(labels, np.sign(d) * scipy_stats.rankdata(np.abs(d)))
    flips = generator.choice([-1.0, 1.0], (20_000, groups)) @ shares
    expected = float((flips >= shares.sum()).mean())
    assert 0.01 < expected < 0.99
    assert p_of(d, clusters=labels) == pytest.approx(expected, abs=0.015)


def test_clusters_that_cancel_say_nothing() -> None:
    assert p_of([1.0, -1.0, 2.0, -2.0], clusters=[0, 0, 1, 1]) == 1
    with pytest.raises(ValueError, match="clusters must be"):
        signed_rank([1.0, 2.0], clusters=[0])


@pytest.mark.slow
@pytest.mark.parametrize("shares", [(0.9, 0.1), (0.1, 0.2, 0.7), (0.4, 0.3, 0.2, 0.1), (0.9995, 0.0005)])
@pytest.mark.parametrize("z", [0.2, 4.0, 40.0])
def test_frequencies_without_weight_are_passed_over(
    shares: tuple[float, ...], z: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = np.round(9000 * np.array(shares)).astype(np.int64)
    ranks = 2 * np.cumsum(sizes) - sizes + 1
    w = int(ranks @ sizes / 2 + z * math.sqrt(float(sizes @ ranks.astype(float) ** 2)) / 2)
    used: list[int] = []
    inverted = wilcoxon._inverted

    def counted(frequency: np.ndarray, *rest: object) -> float:
        assert len(np.unique(frequency)) == len(frequency)
        used.append(len(frequency))
        return inverted(frequency, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(wilcoxon, "_inverted", counted)
    found, counts = [], []
    for many in (1 << 60, 1):
        monkeypatch.setattr(wilcoxon, "_MANY", many)
        used.clear()
        found.append(tilted_log_tail(ranks, sizes, w))
        counts.append(sum(used))
    assert found[1] == pytest.approx(found[0], rel=1e-12)
    assert counts[1] < 0.3 * counts[0]
