"""Checks of a model's texts that need no dictionary: they hold in every language.

Names, figures, marks and unchanged words are the same in all of them. Where wordfreq has a list of a
language, a new word that is not in it is misspelt. What denies, and pairs of opposites, stand in the list
`denials`.

Bounds were chosen so that the labelled answers in tests/perturb/acceptance.yaml and scripted_answers.yaml are
judged rightly.
"""

import functools
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field
from rapidfuzz.distance import OSA

from dhp.content.catalog import read_list
from dhp.core.language import CJK, HAN
from dhp.core.specs import Spec
from dhp.core.words import word_frequency


def _split(words: object) -> object:
    return frozenset(words.split()) if isinstance(words, str) else words


Words = Annotated[frozenset[str], BeforeValidator(_split)]
"""In the file the words are one text, with spaces between them."""


class _Denials(Spec):
    """Words of a language that deny."""

    denials: Words
    """What stands in a sentence that denies."""
    like: Words
    """Words that may deny by themselves."""
    like_forms: re.Pattern[str]
    """Such words as a regular expression."""
    opposites: list[Words] = Field(default=[])
    """Pairs of words that say the opposite."""


class Denials(Spec):
    """Words that deny, by language."""

    languages: dict[str, _Denials]


def _denials(language: str | None) -> _Denials | None:
    """The words of a language; None of one without a list."""
    lists: Denials = read_list("denials", Denials)
    return lists.languages.get(language or "")


_LETTERS = re.compile(rf"[{CJK}]|[^\W\d_{CJK}]+")
"""A Chinese character, or letters without figures and marks."""
_NEGATIONS = {
    "zh": re.compile("不|没|無|无|未|非|否|别"),
    "ja": re.compile("(?<!しか)な(?:い|か)|ませ?ん|ず(?:に|[、。])"),
}
"""What denies in languages without spaces, as 不知道 and 行かない; しかない is "only"."""
_LIKE = 0.6
"""Share of the longer of two words that they have in common from the start, from which they may be forms of
one."""
_ENDING = 2
"""Letters that an ending has at most beside a doubled one, as in `Bus`, `Busses`."""
_LONGEST = 2.5
"""Letters of the longer one to each that they have in common, e.g. of `appris` and `apprendre`."""
_LETTERS_OF_A_SLIP = 2
"""Letters in which a misspelt name differs at most; one in a name of `_SHORT` letters."""
SHORT_WORD = 4
"""Letters of words that mostly join others."""
_SHORT = 4
"""Letters of words of which two may differ in few letters and still be two words."""
_FREQUENT = 3e-4
"""Share of all words from which on a word is an auxiliary, an article or the like."""
_FREQUENT_CHARACTERS = 1e-3
"""Share of all Chinese words that those of grammar have, such as 了 and 把."""


def denies(text: str, language: str | None) -> bool | None:
    """Whether a sentence denies something; None in a language whose words are not known."""
    if language in _NEGATIONS:
        return _NEGATIONS[language].search(text) is not None
    known = _denials(language)
    if known is None:
        return None
    is_short = language == "en" and re.search(r"n['’]t\b", text.lower()) is not None
    return is_short or not known.denials.isdisjoint(plain_words(text))


def may_deny(text: str, language: str | None) -> bool:
    """Whether a sentence holds a word that may deny by itself, as `unknown` and `fails` do."""
    known = _denials(language)
    if known is None:
        return True
    words = plain_words(text)
    if not known.like.isdisjoint(words):
        return True
    return any(known.like_forms.fullmatch(word) for word in words)


def further_opposites(word: str, language: str | None) -> frozenset[str]:
    """Opposites of a word that no rule exchanges, as `fewer` for `more`."""
    known = _denials(language)
    opposites: set[str] = set()
    for pair in known.opposites if known else ():
        if word in pair:
            opposites |= pair
    return frozenset(opposites - {word})


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
    parted = unicodedata.normalize("NFD", word.lower())  # "ä" as "a" and its dots
    return "".join(c for c in parted if not unicodedata.combining(c))


def _shared_start(one: str, other: str) -> bool:
    """Whether two words have so much in common from the start that they may be forms of one."""
    if one == other:
        return True
    shortest, longest = sorted((len(one), len(other)))
    shared = shared_letters(one, other)
    # One is the other with an ending, as `Bus`, `Busses`.
    if shared == shortest > _ENDING >= longest - shared - 1:
        return True
    return shared >= max(2, _LIKE * longest) or (shared >= _SHORT and longest <= _LONGEST * shared)


def shared_letters(one: str, other: str) -> int:
    """How many letters two words have in common from the start."""
    shared = 0
    for letter, letter_of_other in zip(one, other, strict=False):
        if letter != letter_of_other:
            break
        shared += 1
    return shared


def is_word(word: str, language: str | None) -> bool:
    """Whether a word is in the list of its language; True in a language without one."""
    known = _known_words(language)
    return not known or word.lower() in known


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


@functools.cache
def _known_words(language: str | None) -> Mapping[str, float]:
    """Word -> its share of all words; empty in a language without a list."""
    from wordfreq import available_languages, get_frequency_dict

    if language is None or language not in available_languages("best"):
        return {}
    return dict(get_frequency_dict(language, wordlist="best"))
