"""Perturbers of words: missing and swapped ones."""

from bisect import bisect_left
from collections.abc import Sequence
from random import Random

from dhp.core.errors import NotApplicable
from dhp.core.sentences import sentence_spans
from dhp.perturb.api import TOO_MUCH, Edited, asked_edits, length, perturber
from dhp.perturb.cuts import by_line, removals
from dhp.perturb.fluency import STOPS, words_in
from dhp.perturb.numbering import renumbered


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

    def is_too_much(start: int, end: int) -> bool:
        return length(text[spans[start][0] : spans[end - 1][1]]) > most

    # The gap of a mild size, nearest to a random place, without which the sentence breaks; else that place.
    first = int(rng.random() * (len(spans) - mild + 1))
    for start in words.gaps(mild, first):
        if not is_too_much(start, start + mild):
            of_mild = start, start + mild
            break
    else:
        if words.known and dose <= _SHORT:
            raise NotApplicable("no words are known without which the sentence breaks")
        of_mild = first, first + mild
    gone = words.resized(of_mild, dose)
    if is_too_much(*gone):
        # The larger the dose, the more goes: so many doses from 1 on are not too much.
        dose = bisect_left(range(1, dose), True, key=lambda k: is_too_much(*words.resized(of_mild, k)))
        gone = words.resized(of_mild, dose)
    if dose == 0:
        raise NotApplicable(TOO_MUCH)
    return Edited(_without(text, spans[slice(*gone)]).strip(), asked, dose)


_MILD = 0.06
"""Share of the words of a text in the gap that is looked for: chosen."""
_SHORT = 3
"""Words in a row: more of them are missed wherever they are gone."""


def _without(text: str, words: Sequence[tuple[int, int]]) -> str:
    """The text without words in a row."""
    (start, end), *others = by_line(text, words)
    before = text[:start].rstrip(" \t")
    if not others and before[-1:].isalnum():
        start, end = len(before), start + len(text[start:end].rstrip(STOPS))
    return renumbered(text, removals(text, [(start, end), *others]))


@perturber(
    name="word_swaps", level="word", degrees={"minor": {"k": 3}, "major": {"k": 15}}, languages="words"
)
def word_swaps(
    text: str, rng: Random, *, language: str | None = None, k: int | None = None, share: float | None = None
) -> Edited:
    """Exchange `k` pairs of neighbouring words, or as many as a `share` of the words.

    No mark stands between them, and no word moves twice. Pairs whose exchange breaks the sentence, as far as
    lists of words show it, come first, of each function word one in turn. A sentence still begins with a
    capital. The swaps of a smaller dose are among those of a larger one.
    """
    places = words_in(text, language, with_marks=False)
    spans, words = places.spans, [text[start:end] for start, end in places.spans]
    first = _first_words(text, language, spans)
    small = {word for word in words if word.islower()}  # they are no names
    if places.known:
        small |= places.known.all
    asked, chosen = asked_edits(k, share, len(words)), dict[int, tuple[str, str]]()
    for i in places.breaking_first(rng):
        if chosen.keys() & {i - 1, i, i + 1}:  # one of its words moved already
            continue
        pair = words[i + 1], words[i]
        if i in first and words[i][:1].isupper():
            if not (words[i].lower() in small or words[i][1:2].isupper() or words[i] == "I"):
                continue  # it may be a name, and lose its capital if it is none
            pair = _with_capital(words[i + 1]), _without_capital(words[i])
        chosen[i] = pair
        if len(chosen) == asked:
            break
    if not chosen:
        raise NotApplicable("no two neighbouring words differ")
    pieces, end = list[str](), 0
    for i, (one, other) in sorted(chosen.items()):
        (start, middle), (following, stop) = spans[i : i + 2]
        pieces += [text[end:start], one, text[middle:following], other]
        end = stop
    return Edited("".join([*pieces, text[end:]]), asked, len(chosen))


def _first_words(text: str, language: str | None, spans: Sequence[tuple[int, int]]) -> set[int]:
    """The words that begin sentences."""
    starts = [start for start, _ in spans]
    return {bisect_left(starts, start) for start, _ in sentence_spans(text, language)}


def _with_capital(word: str) -> str:
    return word[:1].upper() + word[1:]


def _without_capital(word: str) -> str:
    """The word in small letters, unless it is written in capitals."""
    return word if word[1:2].isupper() or word == "I" else word[:1].lower() + word[1:]
