"""Typographical errors.

The nine kinds are those of the package `typo`, drawn in the same way, so that the same
seed gives the same errors. The package seeds the global generator, does not say where it made an error, and
finds every place where one may be made anew for each error; here the places are kept. `typo.StrErrer` in
its place makes the same texts of 100 references of SummEval at 0.36 to 0.39 of the speed, and places are
needed for Markdown and combining marks. Which keys lie side by side, and which characters look alike, is the
package's to say.
"""

import functools
import math
import re
from collections.abc import Callable
from random import Random
from typing import Any

from rapidfuzz.distance import OSA

from dhp.core.errors import NotApplicable
from dhp.core.markdown import is_hidden, masked
from dhp.perturb.api import Edited, perturber
from dhp.perturb.edits import Edit
from dhp.perturb.rules.characters import combining_marks, letters_dose

_TURNED = bytes([1, 0, *range(2, 256)])
"""Turns 0 into 1 and 1 into 0."""
_DOUBLED = re.compile(r"(.)\1")  # "ll"


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
    hit: str = rng.choice(keyboard.NEIGHBORINGLETTERS[char.lower()])
    return hit.upper() if char.isupper() else hit


class TypedText:
    """A text in which errors are made, with the places where letters, digits and other marks stand."""

    __slots__ = ("_inked", "_words", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._words, self._inked = _positions(text)

    def change(self, edit: Edit) -> None:
        """Make an edit."""
        start, end, new = edit
        self.text = self.changed(edit)
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
        # As numbers, so that one operation compares all places: a 1 stays where two follow each other.
        both = int.from_bytes(self._words, "little") & int.from_bytes(self._words[1:], "little")
        return _drawn(bytearray(both.to_bytes(len(self._words), "little")), rng) if both else None

    def space(self, rng: Random) -> int | None:
        """A place of a space."""
        count = self.text.count(" ")
        if not count:
            return None
        return len(self.text) - len(self.text.split(" ", rng.choice(range(count)) + 1)[-1]) - 1

    def doubled(self, rng: Random) -> int | None:
        """A place of a character before the same one."""
        places = [m.start() for m in _DOUBLED.finditer(self.text)]
        return rng.choice(places) if places else None


def _positions(text: str) -> tuple[bytearray, bytearray]:
    """Two masks of the characters: letters, digits and `_`; and all that is not white space."""
    words = bytearray(map(str.isalnum, text))
    for match in re.finditer("_", text):
        words[match.start()] = 1
    return words, bytearray(map(str.isspace, text)).translate(_TURNED)


def _drawn(positions: bytearray, rng: Random) -> int:
    """The position of a random 1, come up to from the left by as many places as 1s are missing."""
    wanted = rng.randint(0, positions.count(1) - 1) + 1
    i = wanted - 1
    missing = wanted - positions.count(1, 0, i + 1)
    while missing:
        i += missing
        missing = wanted - positions.count(1, 0, i + 1)
    return i


# One function for each kind of error of the package: the edit, or None if the text has no place for it.


def _char_swap(typed: TypedText, rng: Random) -> Edit | None:
    i = typed.pair(rng)
    if i is None:
        return None
    one, two = typed.text[i], typed.text[i + 1]
    # The capital stays where it was: "The" becomes "Hte".
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
    edit = _extra_char(typed, rng)
    if edit is None:
        return None
    i, _, new = edit
    return i, i + 1, new.upper() if typed.text[i].isupper() else new.lower()


def _similar_char(typed: TypedText, rng: Random) -> Edit | None:
    i = typed.word_character(rng)
    if i is None:
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
_LONG = 4_000
"""Characters from which typographical errors are made, and their distance measured, in pieces of a text: the
time that a distance takes grows as the square of the length. Chosen."""
_PIECE = 60
"""Characters of a piece, at most: chosen."""


def _equal_pieces(text: str) -> list[str]:
    """The text, or if it is long as many equal pieces as make them short; none begins with a mark."""
    if len(text) <= _LONG:
        return [text]
    count = math.ceil(len(text) / _PIECE)
    marks = "".join(combining_marks(text))
    pieces = list[str]()
    for i in range(count):
        piece = text[len(text) * i // count : len(text) * (i + 1) // count]
        if pieces and marks:
            # Marks that belong to the last letter of the piece before go there.
            rest = piece.lstrip(marks)
            pieces[-1] += piece[: len(piece) - len(rest)]
            piece = rest
        pieces.append(piece)
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
    marks. In a text of over 4,000 characters each error falls within one of equal pieces of at most 60, and
    counts by its distance there.
    """
    asked, dose = letters_dose(text, k, share)
    prose = masked(text, codes=True)
    text = prose.text
    on_keyboard = language in (None, "en")
    kinds = [kind for name, kind in TYPOS.items() if on_keyboard or name not in ON_A_KEYBOARD]

    made = 0
    pieces = _equal_pieces(text)
    results: dict[int, TypedText] = {}
    distances = [0] * len(pieces)
    errors, marks = Random(rng.getrandbits(64)), combining_marks(text)
    # A bound on the draws, as a short text may have no room for the dose.
    for _ in range(20 * dose + 100):
        draw, growth = kinds[int(rng.random() * len(kinds))]
        i = int(rng.random() * len(pieces)) if len(pieces) > 1 else 0
        typed = results.get(i)
        if typed is None:
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
    for i, typed in results.items():
        pieces[i] = typed.text
    return Edited(prose.restored("".join(pieces)), asked, made)
