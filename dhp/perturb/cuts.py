"""Edits that take parts out of a text or put sentences into it, so that lines and lists keep their form."""

from collections.abc import Iterable, Sequence

from dhp.core.markdown import mark_length
from dhp.perturb.edits import Edit, Span

_BRACKETS = "”’」』）)\"'*_"
"""What may stand behind the full stop of a sentence."""
_STOPS = frozenset(".!?。！？…:：")
_FULL_STOPS = frozenset("。！？")
"""Behind these stands no space."""


def by_line(text: str, spans: Sequence[Span]) -> list[Span]:
    """The spans of each line as one, from its first to its last."""
    lines: list[Span] = []
    for start, end in spans:
        if lines and "\n" not in text[lines[-1][1] : start]:
            lines[-1] = (lines[-1][0], end)
        else:
            lines.append((start, end))
    return lines


def removals(text: str, spans: Iterable[Span]) -> list[Edit]:
    """The edits that take out parts of lines which do not overlap.

    A line goes as a whole if no letter is left in it but the mark of a list, which else stays. With a whole
    paragraph the blank line goes that stands behind it.
    """
    edits = list[Edit]()
    for start, end in _joined(text, spans):
        first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
        if last < 0:
            last = len(text)
        content = _behind_blank(text, first)
        content += mark_length(text, content)
        if any(map(str.isalnum, text[content:start] + text[end:last])):
            edits.append(_removal(text, (start, end), content, last))
            continue
        if edits and edits[-1][1] == first:  # lines in a row
            first = edits.pop()[0]
        edits.append(_line_removal(text, first, last))
    return edits


def _joined(text: str, spans: Iterable[Span]) -> list[Span]:
    """The spans in order; those of one line with no letter between them are one."""
    joined = list[Span]()
    for start, end in sorted(spans):
        between = text[joined[-1][1] : start] if joined else "\n"
        if "\n" in between or any(map(str.isalnum, between)):
            joined.append((start, end))
        else:
            joined[-1] = (joined[-1][0], end)
    return joined


def _line_removal(text: str, first: int, last: int) -> Edit:
    """Of lines from the start of one to the end of one."""
    following = _behind_blank(text, last)
    if following == len(text):
        return len(text[:first].rstrip()), following, ""
    line_before = text[text.rfind("\n", 0, max(first - 1, 0)) + 1 : first]
    end = last + 1 if line_before.strip() else text.rfind("\n", first, following) + 1
    return first, end, ""


def _removal(text: str, part: Span, content: int, last: int) -> Edit:
    """Of a part of a line, whose content begins and ends at these places."""
    start, end = part
    following = _behind_blank(text, end)
    goes_on = bool(text[end:last].strip())
    if goes_on and not mark_length(text, following):
        start += mark_length(text, start)  # the item has another sentence
    if not text[content:start].strip():
        return start, following, ""
    before = len(text[:start].rstrip())
    if not goes_on:
        return before, last, ""
    return before, following, " " if before < start or following > end else ""


def _behind_blank(text: str, start: int) -> int:
    """Where the white space at a position ends."""
    return start + len(text[start:]) - len(text[start:].lstrip())


def insertion(text: str, position: int, sentence: str) -> Edit:
    """The edit that puts a sentence right behind one of the text.

    It gets a line of its own behind a line without a full stop, e.g. an item of a list of words.
    """
    last = text[:position].rstrip(_BRACKETS)[-1:]
    if "\n" in text and last not in _STOPS and _ends_line(text, position):
        gap = "\n"
    else:
        gap = "" if last in _FULL_STOPS else " "
    return position, position, gap + sentence


def repetition(text: str, start: int, end: int) -> Edit:
    """The edit that says a sentence twice; an item of a list as a line of its own, with its mark."""
    mark = mark_length(text, start)
    first = text.rfind("\n", 0, start) + 1
    if mark and not text[first:start].strip() and _ends_line(text, end):
        return end, end, f"\n{text[first:end]}"
    return insertion(text, end, text[start + mark : end])


def _ends_line(text: str, position: int) -> bool:
    return text[position:].lstrip(" \t")[:1] in ("", "\n")
