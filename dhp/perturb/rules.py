"""Perturbers by rule: for characters, words and sentences.

Typographical errors of nine kinds are those of the package `typo`, drawn in the same way, so that the same
seed gives the same errors. The package seeds the global generator, does not say where it made an error, and
finds every place where one may be made anew for each error; here the places are kept. `typo.StrErrer` in
its place makes the same texts of 100 references of SummEval at 0.36 to 0.39 of the speed, and places are
needed for Markdown and combining marks. Which keys lie side by side, and which characters look alike, is the
package's to say.
"""

import functools
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import compress, islice, pairwise
from random import Random
from typing import Any

from rapidfuzz.distance import OSA

from dhp.core.errors import InputError, NotApplicable
from dhp.core.language import sentence_spans
from dhp.core.markdown import is_hidden, mark_length, masked
from dhp.core.records import Example
from dhp.core.seeding import drawn, drawn_at_once, shuffled
from dhp.perturb.api import TOO_MUCH, Edited, asked_edits, length, perturber
from dhp.perturb.apply import other_texts
from dhp.perturb.cuts import by_line, inserted, removed, repeated
from dhp.perturb.fluency import STOPS, words_in
from dhp.perturb.numbers import near, numbers

Edit = tuple[int, int, str]
"""(start, end, replacement)."""
_TURNED = bytes([1, 0, *range(2, 256)])
"""Turns 0 into 1 and 1 into 0."""
_DOUBLED = re.compile(r"(.)\1")


@functools.cache
def _keyboard() -> Any:
    """The package's English keyboard."""
    from typo.keyboardlayouts import en_default

    return en_default


def _neighbour(char: str, rng: Random) -> str:
    """What a key next to that of a character types; KeyError for a digit that is on no keyboard."""
    keyboard = _keyboard()
    if char.isdecimal():
        if rng.choice([True, False]):
            return str(rng.choice(keyboard.NEIGHBORINGNUMPADDIGITS[char]))
        return {"0": "9", "1": "2"}.get(char) or str(int(char) + (-1) ** rng.randint(0, 1))
    if char.lower() not in keyboard.NEIGHBORINGLETTERS:
        return char
    near: str = rng.choice(keyboard.NEIGHBORINGLETTERS[char.lower()])
    return near.upper() if char.isupper() else near


class TypedText:
    """A text in which errors are made, with the places where letters, digits and other marks stand."""

    __slots__ = ("_inked", "_words", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._words, self._inked = _positions(text)

    def change(self, edit: Edit) -> None:
        """Make an edit."""
        start, end, new = edit
        self.text = self.text[:start] + new + self.text[end:]
        self._words[start:end], self._inked[start:end] = _positions(new)

    def hides(self, edit: Edit) -> bool:
        """Whether an edit would touch what is hidden, or be made right beside it."""
        start, end, _ = edit
        return is_hidden(self.text[max(start - 1, 0) : end + 1])

    def splits(self, edit: Edit, marks: frozenset[str]) -> bool:
        """Whether an edit would part a letter from combining marks behind it."""
        start, end, _ = edit
        return not marks.isdisjoint(self.text[start : start + 1] + self.text[end : end + 1])

    def changed(self, edit: Edit) -> str:
        """The text with an edit."""
        start, end, new = edit
        return self.text[:start] + new + self.text[end:]

    def word_character(self, rng: Random, at_least: int = 1) -> int | None:
        """A place of a letter, digit or `_`; None if there are fewer than so many."""
        return _drawn(self._words, rng) if self._words.count(1) >= at_least else None

    def inked(self, rng: Random) -> int | None:
        """A place of anything but white space."""
        return _drawn(self._inked, rng) if self._inked.count(1) else None

    def pair(self, rng: Random) -> int | None:
        """A place of a letter, digit or `_` before another one."""
        both = int.from_bytes(self._words, "little") & int.from_bytes(self._words[1:], "little")
        return _drawn(bytearray(both.to_bytes(len(self._words), "little")), rng) if both else None

    def space(self, rng: Random) -> int | None:
        """A place of a space."""
        if not (count := self.text.count(" ")):
            return None
        return len(self.text) - len(self.text.split(" ", rng.choice(range(count)) + 1)[-1]) - 1

    def doubled(self, rng: Random) -> int | None:
        """A place of a character before the same one."""
        places = [m.start() for m in _DOUBLED.finditer(self.text)]
        return rng.choice(places) if places else None


def combining_marks(text: str) -> frozenset[str]:
    """The combining marks of a text, such as the accent of a letter that is written as two characters."""
    return frozenset() if text.isascii() else frozenset(_marks().findall(text))


@functools.cache
def _marks() -> re.Pattern[str]:
    """A combining mark of the scripts in use; made once, as asking of each character takes longer."""
    marks = filter(lambda c: unicodedata.category(c)[0] == "M", map(chr, range(0x300, 0xFFFF)))
    return re.compile(f"[{''.join(marks)}]")


def _positions(text: str) -> tuple[bytearray, bytearray]:
    """Two masks of the characters: letters, digits and `_`; and all that is not white space."""
    words = bytearray(map(str.isalnum, text))
    for i, c in enumerate(text) if "_" in text else ():
        words[i] |= c == "_"
    return words, bytearray(map(str.isspace, text)).translate(_TURNED)


def _drawn(positions: bytearray, rng: Random) -> int:
    """The position of a random 1, come up to from the left by as many places as 1s are missing."""
    wanted = rng.randint(0, positions.count(1) - 1) + 1
    i = wanted - 1
    while missing := wanted - positions.count(1, 0, i + 1):
        i += missing
    return i


def _char_swap(typed: TypedText, rng: Random) -> Edit | None:
    if (i := typed.pair(rng)) is None:
        return None
    one, two = typed.text[i], typed.text[i + 1]
    first = one.upper() if two.isupper() else one.lower()
    second = two.upper() if one.isupper() else two.lower()
    return i, i + 2, second + first


def _missing_char(typed: TypedText, rng: Random) -> Edit | None:
    i = typed.word_character(rng, at_least=2)
    return None if i is None else (i, i + 1, "")


def _extra_char(typed: TypedText, rng: Random) -> Edit | None:
    i = typed.word_character(rng)
    return None if i is None else (i, i, _neighbour(typed.text[i], rng))


def _nearby_char(typed: TypedText, rng: Random) -> Edit | None:
    if (edit := _extra_char(typed, rng)) is None:
        return None
    i, _, new = edit
    return i, i + 1, new.upper() if typed.text[i].isupper() else new.lower()


def _similar_char(typed: TypedText, rng: Random) -> Edit | None:
    if (i := typed.word_character(rng)) is None:
        return None
    char, alike = typed.text[i], _keyboard().VISUALLYSIMILARCHARS
    return i, i + 1, rng.choice(alike[char]) if char in alike else char


def _skipped_space(typed: TypedText, rng: Random) -> Edit | None:
    i = typed.space(rng)
    return None if i is None else (i, i + 1, "")


def _random_space(typed: TypedText, rng: Random) -> Edit | None:
    i = typed.inked(rng)
    return None if i is None else (i, i, " ")


def _repeated_char(typed: TypedText, rng: Random) -> Edit | None:
    i = typed.word_character(rng)
    return None if i is None else (i, i, typed.text[i])


def _unichar(typed: TypedText, rng: Random) -> Edit | None:
    i = typed.doubled(rng)
    return None if i is None else (i, i + 1, "")


TYPOS: dict[str, tuple[Callable[[TypedText, Random], Edit | None], int]] = {
    "char_swap": (_char_swap, 0),
    "missing_char": (_missing_char, -1),
    "extra_char": (_extra_char, 1),
    "nearby_char": (_nearby_char, 0),
    "similar_char": (_similar_char, 0),
    "skipped_space": (_skipped_space, -1),
    "random_space": (_random_space, 1),
    "repeated_char": (_repeated_char, 1),
    "unichar": (_unichar, -1),
}
"""The kinds of the package, and how each must change the length of a text."""
ON_A_KEYBOARD = ("extra_char", "nearby_char")
"""Errors that depend on neighbouring keys; the package knows only the English keyboard."""


def _dose(text: str, k: int | None, share: float | None) -> tuple[int, int]:
    """Edits asked for and to be made, which are at most half of the text's letters and digits."""
    letters = sum(map(str.isalnum, masked(text).text))
    asked = asked_edits(k, share, letters)
    dose = min(asked, letters // 2)
    if dose == 0:
        raise NotApplicable("fewer than two letters or digits")
    return asked, dose


@perturber(name="random_deletions", level="character", degrees={"minor": {"k": 10}, "major": {"k": 50}})
def random_deletions(text: str, rng: Random, *, k: int | None = None, share: float | None = None) -> Edited:
    """Delete `k` letters or digits, or a `share` of them, at distinct random positions.

    The positions of a smaller dose are among those of a larger one. At most half of them go. Combining marks
    go with their letter.
    """
    asked, dose = _dose(text, k, share)
    positions = list(compress(range(len(text)), map(str.isalnum, masked(text).text)))
    gone = sorted(islice(drawn(positions, rng), dose))
    first, *others = (text[a + 1 : b] for a, b in pairwise([-1, *gone, len(text)]))
    if marks := "".join(combining_marks(text)):
        others = [piece.lstrip(marks) for piece in others]
    return Edited("".join([first, *others]), asked, dose)


_LONG = 4_000
"""Characters from which typographical errors are made, and their distance measured, in pieces of a text."""
_PIECE = 60


def _equal_pieces(text: str) -> list[str]:
    """The text, or where it is long as many equal pieces as make them short; none begins with a mark."""
    count = 1 if len(text) <= _LONG else -(-len(text) // _PIECE)
    pieces = [text[len(text) * i // count : len(text) * (i + 1) // count] for i in range(count)]
    if count > 1 and (marks := "".join(combining_marks(text))):
        starts = [len(piece) - len(piece.lstrip(marks)) for piece in pieces[1:]]
        moved = [piece[:n] for piece, n in zip(pieces[1:], starts, strict=True)]
        pieces = [piece[n:] + more for piece, n, more in zip(pieces, [0, *starts], [*moved, ""], strict=True)]
    return pieces


@perturber(name="random_typos", level="character", degrees={"minor": {"k": 10}, "major": {"k": 50}})
def random_typos(
    text: str, rng: Random, *, language: str | None = None, k: int | None = None, share: float | None = None
) -> Edited:
    """Make `k` typographical errors as the `typo` package does, each of which takes the text further away.

    With `share` there are as many as that share of the letters and digits, at most half of them. In languages
    other than English no neighbouring key is hit, as the package knows no other keyboard; a text whose
    language is not known is taken to be typed on that keyboard.

    An error that changes nothing, undoes or merges with an earlier one (the optimal string alignment
    distance to the original must grow), or is no typographical error ('9' to '10') is drawn again. The
    errors of a smaller dose are the first of those of a larger one. None parts a letter from its combining
    marks. In a text of over 4,000 characters each
    error falls within one of equal pieces of at most 60, and counts by its distance there.
    """
    asked, dose = _dose(text, k, share)
    prose = masked(text)
    text = prose.text
    kinds = [kind for name, kind in TYPOS.items() if language in (None, "en") or name not in ON_A_KEYBOARD]
    made = 0
    pieces = _equal_pieces(text)
    results: dict[int, TypedText] = {}
    distances = [0] * len(pieces)
    errors, marks = Random(rng.getrandbits(64)), combining_marks(text)
    for _ in range(20 * dose + 100):
        draw, growth = kinds[int(rng.random() * len(kinds))]
        i = int(rng.random() * len(pieces)) if len(pieces) > 1 else 0
        if (typed := results.get(i)) is None:
            typed = results[i] = TypedText(pieces[i])
        try:
            edit = draw(typed, errors)
        except KeyError:  # a digit that is on no keyboard of the package
            continue
        if edit is None or len(edit[2]) - (edit[1] - edit[0]) != growth or typed.hides(edit):
            continue
        if marks and typed.splits(edit, marks):
            continue
        after = typed.changed(edit)
        further = OSA.distance(pieces[i], after) if after.strip() else 0
        if further <= distances[i]:
            continue
        typed.change(edit)
        distances[i] = further
        made += 1
        if made == dose:
            break
    if made == 0:
        raise NotApplicable("no typographical error is possible in this text")
    joined = "".join(results[i].text if i in results else piece for i, piece in enumerate(pieces))
    return Edited(prose.restored(joined), asked, made)


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


@perturber(name="number_changes", level="word", degrees={"minor": {"k": 1}, "major": {"share": 1.0}})
def number_changes(text: str, rng: Random, *, k: int | None = None, share: float | None = None) -> Edited:
    """Change `k` of the numbers in digits, or a `share` of them, to the next higher or lower one (`near`).

    Codes such as "COVID-19", versions and the marks of items stay. The changes of a smaller dose are among
    those of a larger one.
    """
    order = shuffled(numbers(masked(text).text), rng)
    asked = asked_edits(k, share, len(order))
    if not order:
        raise NotApplicable("no number in digits")
    chosen = [(number.span(), near(number[0], rng)) for number in order[:asked]]
    for (start, end), new in sorted(chosen, reverse=True):
        text = f"{text[:start]}{new}{text[end:]}"
    return Edited(text, asked, len(chosen))


@perturber(name="reordering", level="sentence", degrees={"minor": {"count": 2}, "major": {"count": "all"}})
def reordering(
    text: str,
    rng: Random,
    *,
    language: str | None = None,
    count: int | str | None = None,
    share: float | None = None,
) -> Edited:
    """Shuffle `count` sentences (or "all", or a `share` of them) so that none of them stays where it was."""
    if share is None and count != "all" and not (isinstance(count, int) and count >= 2):
        raise InputError(
            f"perturber 'reordering': count must be 'all' or an integer of at least 2, not {count!r}"
        )
    spans = sentence_spans(text, language)
    parts = [text[start:end] for start, end in spans]
    if len(set(parts)) < 2:
        raise NotApplicable("fewer than two different sentences")
    asked = count if isinstance(count, int) else len(parts)
    if share is not None:
        asked = max(2, asked_edits(None, share, len(parts)))
    moved = min(asked, len(parts))
    for _ in range(1000):
        positions = sorted(rng.sample(range(len(parts)), moved))
        order = _deranged(positions, rng)
        reordered = parts.copy()
        for position, origin in zip(positions, order, strict=True):
            reordered[position] = parts[origin]
        if reordered != parts:
            break
    else:
        raise NotApplicable("no other order found")
    pieces, end = [], 0
    for (start, following), part in zip(spans, reordered, strict=True):
        pieces += [text[end:start], part]
        end = following
    return Edited("".join([*pieces, text[end:]]), asked, moved)


def _deranged(positions: Sequence[int], rng: Random) -> list[int]:
    """A uniformly random order of at least two items in which none stays in its position."""
    order = list(positions)
    while any(a == b for a, b in zip(order, positions, strict=True)):
        rng.shuffle(order)
    return order


@perturber(name="sentence_deletion", level="sentence", degrees={"minor": {"k": 1}, "major": {"share": 0.5}})
def sentence_deletion(
    text: str, rng: Random, *, language: str | None = None, k: int | None = None, share: float | None = None
) -> Edited:
    """Delete `k` sentences, or a `share` of them, as long as half of the text is left.

    A sentence that would take more is skipped. Those of a smaller dose are among those of a larger one.
    """
    spans = sentence_spans(text, language)
    asked = asked_edits(k, share, len(spans))
    if len(spans) < 2:
        raise NotApplicable("fewer than two sentences")
    gone, left = list[tuple[int, int]](), length(text) / 2
    for start, end in drawn(spans, rng):
        if (size := length(text[start:end])) <= left:
            gone.append((start, end))
            left -= size
        if len(gone) == asked:
            break
    if not gone:
        raise NotApplicable(TOO_MUCH)
    for start, end in sorted(gone, reverse=True):
        text = removed(text, start, end)
    return Edited(text, asked, len(gone))


@perturber(name="sentence_repetition", level="sentence", degrees={"minor": {"k": 1}, "major": {"k": 3}})
def sentence_repetition(
    text: str, rng: Random, *, language: str | None = None, k: int | None = None, share: float | None = None
) -> Edited:
    """Say `k` sentences, or a `share` of them, twice in a row.

    Those of a smaller dose are among those of a larger one.
    """
    spans = sentence_spans(text, language)
    asked = asked_edits(k, share, len(spans))
    chosen = list(islice(drawn(spans, rng), asked))
    if not chosen:
        raise NotApplicable("no sentence")
    for start, end in sorted(chosen, reverse=True):
        text = repeated(text, start, end)
    return Edited(text, asked, len(chosen))


@perturber(name="sentence_insertion", level="sentence", degrees={"minor": {"k": 1}, "major": {"k": 3}})
def sentence_insertion(
    text: str,
    rng: Random,
    *,
    language: str | None = None,
    others: Sequence[Example],
    k: int | None = None,
    share: float | None = None,
) -> Edited:
    """Put `k` sentences of `others`, or a `share` of the text's number, behind random sentences.

    Each is of another example. Those of a smaller dose, and their positions, are among those of a larger one.
    """
    sentences, ends = _plain_sentences(text, language), [end for _, end in sentence_spans(text, language)]
    asked, added = asked_edits(k, share, len(ends)), list[tuple[int, str]]()
    for other in drawn_at_once(others, rng) if ends else []:
        if len(added) == asked:
            break
        position, which = ends[int(rng.random() * len(ends))], rng.random()
        if known := sorted(_plain_sentences(other.output, language) - sentences):
            added.append((position, known[int(which * len(known))]))
            sentences.add(added[-1][1])
    if not added:
        raise NotApplicable("no other example with another sentence")
    for position, sentence in sorted(added, key=lambda one: one[0], reverse=True):
        text = inserted(text, position, sentence)
    return Edited(text, asked, len(added))


def _plain_sentences(text: str, language: str | None) -> set[str]:
    """The sentences of a text without marks of lists."""
    spans = sentence_spans(text, language)
    return {text[start + mark_length(text, start) : end] for start, end in spans}


def _text_of_another(text: str, rng: Random, others: Sequence[Example]) -> str:
    candidates = other_texts(others, text)
    if not candidates:
        raise NotApplicable("no other example with another text")
    return candidates[int(rng.random() * len(candidates))]


@perturber(name="random_ending", level="sentence")
def random_ending(text: str, rng: Random, *, others: Sequence[Example]) -> str:
    """The ending of another story."""
    return _text_of_another(text, rng, others)


@perturber(name="random_answer", level="sentence")
def random_answer(text: str, rng: Random, *, others: Sequence[Example]) -> str:
    """The answer to another question."""
    return _text_of_another(text, rng, others)


@perturber(name="wrong_ending", level="sentence")
def wrong_ending(text: str, rng: Random, *, example: Example) -> str:
    """The wrong ending that the dataset gives (field `wrong_ending`)."""
    wrong = example.fields.get("wrong_ending")
    if not wrong:
        raise NotApplicable("the example has no field 'wrong_ending'")
    if wrong == text:
        raise NotApplicable("the wrong ending equals the right one")
    return wrong
