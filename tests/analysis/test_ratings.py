"""Pairs of scores from tables of ratings: small tables by hand."""

import numpy as np
import pandas as pd
import pytest

from dhp.analysis.analyze import analyze
from dhp.analysis.ratings import RatingsArray
from dhp.analysis.split_ratings import split_ratings


def rated(original: list[float], degraded: list[float], samples: int = 1) -> RatingsArray:
    """Ratings of one metric and one variant `v`; all samples of a text are equal."""
    rows = [
        (f"e{i}", variant, "m", score)
        for variant, scores in (("original", original), ("v", degraded))
        for i, score in enumerate(scores)
        for _ in range(samples)
    ]
    (ratings,) = split_ratings(pd.DataFrame(rows, columns=["example", "variant", "metric", "score"]))
    return ratings


def test_what_failed_is_counted_for_each_variant() -> None:
    """`v` lacks the second score, `w` the first; only texts that were rated count."""
    table = pd.DataFrame(
        {
            "example": ["a", "b", "c"] * 3,
            "variant": ["original"] * 3 + ["v"] * 3 + ["w"] * 3,
            "metric": "m",
            "score": [5, 4, 3, 2, None, 1, None, 2, 2],
            "status": ["scored"] * 4 + ["refused", "scored", "unparsed", "scored", "scored"],
        }
    )
    (ratings,) = split_ratings(table)
    assert ratings.failed("v").tolist() == [[False] * 3, [False, True, False]]  # type: ignore[union-attr]
    assert ratings.failed("w").tolist() == [[False] * 3, [True, False, False]]  # type: ignore[union-attr]
    assert ratings.failed("x") is None


def test_scores_that_differ_by_rounding_alone_are_tied_and_their_difference_has_no_sign() -> None:
    found = rated([0.3, 0.5], [0.1 + 0.2, 0.25]).differences("v", "m")
    assert found.tolist() == [0.0, 0.25]
    assert not np.signbit(found[0])


@pytest.mark.parametrize("samples", [1, 2])
def test_pairs_that_all_fell_by_little_are_all_detected(samples: int) -> None:
    """Half of them by less than a billionth of a billionth of the largest scores."""
    original = [float(1 + i) for i in range(20)] + [2e-20 * (1 + i) for i in range(20)]
    degraded = [x - 1e-12 for x in original[:20]] + [x / 2 for x in original[20:]]
    found = rated(original, degraded, samples)
    assert (found.differences("v", "m") > 0).all()
    assert not (found.differences("v", "m") == found.differences("v", "m", ties=False)).all(), (
        "equal drops tie"
    )


def test_equal_means_of_two_samples_tie_though_one_is_of_larger_ones() -> None:
    rows = [("e", "original", "m", s) for s in (10.1, -10.0)] + [("e", "v", "m", s) for s in (0.3, -0.2)]
    (found,) = split_ratings(pd.DataFrame(rows, columns=["example", "variant", "metric", "score"]))
    assert found.differences("v", "m", ties=False) != 0
    assert found.differences("v", "m") == 0


def test_means_of_the_same_samples_tie_in_any_order() -> None:
    """Positive and negative ones, whose mean is nearly zero."""
    samples = [0.1, 0.2, -0.3, 0.7, -0.6]
    rows = [
        (f"e{i}", variant, "m", score)
        for i in range(120)
        for variant in ("original", "v")
        for score in np.random.default_rng([i, variant == "v"]).permutation(samples)
    ]
    (found,) = split_ratings(pd.DataFrame(rows, columns=["example", "variant", "metric", "score"]))
    assert (found.differences("v", "m", ties=False) != 0).any()
    assert (found.differences("v", "m") == 0).all()


def test_where_most_scores_are_zero_the_others_still_count() -> None:
    found = rated([0, 0, 0, 3], [0, 0, 0, 1]).differences("v", "m")
    assert found.tolist() == [0, 0, 0, 2]


def test_several_scores_of_a_text_without_samples_are_warned_of() -> None:
    rows = [(e, v, "m", 5 if v == "original" else 3) for e in "abcd" for v in ("original", "v")]
    rows += [("a", "v", "m", 3), ("b", "v", "m", 4)]
    table = pd.DataFrame(rows, columns=["example", "variant", "metric", "score"])
    (found,) = analyze(table)
    assert found.warnings == (
        "2 combinations of text and metric have several scores, but there is no column `sample` "
        "(1 have different scores); the mean is used",
    )
    numbered = table.assign(sample=table.groupby(["example", "variant"]).cumcount())
    assert analyze(numbered)[0].warnings == ()
    assert analyze(pd.concat([table.iloc[:8]] * 2))[0].warnings == ()


@pytest.mark.slow
def test_the_digest_tells_scores_apart_and_not_their_order() -> None:
    rng = np.random.default_rng(0)
    cells = pd.MultiIndex.from_product(
        [["a", "b", "c"], ["original", "z", "v", "x"], ["m", "l"]], names=["example", "variant", "metric"]
    )
    table = pd.DataFrame({"score": rng.integers(1, 6, len(cells))}, index=cells).reset_index()

    def digest(frame: pd.DataFrame) -> str:
        (ratings,) = split_ratings(frame)
        return ratings.digest

    found = {digest(table.sample(frac=1, random_state=seed)) for seed in range(10)}
    assert found == {digest(table)}
    for row in range(len(table)):
        found.add(digest(table.assign(score=table["score"] + (table.index == row))))
    assert len(found) == 1 + len(table)


def test_reasons_are_counted_the_most_frequent_first() -> None:
    table = pd.DataFrame(
        {
            "example": ["a", "b", "c", "d"] * 2,
            "variant": ["original"] * 4 + ["v"] * 4,
            "metric": "m",
            "score": [5, None, None, None, 2, None, 3, 3],
            "status": ["scored", "failed", "failed", "failed", "scored", "unparsed", "scored", "scored"],
            "raw": ["", "HTTP 500", "timeout", "timeout", "", "", "", ""],
        }
    )
    (ratings,) = split_ratings(table)
    assert list(ratings.failures.items()) == [("timeout", 2), ("HTTP 500", 1)]
