"""Numbers as tables hold them: as such, as text, and with a decimal comma."""

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# `4,5`, `-,5`
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+")
_OF_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
"""A comma before three digits may be one of thousands, `1,234`, unless a zero stands before it."""


def as_number(text: str) -> float | None:
    """The number that a text is, also with a decimal comma as in `4,5`; None for any other text.

    A comma that may be one of thousands, as in `1,234`, is not read.
    """
    text = text.strip()
    if _WITH_COMMA.fullmatch(text) and not _OF_THOUSANDS.fullmatch(text):
        text = text.replace(",", ".")
    try:
        return float(text)
    except ValueError:
        return None


def numbers_of(column: "pd.Series[Any]") -> "pd.Series[float]":
    """The numbers in a column; NaN for anything else.

    A comma that may be one of thousands is a decimal one if the column has a comma that is surely so.
    """
    import pandas as pd

    if column.dtype.kind in "iuf":
        return column.astype(float)
    numbers = pd.to_numeric(column, errors="coerce").astype(float)
    unread = numbers.isna() & column.map(lambda cell: isinstance(cell, str) and "," in cell).astype(bool)
    if not unread.any():
        return numbers
    texts = column[unread].str.strip()
    # One comma that is surely decimal, as in `4,5`, tells what those in `1,234` are.
    if texts.map(as_number).notna().any():
        with_comma = texts.map(lambda text: _WITH_COMMA.fullmatch(text) is not None).astype(bool)
        texts = texts.mask(with_comma, texts.str.replace(",", "."))
    return numbers.where(~unread, pd.to_numeric(texts, errors="coerce").reindex(column.index))


def number_hint(value: object) -> str:
    """Why a value with a comma is no number, as the end of a message; empty for any other."""
    if isinstance(value, str) and _OF_THOUSANDS.fullmatch(value.strip()):
        return " (its comma may be decimal or of thousands: write a point, or no comma)"
    return ""
