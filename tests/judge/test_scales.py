"""Scores moved to another scale keep their exact place."""

import pytest

from dhp.core.specs import Scale
from dhp.judge.api import rescale


@pytest.mark.parametrize(
    ("score", "given", "wanted", "expected"),
    [
        (83.0, (0, 100), (1, 5), 4.32),
        (37.5, (0, 100), (1, 3), 1.75),
        (33.3, (0, 100), (1, 5), 2.332),
        (4.0, (1, 7), (1, 4), 2.5),
        (2.0, (1, 4), (0, 1), 1 / 3),
        (1.0, (1, 5), (-3, 9), -3.0),
        (4.7, (1, 5), (1, 5), 4.7),
    ],
)
def test_the_share_of_the_scale_stays_the_same(
    score: float, given: tuple[float, float], wanted: tuple[float, float], expected: float
) -> None:
    scales = (Scale(min=float(low), max=float(high)) for low, high in (given, wanted))
    assert rescale(score, *scales) == pytest.approx(expected, abs=1e-9)
