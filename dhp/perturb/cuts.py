"""Parts taken out of a text and put into it, so that lines and lists keep their form."""

from collections.abc import Sequence

from dhp.core.markdown import mark_length

Span = tuple[int, int]
"""(start, end)."""
_BRACKETS = "”’」』）)\"'*_"
_STOPS = (".", "!", "?", "。", "！", "？", "…", ":", "：")


def by_line(text: str, spans: Sequence[Span]) -> list[Span]:
    """The spans of each line as one, from its first to its last."""
    lines: list[Span] = []
    for start, end in spans:
        if lines and "\n" not in text[lines[-1][1] : start]:
            lines[-1] = (lines[-1][0], end)
        else:
            lines.append((start, end))
    return lines


def removed(text: str, start: int, end: int) -> str:
    """The text without a part of a line.

    The line goes as a whole if no letter is left in it but the mark of a list, which else stays.
    """
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end) % (len(text) + 1)
    content = first + len(text[first:last]) - len(text[first:last].lstrip())
    content += mark_length(text, content)
    start = max(start, content)
    before, after = text[content:start], text[end:last]
    if not any(map(str.isalnum, before + after)):
        rest = text[last:]
        following = rest.lstrip()
        indent = rest[: len(rest) - len(following)].rpartition("\n")[2]
        return text[:first] + indent + following if following else text[:first].rstrip()
    head, tail = text[:start], text[end:]
    if not before.strip():
        return head + tail.lstrip(" \t")
    if not after.strip():
        return head.rstrip() + text[last:]
    gap = " " if head != head.rstrip() or tail != tail.lstrip() else ""
    return f"{head.rstrip()}{gap}{tail.lstrip()}"


def inserted(text: str, position: int, sentence: str) -> str:
    """The text with a sentence right behind one of its own.

    It gets a line of its own behind a line without a full stop, e.g. an item of a list of words.
    """
    before, after = text[:position], text[position:]
    if (
        "\n" in text
        and not before.rstrip(_BRACKETS).endswith(_STOPS)
        and after.lstrip(" \t")[:1] in ("", "\n")
    ):
        gap = "\n"
    else:
        gap = "" if before.rstrip(_BRACKETS).endswith(("。", "！", "？")) else " "
    return f"{before}{gap}{sentence}{after}"


def repeated(text: str, start: int, end: int) -> str:
    """The text with one of its sentences said twice; an item of a list as a line of its own."""
    mark = mark_length(text, start)
    first = text.rfind("\n", 0, start) + 1
    if mark and not text[first:start].strip() and text[end:].lstrip(" \t")[:1] in ("", "\n"):
        return f"{text[:end]}\n{text[first:end]}{text[end:]}"
    return inserted(text, end, text[start + mark : end])
