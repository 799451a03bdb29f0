"""Texts as they are shown: on one line, without what steers a terminal or a spreadsheet."""

import re
from collections import Counter
from collections.abc import Mapping

from dhp.core.hiding import hidden

_CONTROLS = (*range(32), *range(127, 160))
"""The control characters of ASCII and Latin-1."""
_HALVES = range(0xD800, 0xE000)
"""Surrogates: halves of characters, which cannot be written alone."""
_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""What embeds, overrides or isolates a direction of writing."""
_STEERING = (*_CONTROLS, *_HALVES, *_DIRECTIONS)
_UNSEEN = {c: "\ufffd" for c in _STEERING if chr(c) not in "\t\n\r"}
"""Character -> the sign that is shown in its place."""
_ON_ONE_LINE = _UNSEEN | {c: " " for c in _CONTROLS if chr(c).isspace()}


def printable(text: str) -> str:
    """The text on one line, and as `visible`."""
    return hidden(text).translate(_ON_ONE_LINE)


def visible(text: str) -> str:
    """The text with what could steer a terminal or show words in another order replaced.

    These are control characters but tabs and line ends, halves of characters, and what embeds, overrides or
    isolates a direction of writing (as in "Trojan Source", Boucher and Anderson 2023). Secrets are hidden.
    """
    return hidden(text).translate(_UNSEEN)


def alike_but_numbers(counts: Mapping[str, int]) -> dict[str, int]:
    """Texts that differ in their numbers alone, as one: the first of them, with the sum of their counts."""
    first: dict[str, str] = {}
    merged = Counter[str]()
    for text, count in counts.items():
        merged[first.setdefault(re.sub(r"\d+", "0", text), text)] += count
    return dict(merged.most_common())


def spreadsheet_safe(cell: object) -> object:
    """A cell of a CSV file: a text as `visible`, `'` before what spreadsheets would take for a formula."""
    if not isinstance(cell, str):
        return cell
    shown = visible(cell)
    # The signs with which OWASP says that a formula may begin ("CSV injection").
    return f"'{shown}" if shown.startswith(("=", "+", "-", "@", "\t", "\r")) else shown
