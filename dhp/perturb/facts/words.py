"""The words of a text that are in the lists, where they mean what the lists say.

Bounds without another source were chosen; docs/degraded-texts.md says how far each kind reaches with them.
"""

import functools
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from dhp.core.words import word_frequency, word_spans
from dhp.perturb.edits import Edit
from dhp.perturb.facts.lists import FactLists

# Six letters or more, as shorter words are mostly function words; or two Chinese characters.
_CONTENT = re.compile(r"[^\W\d_]{6,}|[\u3400-\u9fff]{2}")
_NEAR = 40
"""Characters on each side of a word that are read together with it."""
_SOUNDS = re.compile(r"(?:\b(?:an?|de|que|la|le) |\b(?:[dl]|qu)['’])\Z", re.I)
"""What the first sound of the next word decides on."""
_RAREST = 1e-9
"""Share of a word in texts of its language, below which it does not matter how rare it is."""
_VOWEL = re.compile(r"[aeiouàâäéèêëîïôöùûü]|h(?:our|onest|eure|ier|iver)", re.I)


def content_words(text: str) -> set[str]:
    """The words of a text that say what it is about, in small letters: those of six letters or more.

    Of Chinese text they are pairs of characters.
    """
    return set(_CONTENT.findall(text.lower()))


@functools.lru_cache(maxsize=20_000)
def _frequencies(text: str, language: str | None) -> tuple[float, int]:
    """The sum of the logarithms of the frequencies of words, and their number."""
    words = [text[start:end].lower() for start, end in word_spans(text, language)]
    logarithms = [math.log(word_frequency(word, language) + _RAREST) for word in words]
    return sum(logarithms), len(words)


class Rarity:
    """How rare the words of a text are in its language, on average."""

    def __init__(self, text: str, language: str | None) -> None:
        self._language = language
        self._sum, self._words = _frequencies(text, language)

    def grows(self, old: str, new: str) -> bool:
        """Whether the words of the text are rarer if a part of it makes way for another one."""
        gone, fewer = _frequencies(old, self._language)
        come, more = _frequencies(new, self._language)
        # Mean after < mean before; both sides times both numbers of words, as a text may have none.
        return (self._sum - gone + come) * self._words < self._sum * (self._words - fewer + more)


class ListedWord(NamedTuple):
    """A word of a list as it stands in a text."""

    start: int
    end: int
    written: str
    word: str
    """In small letters."""
    of: str
    """The list: `months`, `weekdays`, `times`, `numbers`, `opposites` or `described`."""
    others: Sequence[str]
    """Those that can stand in its place."""

    def replaced(self, new: str) -> Edit:
        """The edit that puts another word, in its case."""
        return self.start, self.end, new[:1].upper() + new[1:] if self.written[0].isupper() else new


def beside(prose: str, start: int, end: int) -> str:
    """What stands near a place: "advantages and advantages" shows."""
    return prose[max(start - _NEAR, 0) : end + _NEAR]


def sound_alike(old: str, new: str, prose: str, start: int) -> bool:
    """Whether what stands before a word fits another one as well: "an hour" is no "an minute"."""
    return not _decides_on_sound(prose, start) or _begin_alike(old, new)


def _decides_on_sound(prose: str, start: int) -> bool:
    """Whether a word like "a" or "l'" stands before a place."""
    return _SOUNDS.search(prose[max(start - 4, 0) : start]) is not None


def _begin_alike(old: str, new: str) -> bool:
    """Whether both begin with a vowel, or neither does."""
    return (_VOWEL.match(old) is None) == (_VOWEL.match(new) is None)


def starts(phrase: str, text: str, *, is_spaced: bool) -> Iterator[int]:
    """Where a phrase stands in a text; where words have spaces between them (`is_spaced`), by itself."""
    at = text.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        beside = text[max(at - 1, 0) : at] + text[end : end + 1]
        if not is_spaced or not any(char.isalnum() or char in "_-" for char in beside):
            yield at
        at = text.find(phrase, end)


def listed_words(prose: str, lists: FactLists) -> Iterator[ListedWord]:
    """The words of lists in a text, but those in names and those that mean something else there."""
    groups = lists.lists_of_words
    for match in lists.matches(prose):
        written, word = match[0], match[0].lower()
        if not (written.islower() or written == written.capitalize()):
            continue  # in capitals a word may be an abbreviation: "IN", "MAY"
        has_capital = written[0].isupper()
        for name in groups[word]:
            if name in ("months", "weekdays") and word in lists.proper:
                counts = has_capital and lists.is_date(prose, match) and not _is_in_name(match)
            else:  # "Middle East" is a name, "Arm" a German noun
                counts = not has_capital or word in lists.nouns or not _is_inside(prose, match.start())
            counts = counts and not (name == "numbers" and _is_in_range(match, groups))
            others = _fitting(match, word, lists.groups[name][word], lists) if counts else []
            if others:
                yield ListedWord(*match.span(), written, word, name, others)
                break


def _fitting(match: re.Match[str], word: str, others: Sequence[str], lists: FactLists) -> list[str]:
    """The words that can stand where a word of their group stands; none if it means something else there.

    Both must mean what the lists say, so that the one could as well become the other.
    """
    prose, (start, end), is_spaced = match.string, match.span(), lists.is_spaced
    if not lists.fits(word, prose, start, end):
        return []
    if _decides_on_sound(prose, start):
        others = [other for other in others if _begin_alike(word, other)]
    near = beside(prose, start, end).lower()
    fitting = list[str]()
    for other in others:
        stands_near = other in near and any(True for _ in starts(other, near, is_spaced=is_spaced))
        if not stands_near and lists.fits(other, prose, start, end):
            fitting.append(other)
    return fitting


_JOINED = (
    re.compile(r"\b(\w+) (?:to|or|bis|oder|a|o|à|ou) \Z"),
    re.compile(r" (?:to|or|bis|oder|a|o|à|ou) (\w+)"),
)
"""What joins two numbers to a range, before and behind one of them."""


def _is_in_range(match: re.Match[str], groups: Mapping[str, Collection[str]]) -> bool:
    """Whether a number in words is joined to another: of "three to four" none becomes any other."""
    prose, (start, end) = match.string, match.span()
    joined = (_JOINED[0].search(prose[max(start - 20, 0) : start]), _JOINED[1].match(prose, end))
    return any(other is not None and "numbers" in groups.get(other[1].lower(), ()) for other in joined)


# Two further words with capitals: "Saturday Evening Post".
_NAMED = re.compile(r" [A-ZÄÖÜ][^\W\d_]+ [A-ZÄÖÜ]")
_BEFORE_NAME = re.compile(r"\b(?:Good|Black|Holy|Ash|Palm|Easter|Super|Cyber|Bloody) \Z")


def _is_in_name(date: re.Match[str]) -> bool:
    """Whether a weekday or month is a part of a name, as in "Saturday Evening Post" or "Good Friday"."""
    prose, (start, end) = date.string, date.span()
    return bool(_NAMED.match(prose, end) or _BEFORE_NAME.search(prose[max(start - 8, 0) : start]))


def _is_inside(prose: str, start: int) -> bool:
    """Whether something but the end of a sentence stands before a position."""
    before = prose[max(start - 3, 0) : start].rstrip(" ")
    return bool(before) and before[-1] not in '.!?:;\n*•-–("“„«¿¡|'
