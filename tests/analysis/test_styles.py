"""How far judges agree with each other, before and after damage."""

import numpy as np
import pandas as pd
import pytest

from dhp.analysis.ratings import RatingsArray
from dhp.analysis.split_ratings import split_ratings
from dhp.analysis.styles import shared_styles


def rated(scores: dict[tuple[str, str], list[float | None]]) -> RatingsArray:
    """(Variant, metric) -> score of each example; None is not rated."""
    rows = [
        {"example": str(e), "variant": variant, "metric": metric, "score": score}
        for (variant, metric), each in scores.items()
        for e, score in enumerate(each)
        if score is not None
    ]
    (ratings,) = split_ratings(pd.DataFrame(rows))
    return ratings


def test_judges_that_agree_on_originals_and_contradict_each_other_after_damage() -> None:
    one = rated({("original", "m"): [1, 2, 3, 4], ("a", "m"): [1, 2, 3, 4]})
    other = rated({("original", "m"): [2, 4, 6, 8], ("a", "m"): [4, 3, 2, 1]})
    found = shared_styles([one, other], ["a"])
    assert found.variants == ("original", "a")
    assert found.rho[:, 0, 1] == pytest.approx([1, -1])
    assert found.damaged[0, 1] == pytest.approx(-1)
    assert found.mean.tolist() == [[2.5, 5], [2.5, 2.5]]


def test_scores_are_means_over_metrics_and_rho_is_pearson() -> None:
    rng = np.random.default_rng(5)
    scores = rng.integers(1, 6, (2, 2, 12)).astype(float)  # judges, metrics, examples
    judges = [rated({("original", m): list(s) for m, s in zip("mk", each, strict=True)}) for each in scores]
    found = shared_styles(judges, [])
    assert found.rho[0, 0, 1] == pytest.approx(np.corrcoef(scores.mean(axis=1))[0, 1])


def test_a_text_counts_where_both_scored_it_by_all_metrics() -> None:
    one = rated({("original", "m"): [1, 2, 3, 4, 9], ("original", "k"): [1, 2, 3, 4, None]})
    other = rated({("original", "m"): [1, 2, 3, 4, 1], ("original", "k"): [1, 2, 3, 4, 1]})
    found = shared_styles([one, other], [])
    assert found.n[0].tolist() == [[4, 4], [4, 5]]
    assert found.rho[0, 0, 1] == pytest.approx(1)


def test_what_is_undefined_is_none() -> None:
    one = rated({("original", "m"): [1, 2, 3], ("a", "m"): [3, 3, 3], ("b", "m"): [1, 2, 3]})
    other = rated({("original", "m"): [1, 2, 3], ("a", "m"): [1, 2, 3], ("c", "m"): [1, 2, 3]})
    found = shared_styles([one, other], ["a", "b", "c", "never"])
    assert found.variants == ("original", "a"), "what all judges rated"
    assert np.isnan(found.damaged[0, 1])
    assert found.to_json()["rho"][1][0][1] is None


def test_a_row_for_each_kind_and_pair() -> None:
    judges = [rated({("original", "m"): [1, 2, k], ("a", "m"): [k, 2, 1]}) for k in (3, 4, 5)]
    frame = shared_styles(judges, ["a"]).to_frame(["x", "y", "z"])
    assert list(zip(frame["first"], frame["second"], strict=True)) == 2 * [("x", "y"), ("x", "z"), ("y", "z")]
    assert frame.variant.tolist() == 3 * ["original"] + 3 * ["a"]
    assert frame.n.tolist() == 6 * [3]
