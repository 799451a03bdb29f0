"""Differences between two texts: how far apart they are, and what was deleted and inserted."""

import re
from itertools import groupby
from typing import Literal

from dhp.core.records import Audit
from dhp.core.text import sentence_spans

Operation = Literal["=", "-", "+"]
"""Kept, deleted, inserted."""
_WORD = re.compile(r"\s+|\w+|[^\w\s]")


def audit(before: str, after: str, asked: int | None = None, made: int | None = None) -> Audit:
    """Edit distance and similarity of two texts, with the edits asked and made where they were counted."""
    from rapidfuzz.distance import Levenshtein

    distance = Levenshtein.distance(before, after)
    return Audit(asked, made, distance, round(1 - distance / max(len(before), len(after)), 6))


def diff(before: str, after: str, level: str) -> list[tuple[Operation, str]]:
    """The pieces of both texts in order, compared by character, word or sentence (any other level: by word).

    Without what is deleted they are `after`, to the letter.
    """
    from rapidfuzz.distance import Indel

    old, new = _pieces(before, level), _pieces(after, level)
    found: list[tuple[Operation, str]] = []
    opcodes = Indel.opcodes(_compared(old), _compared(new))
    for equal, run in groupby(opcodes, key=lambda opcode: opcode.tag == "equal"):
        edits = list(run)
        first, last = edits[0], edits[-1]
        gone = "".join(old[first.src_start : last.src_end])
        come = "".join(new[first.dest_start : last.dest_end])
        if gone and level == "sentence":
            gone = f" {gone.strip()} "  # keeps clear of its neighbours
        found += [("=", come)] if equal else [("-", gone), ("+", come)]
    return [(operation, piece) for operation, piece in found if piece]


def _pieces(text: str, level: str) -> list[str]:
    """The text in pieces that are compared as wholes; joined they are the text again."""
    if level == "character":
        return list(text)
    if level != "sentence":
        return _WORD.findall(text)
    starts = [0, *(start for start, _ in sentence_spans(text)[1:])]
    return [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]


def _compared(pieces: list[str]) -> list[str]:
    """A sentence is the same with other white space behind it."""
    return [piece.rstrip() or piece for piece in pieces]
