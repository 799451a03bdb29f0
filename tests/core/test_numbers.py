"""Numbers with decimal commas, as spreadsheets of much of Europe write them."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.numbers import as_number, number_hint, numbers_of


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *[
            ("4,5", 4.5),
            ("-0,25", -0.25),
            (" 3,0 ", 3.0),
            (",5", 0.5),
            ("0,125", 0.125),
            ("3,14159", 3.14159),
        ],
        *[("4.5", 4.5), ("7", 7.0), ("1e3", 1000.0), ("1,234", None), ("12,345", None), ("1,2,3", None)],
        *[("1.234,5", None), ("4,5 %", None), ("", None), ("a,5", None), ("4,", None)],
    ],
)
def test_a_text_as_a_number(text: str, number: float | None) -> None:
    assert as_number(text) == number


@given(st.lists(st.floats(-1e4, 1e4).map(lambda x: round(x, 2)), min_size=1, max_size=20))
def test_decimal_commas_give_the_numbers_of_points(values: list[float]) -> None:
    with_points = pd.Series([f"{value:.2f}" for value in values], dtype=object)
    with_commas = with_points.str.replace(".", ",")
    assert numbers_of(with_commas).tolist() == numbers_of(with_points).tolist() == pytest.approx(values)


def test_one_sure_comma_settles_the_others() -> None:
    assert numbers_of(pd.Series(["1,125", "2,5", None, "3"], dtype=object)).tolist()[:2] == [1.125, 2.5]
    assert numbers_of(pd.Series(["1,125", "2,625"], dtype=object)).isna().all()


def test_what_may_be_thousands_is_said() -> None:
    assert "write a point" in number_hint("1,234")
    assert number_hint("four, or five") == number_hint(4) == ""
