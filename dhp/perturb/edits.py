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
    """The edits of all rules if they reach `every` such place; else none, or two ways would be mixed."""
    edits = list(matched(those, text))
    for place in every.finditer(text):
        if not any(place.start() < end and start < place.end() for start, end, _ in edits):
            return []
    return edits


def outside(edits: Iterable[Edit], kept: Iterable[Span]) -> Iterator[Edit]:
    """The edits that change nothing within these spans."""
    spans = list(kept)
    for edit in edits:
        start, end, _ = edit
        end = max(end, start + 1)  # what is only put in counts as the character before which it stands
        if not any(start < b and a < end for a, b in spans):
            yield edit


def applied(text: str, edits: Iterable[Edit]) -> tuple[str, int]:
    """The text with all edits that do not overlap one further left, and their number."""
    pieces, end, made = list[str](), 0, 0
    for start, stop, new in sorted(edits):
        if start >= end:
            pieces += [text[end:start], new]
            end = stop
            made += 1
    pieces.append(text[end:])
    return "".join(pieces), made
