"""What a server repeats of a request, as many do in their errors: it says nothing of the server.

Texts under judgement may speak of credit, keys and filters. Repetitions are found by runs of words, whatever
signs a server puts between them or around them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

_WORD = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]|\w+")
"""A word, or a letter of a language without spaces."""
_IN_A_ROW = 4
"""Words that are the request's own if they stand there in the same order. Chosen."""
_LEAST = 20
"""Characters of a part that is left out; a shorter one may be the server's own. Chosen."""


def without_request(message: str, messages: Iterable[Mapping[str, Any]]) -> str:
    """The message of an error with `…` in place of what it repeats of the messages of its request."""
    known: set[tuple[str, ...]] = set()
    for each in messages:
        known.update(_rows_of_words(_WORD.findall(str(each.get("content")))))

    words = [*_WORD.finditer(message)]
    rows = _rows_of_words([word[0] for word in words])
    marks = [row in known for row in rows]
    kept: list[str] = []
    end = 0  # of what was looked at so far
    for first, last in _runs(marks):
        start, stop = words[first].start(), words[last + _IN_A_ROW - 1].end()
        if stop - start >= _LEAST:
            kept += [message[end:start], "…"]
            end = stop
    return "".join([*kept, message[end:]])


def _rows_of_words(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """All words that follow one another, `_IN_A_ROW` at a time: a b c d e -> a b c d, b c d e."""
    for start in range(len(words) - _IN_A_ROW + 1):
        yield tuple(words[start : start + _IN_A_ROW])


def _runs(marks: list[bool]) -> list[tuple[int, int]]:
    """The first and the last mark of each run; runs whose words touch are one."""
    runs: list[tuple[int, int]] = []
    for place, marked in enumerate(marks):
        if not marked:
            continue
        if runs and place <= runs[-1][1] + _IN_A_ROW:
            runs[-1] = runs[-1][0], place
        else:
            runs.append((place, place))
    return runs
