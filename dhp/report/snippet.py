"""Snippets of the changes to a text."""

from collections.abc import Sequence

from dhp.core.diff import Operation, diff, shared

Pieces = list[tuple[Operation, str]]
"""Pieces of `dhp.core.diff.diff`."""
EXCERPT = 10_000
"""The most characters that are shown of a text: where it is longer, those around the first changes to it."""

_AROUND = 40  # characters kept of a piece that did not change
_CHANGED = 80  # of one that was deleted or inserted
_WORD = 20  # of a word that is left out rather than cut
_WHOLE = 200  # of all pieces, from which no further one is begun


def excerpt(before: str, after: str, level: str) -> Pieces:
    """The diff of two texts; where one is longer than `EXCERPT`, of an excerpt of both alone.

    It begins shortly before the first change, and `[…]` stands for what is left out.
    """
    if max(len(before), len(after)) <= EXCERPT:
        return diff(before, after, level)
    start = 0 if before == after else max(0, shared(before, after) - EXCERPT // 10)
    end = start + EXCERPT
    found = diff(before[start:end], after[start:end], level)
    cut_off = end < max(len(before), len(after))
    while cut_off and len(found) > 1 and found[-1][0] != "=":
        found.pop()  # so far one excerpt goes further than the other
    if start:
        found.insert(0, ("=", "[…] "))
    if cut_off:
        found.append(("=", " […]"))
    return found


def snippet(pieces: Sequence[tuple[Operation, str]]) -> list[tuple[Operation, str]]:
    """The pieces around the first change on one line, the longest cut with `…`.

    At most about 300 characters; empty where nothing changed.
    """
    first = next((index for index, (operation, _) in enumerate(pieces) if operation != "="), None)
    if first is None:
        return []
    found: list[tuple[Operation, str]] = []
    for index, (operation, piece) in enumerate(pieces[max(first - 1, 0) :], max(first - 1, 0)):
        text = " ".join(f"x{piece}x".split())[1:-1]  # keeps a space at either end
        room = _AROUND if operation == "=" else _CHANGED
        cut = len(text) > room
        if index < first:
            found.append((operation, f"… {_whole_words(text[-room:])}" if cut else text))
            continue
        found.append((operation, f"{_whole_words(text[:room][::-1])[::-1]} …" if cut else text))
        if (cut and operation == "=") or sum(len(shown) for _, shown in found) >= _WHOLE:
            break
    return found


def _whole_words(text: str) -> str:
    """The text without the piece of a word that it begins with; all of it where words are not set apart."""
    rest = text[:_WORD].partition(" ")[2] + text[_WORD:]
    return (rest if " " in text[:_WORD] else text).lstrip()
