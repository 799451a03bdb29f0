"""Lists whose items changed, numbered anew: a gap in the numbers would show the damage, not the text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from dhp.core.markdown import mark_spans

_NUMBERED = re.compile(r"(?P<before>\D*?)(?P<number>\d{1,3}|\b[a-zA-Z]\b)(?P<behind>\D*)")
"""The mark of an item: a number, or a single letter, with what stands around it."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """The mark of an item of a numbered list."""

    start: int
    end: int
    """Where its number stands."""
    number: int
    style: tuple[str, str, int, str]
    """What stands around the number, how far the item is indented, and what its first item is: 1, a or A."""
    item: tuple[object, ...]
    """The style and what the line says."""


def renumbered(before: str, after: str) -> str:
    """A text whose sentences were deleted or repeated, with the numbers of its lists in order again.

    `before` is the text as it was, from which it is known which items make one list. A list whose numbers
    were in no order, and what is numbered otherwise than by figures or single letters, stays as it is.
    """
    old = list(_marks(before))
    if not old:
        return after
    new = list(_marks(after))
    list_of = _lists(old)
    edits: list[tuple[int, int, str]] = []
    following: dict[int, int] = {}
    for mark, origin in zip(new, _origins(old, new), strict=True):
        if origin is None:
            continue
        first = list_of[origin]
        number = following.get(first, old[first].number)
        following[first] = number + 1
        if number != mark.number:
            edits.append((mark.start, mark.end, _written(number, mark)))
    for start, end, number_text in reversed(edits):
        after = f"{after[:start]}{number_text}{after[end:]}"
    return after


def _origins(old: Sequence[_Mark], new: Sequence[_Mark]) -> list[int | None]:
    """For each mark the one that it was, or of a repeated item the one that it repeats."""
    origins: list[int | None] = [None] * len(new)
    aligned = SequenceMatcher(None, [each.item for each in old], [each.item for each in new], autojunk=False)
    for _, start, end, first, last in aligned.get_opcodes():
        for place in range(first, last):
            if end > start:
                origins[place] = min(start + place - first, end - 1)
            else:  # a copy, of the item before it or of the one behind it
                beside = (i for i in (start - 1, start) if 0 <= i < len(old))
                origins[place] = next((i for i in beside if old[i].item == new[place].item), None)
    return origins


def _lists(marks: Sequence[_Mark]) -> list[int]:
    """For each mark the first one of its list; deeper lists may stand between its items."""
    first_of: list[int] = []
    last: dict[tuple[str, str, int, str], int] = {}
    for place, mark in enumerate(marks):
        before = last.get(mark.style)
        follows = before is not None and mark.number == marks[before].number + 1
        first_of.append(first_of[before] if follows and before is not None else place)
        last[mark.style] = place
    return first_of


def _marks(text: str) -> Iterator[_Mark]:
    for start, end in mark_spans(text):
        match = _NUMBERED.fullmatch(text[start:end])
        if match is None:
            continue
        name = match["number"]
        first = "1" if name.isdecimal() else "a" if name.islower() else "A"
        number = int(name) if first == "1" else ord(name) - ord(first) + 1
        indent = start - (text.rfind("\n", 0, start) + 1)
        style = (match["before"], match["behind"], indent, first)
        line = text[end:].partition("\n")[0].strip()
        place = start + match.start("number"), start + match.end("number")
        yield _Mark(*place, number, style, (style, line))


def _written(number: int, mark: _Mark) -> str:
    first = mark.style[3]
    return str(number) if first == "1" else chr(ord(first) + min(number, 26) - 1)
