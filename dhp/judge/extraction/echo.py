"""What an answer only repeats of the texts that the judge was shown: no text is read as its own rating.

Without it a text that says `Rating: 5` of itself would be rated 5 by each judge that quotes it.
"""

import re
from collections.abc import Iterable

_PIECE = re.compile(r"[^\n.!?。！？]*(?:[.!?。！？]+[\"')\]”’»」]*|\n|\Z)", re.S)
"""A sentence with its mark, or the rest of a line: `It is clear.` and ` He said "no."` of one text."""
_SHORTEST = 40
"""Characters that a passage must have to be a repetition: a rating alone may stand in a text by chance."""
_MOST_PIECES = 2_000
"""Pieces of an answer that are looked at, so that one of any length is read fast."""


def without_echo(answer: str, texts: Iterable[str]) -> str:
    """The answer without passages of whole sentences or lines that stand so in one of the texts.

    Spaces and line ends do not count. In the place of a passage stands a quotation mark, so that nothing
    behind it becomes the beginning of the answer. Of very many sentences the last ones are looked at.
    """
    if len(answer) < _SHORTEST:
        return answer
    shown = [_dense(text) for text in texts]
    pieces = [piece for piece in _PIECE.findall(answer) if piece]
    dense = [_dense(piece) for piece in pieces]
    place = max(0, len(pieces) - _MOST_PIECES)
    kept = pieces[:place]
    while place < len(pieces):
        end = _end_of_echo(dense, place, shown)
        if end is None:
            kept.append(pieces[place])
            place += 1
        else:
            kept.append("“”\n")
            place = end
    return "".join(kept)


def _dense(text: str) -> str:
    """A text without spaces and line ends."""
    return "".join(text.split())


def _end_of_echo(dense: list[str], start: int, shown: list[str]) -> int | None:
    """The number of the piece behind the passage that begins with a piece and stands in a text; None if none
    is long enough."""
    if not dense[start]:
        return None
    best = None
    # The least that may be a repetition.
    passage, least = "", start
    while least < len(dense) and len(passage) < _SHORTEST:
        passage += dense[least]
        least += 1
    if len(passage) < _SHORTEST:
        return None

    # The longest one that goes on in a text as in the answer.
    for text in shown:
        place = text.find(passage)
        if place < 0:
            continue
        place += len(passage)
        end = least
        while end < len(dense) and text.startswith(dense[end], place):
            place += len(dense[end])
            end += 1
        best = max(best or 0, end)
    return best
