"""Pairs of scores from tables of ratings: small tables by hand."""

import numpy as np
import pandas as pd

from dhp.analysis.ratings import RatingsArray
from dhp.analysis.ratings_split import split_ratings


def rated(original: list[float], degraded: list[float]) -> RatingsArray:
    """Ratings of one metric and one variant `v`."""
    rows = [
        (f"e{i}", variant, "m", score)
        for variant, scores in (("original", original), ("v", degraded))
        for i, score in enumerate(scores)
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


def test_where_most_scores_are_zero_the_others_still_count() -> None:
    found = rated([0, 0, 0, 3], [0, 0, 0, 1]).differences("v", "m")
    assert found.tolist() == [0, 0, 0, 2]
