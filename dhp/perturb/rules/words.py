"""Word-level rules: deleted words, swapped words, changed numbers."""

import re
import string
from bisect import bisect_left
from collections.abc import Sequence
from random import Random

from dhp.core.errors import NotApplicable
from dhp.core.language import word_spans
from dhp.core.seeding import drawn, shuffled
from dhp.perturb.api import TOO_MUCH, Edited, asked_edits, length, perturber

_PUNCTUATION = string.punctuation.replace("_", "") + "“”‘’„«»…—–¿¡、，。！？；：（）《》〈〉【】।॥؟،؛"
"""Punctuation that stays where it is when words move."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@perturber(
    name="word_deletions", level="word", degrees={"minor": {"k": 5}, "major": {"k": 25}}, languages="words"
)
def word_deletions(
    text: str, rng: Random, *, language: str | None = None, k: int | None = None, share: float | None = None
) -> Edited:
    """Delete `k` consecutive words, or a `share` of them.

    Words are those of `word_spans`. At most half of the words go, and at most half of the text. The words
    that a smaller dose deletes are among those of a larger one.
    """
    spans = word_spans(text, language)
    asked = asked_edits(k, share, len(spans))
    dose = min(asked, len(spans) // 2)
    if dose == 0:
        raise NotApplicable("fewer than two words")
    place = rng.random()
    most = length(text) // 2

    def too_much(k: int) -> bool:
        return length(text[slice(*_window(spans, k, place))]) > most

    dose = bisect_left(range(1, dose + 1), True, key=too_much)
    if dose == 0:
        raise NotApplicable(TOO_MUCH)
    start, end = _window(spans, dose, place)
    head, tail = text[:start], text[end:]
    gap = " " if head != head.rstrip() or tail != tail.lstrip() else ""
    return Edited(f"{head.rstrip()}{gap}{tail.lstrip()}".strip(), asked, dose)


def _window(spans: Sequence[tuple[int, int]], dose: int, position: float) -> tuple[int, int]:
    """Start and end of `dose` words in a row, from a relative `position` in [0, 1).

    A larger dose at the same position holds a smaller one.
    """
    first = int(position * (len(spans) - dose + 1))
    return spans[first][0], spans[first + dose - 1][1]


@perturber(
    name="word_swaps", level="word", degrees={"minor": {"k": 3}, "major": {"k": 15}}, languages="words"
)
def word_swaps(
    text: str, rng: Random, *, language: str | None = None, k: int | None = None, share: float | None = None
) -> Edited:
    """Exchange `k` pairs of neighbouring words, or as many as a `share` of the words.

    Punctuation stays where it is, no word moves twice. The swaps of a smaller dose are among those of a
    larger one.
    """
    tokens = [(start, text[start:end]) for start, end in word_spans(text, language)]
    words = [token.strip(_PUNCTUATION) for _, token in tokens]
    starts = [start + token.index(word) for (start, token), word in zip(tokens, words, strict=True)]
    asked, chosen = asked_edits(k, share, len(words)), set[int]()
    for i in drawn([i for i in range(len(words) - 1) if words[i] != words[i + 1]], rng):
        if not chosen & {i - 1, i, i + 1}:
            chosen.add(i)
        if len(chosen) == asked:
            break
    if not chosen:
        raise NotApplicable("no two neighbouring words differ")
    pieces, end = list[str](), 0
    for i in sorted(chosen):
        one, two = words[i : i + 2]
        pieces += [text[end : starts[i]], two, text[starts[i] + len(one) : starts[i + 1]], one]
        end = starts[i + 1] + len(two)
    return Edited("".join([*pieces, text[end:]]), asked, len(chosen))


@perturber(name="number_changes", level="word", degrees={"minor": {"k": 1}, "major": {"share": 1.0}})
def number_changes(text: str, rng: Random, *, k: int | None = None, share: float | None = None) -> Edited:
    """Replace `k` of the numbers in digits, or a `share` of them, by others of the same length and script.

    The first digit always differs, so that the value does. The changes of a smaller dose are among those of
    a larger one.
    """
    numbers = shuffled(list(_NUMBER.finditer(text)), rng)
    asked = asked_edits(k, share, len(numbers))
    if not numbers:
        raise NotApplicable("no digit")
    letters = list(text)
    for number in numbers[:asked]:
        for i in filter(lambda i: letters[i].isdecimal(), range(*number.span())):
            old = int(letters[i])
            digits = [d for d in range(10) if i > number.start() or d not in (0, old)]
            letters[i] = chr(ord(letters[i]) - old + digits[int(rng.random() * len(digits))])
    return Edited("".join(letters), asked, min(asked, len(numbers)))
