"""Dose-response curves of results: the fitted line starts where controls are detected."""

import pytest

from dhp.analysis.analyze import fitted_detection
from dhp.analysis.results import DoseResponse, DoseThreshold


@pytest.mark.parametrize(("guess", "foot"), [(None, 0.5), (0.6, 0.6)])
def test_the_fitted_line_goes_from_the_controls_through_75_per_cent_to_the_lapses(
    guess: float | None, foot: float
) -> None:
    t75 = DoseThreshold(8.0, 5.0, 12.0)
    found = DoseResponse("random_typos", (1, 4, 16), guess=guess, power=1.0, lapse=0.02, t75=t75)
    assert fitted_detection(found, [1e-9, 8, 1e9]) == pytest.approx([foot, 0.75, 0.98])


def test_without_a_threshold_there_is_no_line() -> None:
    for t75 in (None, DoseThreshold(None, None, None), DoseThreshold(0.0, 0.0, 1.0)):
        assert fitted_detection(DoseResponse("p", (1,), power=1.0, lapse=0.0, t75=t75), [1]) is None
