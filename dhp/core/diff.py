"""Differences between two texts: how far apart they are, and what was deleted and inserted."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal

from dhp.core.alignment import LONG, parts, text_parts
from dhp.core.records import Audit
from dhp.core.text import sentence_spans

Operation = Literal["=", "-", "+"]
"""Kept, deleted, inserted."""
_WORD = re.compile(r"\s+|\w+|[^\w\s]")


def audit(before: str, after: str, asked: int | None = None, made: int | None = None) -> Audit:
    """Edit distance and similarity of two texts, with the edits asked and made where they were counted.

    The distance of texts of over `alignment.LONG` characters is a sum over parts: it may be too high.
    """
    from rapidfuzz.distance import Levenshtein

    pairs = _matched(before, after, "character")
    distance = sum(Levenshtein.distance(old, new) for old, new in pairs if old != new)
    longest = max(len(before), len(after))
    distance = min(distance, longest)
    return Audit(asked, made, distance, round(1 - distance / longest, 6))


def diff(before: str, after: str, level: str) -> list[tuple[Operation, str]]:
    """The pieces of both texts in order, compared by character, word or sentence (any other level: by word).

    Without what is deleted they are `after`, to the letter. Texts of over `alignment.LONG` pieces are
    compared in parts; more than the least may then be deleted and inserted.
    """
    pairs = _matched(before, after, level)
    edits = [edit for old, new in pairs for edit in _edits(old, new, level)]
    found: list[tuple[Operation, str]] = []
    for equal, run in groupby(edits, key=lambda edit: edit[0]):
        _, deleted, inserted = zip(*run, strict=True)
        gone, come = "".join(deleted), "".join(inserted)
        if gone and level == "sentence":
            gone = f" {gone.strip()} "  # keeps clear of its neighbours
        found += [("=", come)] if equal else [("-", gone), ("+", come)]
    return [(operation, piece) for operation, piece in found if piece]


def _matched(before: str, after: str, level: str) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """The pieces of both texts, cut into parts that are compared with each other alone."""
    long = level != "sentence" and max(len(before), len(after)) > LONG
    for old, new in text_parts(before, after) if long else [(before, after)]:
        if old == new:
            yield [old], [new]
        elif level == "character" and max(len(old), len(new)) > LONG:
            # No character occurs only once, so the parts are found by words.
            for words, others in _cut(_pieces(old, "word"), _pieces(new, "word")):
                yield from _cut("".join(words), "".join(others))
        else:
            yield from _cut(_pieces(old, level), _pieces(new, level))


def _cut(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    for part in parts(old, new):
        yield old[part.old_start : part.old_end], new[part.new_start : part.new_end]


def _edits(old: Sequence[str], new: Sequence[str], level: str) -> Iterator[tuple[bool, str, str]]:
    """Whether pieces are equal, with those of the old text and those of the new one."""
    from rapidfuzz.distance import Indel

    bare = _without_space if level == "sentence" else lambda pieces: pieces
    for op in Indel.opcodes(bare(old), bare(new)):
        gone, come = old[op.src_start : op.src_end], new[op.dest_start : op.dest_end]
        yield op.tag == "equal", "".join(gone), "".join(come)


def _pieces(text: str, level: str) -> Sequence[str]:
    """The text in pieces that are compared as wholes; joined they are the text again."""
    if level == "character":
        return text
    if level != "sentence":
        return _WORD.findall(text)
    starts = [0, *(start for start, _ in sentence_spans(text)[1:])]
    return [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]


def _without_space(sentences: Sequence[str]) -> list[str]:
    """A sentence is the same with other white space behind it."""
    return [sentence.rstrip() or sentence for sentence in sentences]
