"""The first change of a degraded text in one line, with some of what stands around it."""

from collections.abc import Sequence

from dhp.core.diff import Operation

_AROUND = 40  # characters kept of a piece that did not change
_CHANGED = 80  # of one that was deleted or inserted
_WHOLE = 200  # of all pieces, from which no further one is begun


def snippet(pieces: Sequence[tuple[Operation, str]]) -> list[tuple[Operation, str]]:
    """The pieces around the first change on one line, the longest cut with `…`.

    Parameters
    ----------
    pieces
        As `dhp.core.diff.diff` gives them.

    Returns
    -------
    list of (operation, text)
        At most about 300 characters; empty where nothing changed.
    """
    first = next((place for place, (operation, _) in enumerate(pieces) if operation != "="), None)
    if first is None:
        return []
    found: list[tuple[Operation, str]] = []
    for place, (operation, piece) in enumerate(pieces[max(first - 1, 0) :], max(first - 1, 0)):
        text = " ".join(f"x{piece}x".split())[1:-1]  # keeps a space at either end
        room = _AROUND if operation == "=" else _CHANGED
        cut = len(text) > room
        if place < first:
            found.append((operation, f"… {text[-room:].lstrip()}" if cut else text))
            continue
        found.append((operation, f"{text[:room].rstrip()} …" if cut else text))
        if (cut and operation == "=") or sum(len(shown) for _, shown in found) >= _WHOLE:
            break
    return found
