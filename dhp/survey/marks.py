"""Before and after in HTML: what went struck through, what came underlined."""

import re
from html import escape

from dhp.text import sentence_spans

_WORD = re.compile(r"\s+|\w+|[^\w\s]")


def marked(before: str, after: str, level: str) -> str:
    """The degraded text with `<del>` and `<ins>`, compared by character, word or sentence; all escaped.

    Without what is struck through it is `after`, to the letter.
    """
    from rapidfuzz.distance import Indel

    old, new = _pieces(before, level), _pieces(after, level)
    found = []
    for edit in Indel.opcodes(_compared(old), _compared(new)):
        gone = "".join(old[edit.src_start : edit.src_end])
        come = "".join(new[edit.dest_start : edit.dest_end])
        if edit.tag == "delete":
            if level == "sentence":
                gone = f" {gone.strip()} "  # keeps clear of its neighbours
            found.append(f"<del>{escape(gone)}</del>")
        else:
            found.append(escape(come) if edit.tag == "equal" else f"<ins>{escape(come)}</ins>")
    return "".join(found)


def _pieces(text: str, level: str) -> list[str]:
    """The text in pieces that are compared as wholes; joined they are the text again."""
    if level == "character":
        return list(text)
    if level == "word":
        return _WORD.findall(text)
    starts = [0, *(start for start, _ in sentence_spans(text)[1:])]
    return [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]


def _compared(pieces: list[str]) -> list[str]:
    """A sentence is the same with other white space behind it."""
    return [piece.rstrip() or piece for piece in pieces]
