"""Edits of a text by patterns: found, kept apart, made."""

import re
from collections.abc import Iterable, Iterator

Edit = tuple[int, int, str]
"""(start, end, replacement)."""
Span = tuple[int, int]
"""(start, end)."""
Rules = tuple[tuple[re.Pattern[str], str], ...]
"""Patterns with the replacement of a match."""


def rules(*pairs: tuple[str, str]) -> Rules:
    """Pairs of a pattern and what is written instead of it, which may take groups: `\\1`."""
    return tuple((re.compile(pattern), new) for pattern, new in pairs)


def matched(those: Rules, text: str) -> Iterator[Edit]:
    """The edits of all rules."""
    for pattern, new in those:
        for match in pattern.finditer(text):
            yield match.start(), match.end(), match.expand(new)


def uniform(those: Rules, every: re.Pattern[str], text: str) -> list[Edit]:
    """The edits of all rules where they reach `every` such place; else none, or two ways would be mixed."""
    matches = list(matched(those, text))
    for place in every.finditer(text):
        if not any(place.start() < end and start < place.end() for start, end, _ in matches):
            return []
    return matches


def outside(edits: Iterable[Edit], kept: Iterable[Span]) -> Iterator[Edit]:
    """The edits that change nothing within these spans."""
    spans = list(kept)
    for edit in edits:
        start, end, _ = edit
        if not any(start < b and a < max(end, start + 1) for a, b in spans):
            yield edit


def applied(text: str, edits: Iterable[Edit]) -> tuple[str, int]:
    """The text with all edits that do not overlap one further left, and their number."""
    pieces, end, made = [], 0, 0
    for start, stop, new in sorted(edits):
        if start >= end:
            pieces += [text[end:start], new]
            end, made = stop, made + 1
    return "".join([*pieces, text[end:]]), made
