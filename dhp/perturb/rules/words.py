"""Perturbers of words: missing and swapped ones."""

from bisect import bisect_left
from collections.abc import Sequence
from random import Random

from dhp.core.errors import NotApplicable
from dhp.core.seeding import drawn
from dhp.perturb.api import TOO_MUCH, Edited, asked_edits, length, perturber
from dhp.perturb.cuts import by_line, removed
from dhp.perturb.fluency import STOPS, words_in


@perturber(
    name="word_deletions", level="word", degrees={"minor": {"k": 5}, "major": {"k": 25}}, languages="words"
)
def word_deletions(
    text: str, rng: Random, *, language: str | None = None, k: int | None = None, share: float | None = None
) -> Edited:
    """Delete `k` consecutive words, or a `share` of them.

    Words are those of `word_spans`. At most half of the words go, and at most half of the text; those of a
    smaller dose are among those of a larger one. They lie about the place nearest to a random one at which a
    gap of a mild size breaks the sentence, as far as lists of words know. The mark behind them stays if a
    word is before them. Of words in several lines the lines stay.
    """
    words = words_in(text, language, with_marks=True)
    spans = words.spans
    asked = asked_edits(k, share, len(spans))
    dose = min(asked, len(spans) // 2)
    if dose == 0:
        raise NotApplicable("fewer than two words")
    mild, most = max(1, round(_MILD * len(spans))), length(text) // 2

    def too_much(start: int, end: int) -> bool:
        return length(text[spans[start][0] : spans[end - 1][1]]) > most

    first = int(rng.random() * (len(spans) - mild + 1))
    start = next((i for i in words.gaps(mild, first) if not too_much(i, i + mild)), None)
    if start is None and words.known and dose <= _SHORT:
        raise NotApplicable("no words are known without which the sentence breaks")
    of_mild = (first, first + mild) if start is None else (start, start + mild)
    gone = words.resized(of_mild, dose)
    if too_much(*gone):
        dose = bisect_left(range(1, dose), True, key=lambda k: too_much(*words.resized(of_mild, k)))
        gone = words.resized(of_mild, dose)
    if dose == 0:
        raise NotApplicable(TOO_MUCH)
    return Edited(_without(text, spans[slice(*gone)]).strip(), asked, dose)


_MILD = 0.06
"""Share of the words of a text in the gap that is looked for."""
_SHORT = 3
"""Words in a row: more of them are missed wherever they are gone."""


def _without(text: str, words: Sequence[tuple[int, int]]) -> str:
    """The text without words in a row."""
    (start, end), *others = by_line(text, words)
    before = text[:start].rstrip(" \t")
    if not others and before[-1:].isalnum():
        start, end = len(before), start + len(text[start:end].rstrip(STOPS))
    for line in reversed(others):
        text = removed(text, *line)
    return removed(text, start, end)


@perturber(
    name="word_swaps", level="word", degrees={"minor": {"k": 3}, "major": {"k": 15}}, languages="words"
)
def word_swaps(
    text: str, rng: Random, *, language: str | None = None, k: int | None = None, share: float | None = None
) -> Edited:
    """Exchange `k` pairs of neighbouring words, or as many as a `share` of the words.

    No mark stands between them, and no word moves twice. Pairs whose exchange breaks the sentence, as far as
    lists of words show it, come first. The swaps of a smaller dose are among those of a larger one.
    """
    word_places = words_in(text, language, with_marks=False)
    spans, words = word_places.spans, [text[start:end] for start, end in word_places.spans]
    asked, chosen = asked_edits(k, share, len(words)), set[int]()
    for i in word_places.breaking_first(drawn(word_places.neighbours, rng)):
        if not chosen & {i - 1, i, i + 1}:
            chosen.add(i)
        if len(chosen) == asked:
            break
    if not chosen:
        raise NotApplicable("no two neighbouring words differ")
    pieces, end = list[str](), 0
    for i in sorted(chosen):
        (start, middle), (following, stop) = spans[i : i + 2]
        pieces += [text[end:start], words[i + 1], text[middle:following], words[i]]
        end = stop
    return Edited("".join([*pieces, text[end:]]), asked, len(chosen))
