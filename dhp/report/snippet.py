"""The first change of a degraded text in one line, with some of what stands around it."""

from collections.abc import Sequence

from dhp.core.diff import Operation

_AROUND = 40  # characters kept of a piece that did not change
_CHANGED = 80  # of one that was deleted or inserted
_WHOLE = 200  # of all pieces, from which no further one is begun


def snippet(pieces: Sequence[tuple[Operation, str]]) -> list[tuple[Operation, str]]:
    """The pieces around the first change, each cut with `…`, on one line.

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
        if sum(len(text) for _, text in found) >= _WHOLE:
            break
        text = " ".join(f"x{piece}x".split())[1:-1]  # keeps a space at either end
        if place < first:
            text = text if len(text) <= _AROUND else f"… {text[-_AROUND:].lstrip()}"
        else:
            room = _AROUND if operation == "=" else _CHANGED
            text = text if len(text) <= room else f"{text[:room].rstrip()} …"
        found.append((operation, text))
    return found
