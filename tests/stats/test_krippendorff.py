"""Krippendorff's alpha against his published examples, a case by hand and the package of that name."""

import numpy as np
import pytest

from dhp.stats.krippendorff import krippendorff_alpha

NAN = np.nan
# Krippendorff (2011), "Computing Krippendorff's alpha-reliability", table C: four observers, twelve units.
PUBLISHED = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]


def test_the_published_figures() -> None:
    assert krippendorff_alpha(PUBLISHED, nominal=True) == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(PUBLISHED) == pytest.approx(0.849, abs=5e-4)


def test_two_raters_by_hand() -> None:
    # Values a a b b against a b b b: one of four items differs. D_o = 2 / 8, D_e = 2 * 3 * 5 / (8 * 7).
    assert krippendorff_alpha([[0, 0, 1, 1], [0, 1, 1, 1]], nominal=True) == pytest.approx(
        1 - (2 / 8) / (30 / 56)
    )
    assert krippendorff_alpha([[0, 1], [1, 0]], nominal=True) == pytest.approx(1 - 1 / (8 / 12))


def test_undefined_is_none() -> None:
    assert krippendorff_alpha([[1, 1], [1, 1]]) is None
    assert krippendorff_alpha([[1, 2, 3]]) is None
    assert krippendorff_alpha([[1, NAN], [NAN, 2]]) is None


def test_names_may_be_exchanged_and_intervals_moved() -> None:
    table = np.array(PUBLISHED)
    names = np.array([NAN, 9.0, 2.0, -4.0, 100.0, 0.5])
    renamed = np.where(np.isnan(table), NAN, names[np.nan_to_num(table).astype(int)])
    assert krippendorff_alpha(renamed, nominal=True) == pytest.approx(krippendorff_alpha(table, nominal=True))
    assert krippendorff_alpha(1e6 + 3 * table) == pytest.approx(krippendorff_alpha(table), rel=1e-6)


@pytest.mark.parametrize("nominal", [True, False])
def test_as_the_package(nominal: bool) -> None:
    krippendorff = pytest.importorskip("krippendorff", reason="the reference implementation")
    rng = np.random.default_rng(1)
    level = "nominal" if nominal else "interval"
    for _ in range(30):
        table = rng.integers(0, 4, (int(rng.integers(2, 5)), 20)).astype(float)
        table[rng.random(table.shape) < 0.3] = NAN
        expected = krippendorff.alpha(reliability_data=table, level_of_measurement=level)
        assert krippendorff_alpha(table, nominal=nominal) == pytest.approx(expected)
