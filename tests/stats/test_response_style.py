"""Response style: distributions by hand, correlations against scipy, names against planted styles."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from dhp.stats.judge_habits import rank_correlations, spread, style_names


def test_a_distribution_by_hand() -> None:
    found = spread([[1, 2, 2], [4, np.nan, 4]])
    assert found is not None
    assert (found.mean, found.low, found.high) == (2.6, 1, 4)
    assert found.sd == pytest.approx(np.sqrt(1.8))
    assert found.histogram == {"1": 0.2, "2": 0.4, "4": 0.4}


def test_many_scores_are_binned_and_none_is_lost() -> None:
    found = spread(np.linspace(0, 100, 1001))
    assert found is not None
    assert len(found.histogram) == 20
    assert sum(found.histogram.values()) == pytest.approx(1)
    assert (found.low, found.high) == (5, 95)


@given(st.lists(st.floats(-1e9, 1e9, allow_subnormal=False), min_size=1, max_size=30))
def test_no_share_is_lost_however_close_scores_are(scores: list[float]) -> None:
    close = [100000 + score * 1e-15 for score in scores]
    for each in (scores, close):
        assert sum(spread(each).histogram.values()) == pytest.approx(1)
    assert len(spread([1.0000001, 1.0000002, 1.0000003]).histogram) == 3


def test_what_is_no_distribution() -> None:
    assert spread([np.nan]) is None
    assert spread([3.0]).sd is None
    with pytest.raises(ValueError, match="finite"):
        spread([np.inf])


def test_scores_of_any_size() -> None:
    found = spread([1e306, 3e306] * 100)
    assert found.mean == pytest.approx(2e306)
    assert found.sd == pytest.approx(1e306, rel=0.01)


@pytest.mark.parametrize(
    ("originals", "degraded", "words"),
    [
        ([4, 5, 4, 5], [1, 2, 3, 2], ()),
        ([5, 5, 5, 5], [4, 4, 4, 2], ()),
        ([5, 5, 5, 5], [4, 4, 4, 4], ("lenient", "compressed")),
        ([2, 3, 3, 4], [1, 1, 1, 1], ("harsh",)),
        ([3, 4, 4, 4], [2, 2, 3, 3], ("compressed",)),
        ([3, 3, 3, 3], [3, 3, 3, 3], ("harsh", "compressed")),
    ],
)
def test_names_by_their_figures(originals: list[int], degraded: list[int], words: tuple[str, ...]) -> None:
    assert style_names(spread(originals), spread(degraded), 1, 5) == words
    grown = [spread(25 * (np.array(side) - 1)) for side in (originals, degraded)]
    assert style_names(*grown, 0, 100) == words


def test_the_bounds_of_the_names_belong_to_them() -> None:
    assert style_names(spread([4] * 4), spread([3] * 4), 1, 4) == ("lenient", "compressed")
    assert style_names(spread([3] * 4), spread([1, 2, 2, 2]), 1, 5) == ("harsh", "compressed")


def test_correlations_are_spearmans_over_shared_rows() -> None:
    rng = np.random.default_rng(4)
    x = rng.integers(1, 6, (60, 3)).astype(float)
    x[:, 1] += x[:, 0]
    x[rng.random(x.shape) < 0.1] = np.nan
    found = rank_correlations(x)
    for i in range(3):
        for j in range(3):
            there = ~np.isnan(x[:, [i, j]]).any(axis=1)
            truth = scipy.stats.spearmanr(x[there, i], x[there, j]).statistic
            assert found[i, j] == pytest.approx(truth, abs=1e-12)


def test_an_undefined_correlation_is_no_number() -> None:
    found = rank_correlations([[1, 5, np.nan], [2, 5, np.nan], [3, 5, 1], [4, 5, 2]])
    assert np.isnan(found[0, 1])
    assert np.isnan(found[0, 2])
    assert found[0, 0] == 1
