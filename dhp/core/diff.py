"""Differences between two texts, in linear time for long ones.

How two texts are compared:

1. Long ones are cut into parts that belong together (`text_parts`, `parts`): at stretches that stand once in
   both and in the same order. So a long text with few changes takes time in proportion to its length.
2. Each part is cut into pieces, characters, words or sentences, and these are aligned (`_edits`).
3. `audit` counts the edits. `diff` shows them, `excerpt` those around the first changes of a long text, and
   `snippet` those that fit into a line.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Literal

from dhp.core.records import Audit
from dhp.core.sentences import sentence_spans

LONG = 10_000
"""Items from which a sequence is compared in parts: comparing two takes time and memory of their product."""
_PART = 2_000
"""Items of a part, at least if there are anchors and at most if there are none."""
_BLOCK = 24
"""Characters that are the same in both texts behind a change, which show that it is over."""
_REACH = 600
"""Characters of both texts within which a change must be over."""


Pair = tuple[Sequence[str], Sequence[str]]
"""Items of the old and of the new sequence, to be compared with each other alone."""


def parts(old: Sequence[str], new: Sequence[str]) -> Iterator[Pair]:
    """Cut two sequences of strings into parts that belong together, in order and without a gap.

    Up to `LONG` items there is one part. Longer sequences are cut at items that stand once in both, in the
    same order ("patience diff"); a stretch without any is cut into equal shares, wherever these end. So what
    is found by comparing part with part is a true way from one to the other, but it may be a longer one than
    the shortest.
    """
    if max(len(old), len(new)) <= LONG:
        yield old, new
        return
    start_old, start_new = 0, 0
    for i, j in [*_anchors(old, new), (len(old), len(new))]:
        # Not every anchor begins a part: many short ones would cost more than they save.
        if max(i - start_old, j - start_new) >= _PART or i == len(old):
            yield from _shares(old[start_old:i], new[start_new:j])
            start_old, start_new = i, j


def text_parts(old: str, new: str) -> Iterator[tuple[str, str]]:
    """Cut two texts at spaces into parts that belong together, in order; most of them are equal.

    Both are read side by side: behind each change that is soon over a part begins. From the first that is
    not, what is left is one part up to the end that both share. A way from one text to the other, found by
    comparing part with part, may be longer than the shortest.
    """
    start_old = start_new = 0  # of the part that is not yet yielded
    i = j = 0  # from here on nothing is compared yet
    while True:
        same = shared(old, new, i, j)
        space = old.rfind(" ", i, i + same)
        if space > i:  # what is equal is a part of its own, which nobody compares again
            cut_new = j + space - i
            yield old[start_old:space], new[start_new:cut_new]
            start_old, start_new = space, cut_new
        behind = _behind_change(old, new, i + same, j + same)
        if behind is None:
            break
        i, j = behind
        yield old[start_old:i], new[start_new:j]
        start_old, start_new = i, j
    rest_old, rest_new = old[start_old:], new[start_new:]
    # Read backwards, what both begin with is what they end with.
    end = shared(rest_old[::-1], rest_new[::-1])
    # The end begins at a space; what is before it is one part.
    space = rest_old.find(" ", len(rest_old) - end) if end else -1
    end = len(rest_old) - space if space >= 0 else 0
    yield rest_old[: len(rest_old) - end], rest_new[: len(rest_new) - end]
    yield rest_old[len(rest_old) - end :], rest_new[len(rest_new) - end :]


def shared(old: str, new: str, i: int = 0, j: int = 0) -> int:
    """How many characters are the same from `old[i]` and `new[j]` on."""
    # Slices are compared in C: twice as long a one each time until two differ, then halves of the last one.
    most = min(len(old) - i, len(new) - j)
    same, step = 0, 64
    while same < most and old[i + same : i + same + step] == new[j + same : j + same + step]:
        same, step = same + step, 2 * step
    same, high = min(same, most), min(same + step, most)
    while same < high:
        middle = (same + high + 1) // 2
        if old[i + same : i + middle] == new[j + same : j + middle]:
            same = middle
        else:
            high = middle - 1
    return same


def _behind_change(old: str, new: str, i: int, j: int) -> tuple[int, int] | None:
    """The first spaces behind `old[i]` and `new[j]` from which on both are the same for a while."""
    # Only a space can begin the part behind a change: words stay whole.
    space = old.find(" ", i, i + _REACH)
    while space >= 0:
        block = old[space : space + _BLOCK]
        place = new.find(block, j, space + j - i + _REACH)
        if len(block) == _BLOCK and place >= 0:
            return space, place
        space = old.find(" ", space + 1, i + _REACH)
    return None


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The positions of items that stand once in both, the most of them that are in the same order.

    None if most are not: the sequences then hold the same things in another order.
    """
    once = _standing_once(old) & _standing_once(new)
    # Where each of them stands in `new`; the pairs come in the order of `old`.
    places = {item: j for j, item in enumerate(new) if item in once}
    pairs = [(i, places[item]) for i, item in enumerate(old) if item in once]

    # The longest increasing subsequence, as patience sorting finds it. Of the chains of each length, the one
    # that ends lowest: the number of its last pair, and where that stands in `new`.
    ends: list[int] = []
    lows: list[int] = []
    before: list[int] = []  # number of a pair -> that of the pair before it in its chain, -1 for the first
    for number, (_, j) in enumerate(pairs):
        # The longest chain that this pair can follow has as many pairs as `lows` has entries below `j`.
        length = bisect_left(lows, j)
        before.append(ends[length - 1] if length else -1)
        # Slices, as they replace an entry or append one at the end.
        ends[length : length + 1] = [number]
        lows[length : length + 1] = [j]

    # The longest chain, from its end.
    chain: list[tuple[int, int]] = []
    number = ends[-1] if ends else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1] if 2 * len(chain) >= len(pairs) else []


def _standing_once(items: Sequence[str]) -> set[str]:
    return {item for item, count in Counter(items).items() if count == 1}


def _shares(old: Sequence[str], new: Sequence[str]) -> Iterator[Pair]:
    """The part, or if it is long as many equal shares of both sides as make them short."""
    longest = max(len(old), len(new))
    count = 1 if longest <= LONG else -(-longest // _PART)  # rounded up
    for k in range(count):
        begin_old, end_old = len(old) * k // count, len(old) * (k + 1) // count
        begin_new, end_new = len(new) * k // count, len(new) * (k + 1) // count
        yield old[begin_old:end_old], new[begin_new:end_new]


Operation = Literal["=", "-", "+"]
"""Kept, deleted, inserted."""
_WORD = re.compile(r"\s+|\w+|[^\w\s]")  # white space, a word, or a single mark


def audit(before: str, after: str, asked: int | None = None, made: int | None = None) -> Audit:
    """Edit distance and similarity of two texts, with the edits asked and made if they were counted.

    The distance of texts of over `LONG` characters is a sum over parts: it may be too high.
    """
    from rapidfuzz.distance import Levenshtein

    distance = 0
    for old, new in _matched(before, after, "character"):
        if old != new:
            distance += Levenshtein.distance(old, new)
    # A sum over parts may be more than to write the whole text anew.
    longest = max(len(before), len(after))
    distance = min(distance, longest)
    return Audit(asked, made, distance, round(1 - distance / longest, 6))


def diff(before: str, after: str, level: str) -> list[tuple[Operation, str]]:
    """The pieces of both texts in order, compared by character, word or sentence (any other level: by word).

    Without what is deleted they are `after`, to the letter. Texts of over `LONG` pieces are compared in
    parts; more than the least may then be deleted and inserted. If under half of the words of a text that is
    compared by word stay, the old text goes as a whole, and the new one comes.
    """
    edits: list[tuple[bool, str, str]] = []
    for old, new in _matched(before, after, level):
        edits += _edits(old, new, level)

    # Equal pieces that follow one another are one, and so are changes.
    operations: list[tuple[Operation, str]] = []
    for equal, run in groupby(edits, key=lambda edit: edit[0]):
        gone = come = ""
        for _, deleted, inserted in run:
            gone += deleted
            come += inserted
        if gone and level == "sentence":
            gone = f" {gone.strip()} "  # keeps clear of its neighbours
        if equal:
            operations.append(("=", come))
        else:
            operations += [("-", gone), ("+", come)]
    if level not in ("character", "sentence") and _is_replaced(before, after, operations):
        operations = [("-", before), ("+", after)]
    return [(operation, piece) for operation, piece in operations if piece]


def _is_replaced(before: str, after: str, operations: Sequence[tuple[Operation, str]]) -> bool:
    """Whether under half of the words stay: then marks word by word cannot be read."""
    kept = 0
    for operation, piece in operations:
        if operation == "=":
            kept += len(piece.split())
    return 2 * kept < min(len(before.split()), len(after.split()))


def _matched(before: str, after: str, level: str) -> Iterator[Pair]:
    """The pieces of both texts, cut into parts that are compared with each other alone."""
    # A part may end within a sentence.
    long = level != "sentence" and max(len(before), len(after)) > LONG
    of_both = text_parts(before, after) if long else [(before, after)]
    for old, new in of_both:
        if old == new:
            yield [old], [new]
        elif level == "character" and max(len(old), len(new)) > LONG:
            # No character occurs only once, so the parts are found by words.
            for words, others in parts(_pieces(old, "word"), _pieces(new, "word")):
                yield from parts("".join(words), "".join(others))
        else:
            yield from parts(_pieces(old, level), _pieces(new, level))


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
    # A piece goes up to the next sentence, so that no white space is lost.
    bounds = [0]
    for start, _ in sentence_spans(text)[1:]:
        bounds.append(start)
    bounds.append(len(text))
    return [text[begin:end] for begin, end in pairwise(bounds)]


def _without_space(sentences: Sequence[str]) -> list[str]:
    """A sentence is the same with other white space behind it."""
    return [sentence.rstrip() or sentence for sentence in sentences]


Pieces = list[tuple[Operation, str]]
"""Pieces of `diff`."""
EXCERPT = 10_000
"""The most characters that are shown of a text: if it is longer, those around the first changes to it."""
# What one reads of a snippet on one line.
_AROUND = 40  # characters kept of a piece that did not change
_CHANGED = 80  # of one that was deleted or inserted
_LONGEST_WORD = 20  # of a word that is left out rather than cut
_WHOLE = 200  # of all pieces, from which no further one is begun


def excerpt(before: str, after: str, level: str) -> Pieces:
    """The diff of two texts; if one is longer than `EXCERPT`, of an excerpt of both alone.

    It begins shortly before the first change, and `[…]` stands for what is left out.
    """
    if max(len(before), len(after)) <= EXCERPT:
        return diff(before, after, level)
    # A tenth of the excerpt shows what stands before the first change.
    start = 0 if before == after else max(0, shared(before, after) - EXCERPT // 10)
    end = start + EXCERPT
    operations = diff(before[start:end], after[start:end], level)
    cut_off = end < max(len(before), len(after))
    while cut_off and len(operations) > 1 and operations[-1][0] != "=":
        operations.pop()  # so far one excerpt goes further than the other
    if start:
        operations.insert(0, ("=", "[…] "))
    if cut_off:
        operations.append(("=", " […]"))
    return operations


def snippet(pieces: Sequence[tuple[Operation, str]]) -> list[tuple[Operation, str]]:
    """The pieces around the first change on one line, the longest cut with `…`.

    At most about 300 characters; empty if nothing changed.
    """
    changed = [index for index, (operation, _) in enumerate(pieces) if operation != "="]
    if not changed:
        return []
    first = changed[0]
    begin = max(first - 1, 0)  # with the piece before the change
    operations: list[tuple[Operation, str]] = []
    length = 0  # of all that is shown
    for index, (operation, piece) in enumerate(pieces[begin:], begin):
        text = " ".join(f"x{piece}x".split())[1:-1]  # keeps a space at either end
        room = _AROUND if operation == "=" else _CHANGED
        cut = len(text) > room
        if cut and index < first:
            text = f"… {_whole_words(text[-room:])}"
        elif cut:
            # Backwards, as here it is the last word that may be cut.
            backwards = text[:room][::-1]
            text = f"{_whole_words(backwards)[::-1]} …"
        operations.append((operation, text))
        length += len(text)
        if index < first:
            continue
        if length >= _WHOLE or (cut and operation == "="):
            break
    return operations


def _whole_words(text: str) -> str:
    """The text without the piece of a word that it begins with; all of it if words are not set apart."""
    rest = text[:_LONGEST_WORD].partition(" ")[2] + text[_LONGEST_WORD:]
    return (rest if " " in text[:_LONGEST_WORD] else text).lstrip()
