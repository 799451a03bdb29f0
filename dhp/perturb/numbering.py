"""Lists whose items changed, numbered anew: a gap in the numbers would show the damage, not the text."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dhp.core.markdown import mark_spans
from dhp.perturb.edits import Edit, applied
from dhp.perturb.numerals import numeral, written

_NUMBERED = re.compile(
    r"(?P<before>.*?)(?<![^\W\d_第])"
    r"(?P<number>\d{1,3}|[①-⑳]|[一二三四五六七八九十]{1,3}|[ivx]{1,5}|[IVX]{1,5}|[a-zA-Z])"
    r"(?P<behind>[步天条章]?[^\w\s]*)(?![\w.])"
)
"""The mark of an item: a number with what stands around it, behind which a bold title may follow."""
_SECOND = {"ii", "II"}
"""A list that has one of these counts in Roman numerals."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """The mark of an item of a numbered list."""

    place: tuple[int, int]
    """Where its number stands."""
    number: int
    system: str
    style: tuple[object, ...]
    """What stands around the number, and how far its line is indented."""


def renumbered(text: str, edits: Sequence[Edit]) -> str:
    """A text after edits that take parts out or put copies in, with the numbers of its lists in order again.

    No two edits overlap. One that puts in a line break and what stands before it says an item twice. A list
    whose numbers were in no order, and what is numbered otherwise than `numerals` knows, stays as it is.
    """
    marks = list(_marks(text))
    first_of = _firsts(marks)
    following = dict[_Mark, int]()
    numbered: dict[object, Edit] = {edit: edit for edit in edits}
    for mark, copy in _left(text, marks, edits):
        first = first_of[mark]
        number = following.get(first, first.number)
        following[first] = number + 1
        new = written(number, mark.system) or text[slice(*mark.place)]
        if copy is None:
            numbered[mark.place] = (*mark.place, new)
        else:
            start, end, line = copy
            behind = len(_line_up_to(text, mark))
            before = behind - (mark.place[1] - mark.place[0])
            numbered[copy] = start, end, line[:before] + new + line[behind:]
    return applied(text, numbered.values())[0]


def _left(text: str, marks: Sequence[_Mark], edits: Sequence[Edit]) -> list[tuple[_Mark, Edit | None]]:
    """The marks after the edits, from the first to the last: those that stay, with None, and copies of lines
    by their edit."""
    ordered = sorted(edits)
    edit_starts, mark_starts = [edit[0] for edit in ordered], [mark.place[0] for mark in marks]
    left = list[tuple[int, _Mark, Edit | None]]()
    # A mark stays unless the last edit before it reaches over it.
    for mark, start in zip(marks, mark_starts, strict=True):
        before = bisect_right(edit_starts, start) - 1
        if before < 0 or ordered[before][1] <= start:
            left.append((start, mark, None))
    for edit in ordered:
        before = bisect_left(mark_starts, edit[0]) - 1
        if before >= 0 and edit[2].startswith(_line_up_to(text, marks[before])):
            left.append((edit[0], marks[before], edit))
    left.sort(key=lambda one: one[0])
    return [(mark, edit) for _, mark, edit in left]


def _line_up_to(text: str, mark: _Mark) -> str:
    """A line break, and the line of an item up to the end of its number."""
    return "\n" + text[text.rfind("\n", 0, mark.place[0]) + 1 : mark.place[1]]


def _firsts(marks: Sequence[_Mark]) -> dict[_Mark, _Mark]:
    """For each mark the first one of its list; deeper lists may stand between its items."""
    first_of = dict[_Mark, _Mark]()
    last = dict[tuple[object, ...], _Mark]()
    for mark in marks:
        before = last.get(mark.style)
        follows = before is not None and mark.number == before.number + 1
        first_of[mark] = first_of[before] if follows and before is not None else mark
        last[mark.style] = mark
    return first_of


def _marks(text: str) -> Iterator[_Mark]:
    """The marks of numbered lists."""
    numbers = list[tuple[int, re.Match[str]]]()
    for start, end in mark_spans(text):
        match = _NUMBERED.match(text[start:end])
        if match is not None:
            numbers.append((start, match))
    # "i" is a letter or a Roman numeral: a list that has "ii" counts in Roman numerals.
    roman = {match["before"] for _, match in numbers if match["number"] in _SECOND}
    for start, match in numbers:
        known = numeral(match["number"], roman=match["before"] in roman)
        if known is None:
            continue
        system, number = known
        line = text[text.rfind("\n", 0, start) + 1 : start + 1]
        indent = len(line) - len(line.lstrip())
        place = start + match.start("number"), start + match.end("number")
        yield _Mark(place, number, system, (match["before"], match["behind"], indent, system))
