"""Checks of a model's texts that need no dictionary: they hold in every language.

Names, figures, marks and unchanged words are the same in all of them. Where wordfreq has a list of a
language, a new word that is not in it is misspelt.
"""

import functools
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pydantic import Field
from rapidfuzz.distance import OSA

from dhp.content.catalog import read_list
from dhp.core.language import CJK, HAN
from dhp.core.specs import Spec
from dhp.core.words import word_frequency


class _Denials(Spec):
    """Words of a language that deny; words are separated by spaces."""

    denials: str
    """What stands in a sentence that denies."""
    like: str
    """Words that may deny by themselves."""
    like_forms: str
    """Such words as a regular expression."""
    opposites: list[str] = Field(default=[])
    """Pairs of words that say the opposite."""


class Denials(Spec):
    """Words that deny, by language."""

    languages: dict[str, _Denials]


class _Known(NamedTuple):
    denials: frozenset[str]
    like: frozenset[str]
    forms: re.Pattern[str]
    opposites: Sequence[Sequence[str]]


@functools.cache
def _denials(language: str | None) -> _Known | None:
    """The words of a language; None of one without a list."""
    lists: Denials = read_list("denials", Denials)
    if language not in lists.languages:
        return None
    words = lists.languages[language]
    return _Known(
        frozenset(words.denials.split()),
        frozenset(words.like.split()),
        re.compile(words.like_forms),
        [pair.split() for pair in words.opposites],
    )


_LETTERS = re.compile(rf"[{CJK}]|[^\W\d_{CJK}]+")
_NEGATIONS = {
    "zh": re.compile("不|没|無|无|未|非|否|别"),
    "ja": re.compile("(?<!しか)な(?:い|か)|ませ?ん|ず(?:に|[、。])"),
}
"""What denies in languages without spaces; しかない is "only"."""
_LIKE = 0.6
"""Share of the longer of two words that they have in common from the start, from which they may be forms of
one."""
_ENDING = 2
"""Letters that an ending has at most beside a doubled one, as in `Bus`, `Busses`."""
_LONGEST = 2.5
"""Letters of the longer one to each that they have in common, as of `appris` and `apprendre`."""
_LETTERS_OF_A_SLIP = 2
SHORT_WORD = 4
"""Letters of words that mostly join others."""
_SHORT = 4
"""Letters of words of which two may differ in few letters and still be two words."""


def denies(text: str, language: str | None) -> bool | None:
    """Whether a sentence denies something; None in a language whose words are not known."""
    if language in _NEGATIONS:
        return _NEGATIONS[language].search(text) is not None
    known = _denials(language)
    if known is None:
        return None
    short = language == "en" and re.search(r"n['’]t\b", text.lower()) is not None
    return short or not known.denials.isdisjoint(plain_words(text))


def may_deny(text: str, language: str | None) -> bool:
    """Whether a sentence holds a word that may deny by itself, as `unknown` and `fails` do."""
    known = _denials(language)
    if known is None:
        return True
    words = plain_words(text)
    if not known.like.isdisjoint(words):
        return True
    return any(known.forms.fullmatch(word) for word in words)


def further_opposites(word: str, language: str | None) -> frozenset[str]:
    """Opposites of a word that no rule exchanges, as `fewer` for `more`."""
    known = _denials(language)
    pairs = known.opposites if known else ()
    return frozenset(other for pair in pairs if word in pair for other in pair if other != word)


def plain_words(text: str) -> Sequence[str]:
    """The words in small letters, each Chinese character as one; as `attendait` of "n'attendait"."""
    return _LETTERS.findall(text.lower())


def is_denial(word: str, language: str | None) -> bool:
    """Whether a word by itself denies."""
    known = _denials(language)
    return known is not None and word in known.denials


def is_slip(old: str, new: str) -> bool:
    """Whether a name is only misspelt: few letters differ."""
    short = min(len(old), len(new))
    if old.lower() == new.lower() or short < _SHORT or any(c.isdigit() for c in old + new):
        return False
    most = _LETTERS_OF_A_SLIP if short > _SHORT else 1
    return OSA.distance(old.lower(), new.lower(), score_cutoff=most) <= most


def is_akin(word: str, others: Iterable[str]) -> bool:
    """Whether a word may be a form of one of the others: they begin alike."""
    plain = _without_accents(word)
    return any(_shared_start(plain, _without_accents(other)) for other in others)


def _without_accents(word: str) -> str:
    """In small letters; an umlaut may come and go in the forms of a word."""
    return "".join(c for c in unicodedata.normalize("NFD", word.lower()) if not unicodedata.combining(c))


def _shared_start(one: str, other: str) -> bool:
    if one == other:
        return True
    shortest = min(len(one), len(other))
    longest = max(len(one), len(other))
    shared = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), shortest)
    if shared == shortest > _ENDING >= longest - shared - 1:
        return True
    return shared >= max(2, _LIKE * longest) or (shared >= _SHORT and longest <= _LONGEST * shared)


def is_word(word: str, language: str | None) -> bool:
    """Whether a word is in the list of its language; True in a language without one."""
    known = _known_words(language)
    return not known or word.lower() in known


_FREQUENT = 3e-4
"""Share of all words from which on a word is an auxiliary, an article or the like."""


def is_frequent(word: str, language: str | None) -> bool:
    """Whether a word is so frequent that it is one of grammar; True in a language without a list."""
    known = _known_words(language)
    return not known or known.get(word.lower(), 0.0) >= _FREQUENT


def adds_content(characters: str, language: str | None) -> bool:
    """Whether new Chinese or Japanese characters are more than what grammar puts beside words."""
    if language == "ja":
        return any(map(is_content_character, characters))
    return language == "zh" and word_frequency(characters, "zh") < _FREQUENT_CHARACTERS


def is_content_character(character: str) -> bool:
    """Whether a character is Chinese or katakana: hiragana mostly are particles and endings."""
    return re.fullmatch(f"[{HAN}\u30a0-\u30ff]", character) is not None


_FREQUENT_CHARACTERS = 1e-3
"""Share of all Chinese words that those of grammar have, such as 了 and 把."""


@functools.cache
def _known_words(language: str | None) -> Mapping[str, float]:
    """Word -> its share of all words; empty in a language without a list."""
    from wordfreq import available_languages, get_frequency_dict

    if language is None or language in ("en", "zh", "ja") or language not in available_languages("best"):
        return {}
    return dict(get_frequency_dict(language, wordlist="best"))
