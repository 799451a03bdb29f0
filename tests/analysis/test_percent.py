"""Shares in per cent: none is shown on the other side of a limit of the verdicts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.analysis.percent import whole_percent


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0.5, "50"),
        (0.49999999999999994, "50"),
        (0.4999, "49.9"),
        (0.5966, "59.7"),
        (0.5996, "59.9"),
        (0.6, "60"),
        (0.604, "60.4"),
        (0.6004, "60"),
        (1, "100"),
    ],
)
def test_a_share_stays_on_its_side_of_a_limit(share: float, shown: str) -> None:
    assert whole_percent(share) == shown


@given(st.floats(0, 1))
def test_a_share_is_shown_within_one_per_cent(share: float) -> None:
    assert abs(float(whole_percent(share)) - 100 * share) < 1
