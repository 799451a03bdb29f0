"""What an answer only repeats of the texts that the judge was shown: no text is read as its own rating."""

import re
from collections.abc import Iterable

_PIECE = re.compile(r"[^\n.!?。！？]*(?:[.!?。！？]+[\"')\]”’»」]*|\n|\Z)", re.S)
_SHORTEST = 40
"""Characters that a passage must have to be a repetition: a rating alone may stand in a text by chance."""
_MOST_PIECES = 2_000


def without_echo(answer: str, texts: Iterable[str]) -> str:
    """The answer without passages of whole sentences or lines that stand so in one of the texts.

    Spaces and line ends do not count. In the place of a passage stands a quotation mark, so that nothing
    behind it becomes the beginning of the answer. Of very many sentences the last ones are looked at.
    """
    if len(answer) < _SHORTEST:
        return answer
    shown = ["".join(text.split()) for text in texts]
    pieces = [piece for piece in _PIECE.findall(answer) if piece]
    dense = ["".join(piece.split()) for piece in pieces]
    kept, place = pieces[:-_MOST_PIECES], max(0, len(pieces) - _MOST_PIECES)
    while place < len(pieces):
        end = _end_of_echo(dense, place, shown)
        if end is None:
            kept.append(pieces[place])
            place += 1
        else:
            kept.append("“”\n")
            place = end
    return "".join(kept)


def _end_of_echo(dense: list[str], start: int, shown: list[str]) -> int | None:
    """Where the passage that begins with a piece and stands in a text ends, if it is long enough."""
    if not dense[start]:
        return None
    best = None
    for text in shown:
        passage, end = "", start
        while end < len(dense) and len(passage) < _SHORTEST:
            passage, end = passage + dense[end], end + 1
        place = text.find(passage)
        if len(passage) < _SHORTEST or place < 0:
            continue
        place += len(passage)
        while end < len(dense) and text.startswith(dense[end], place):
            place, end = place + len(dense[end]), end + 1
        best = max(best or 0, end)
    return best
