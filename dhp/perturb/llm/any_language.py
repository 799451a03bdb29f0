"""Checks of a model's texts that need no dictionary: they hold in every language.

Names, figures, marks and unchanged words are the same in all of them. Where wordfreq has a list of a
language, a new word that is not in it is misspelt.
"""

import functools
import re
from collections.abc import Iterable, Mapping

from rapidfuzz.distance import OSA

NEGATIONS = {
    "en": frozenset("not no never none neither nor nothing nobody without cannot".split()),
    "de": frozenset(
        "nicht kein keine keinen keinem keiner keines nie niemals nichts niemand ohne weder".split()
    ),
    "fr": frozenset("ne n pas jamais rien aucun aucune sans ni personne".split()),
    "es": frozenset("no nunca jamás nada nadie ningún ninguno ninguna sin ni tampoco".split()),
}
"""Words that deny, by language."""
_CHINESE_NEGATIONS = re.compile("不|没|無|无|未|非|否|别")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_LIKE = 0.6
"""Share of the longer of two words that they have in common from the start, from which they may be forms of
one."""
_LETTERS_OF_A_SLIP = 2
_SHORT = 4
"""Letters of words of which two may differ in few letters and still be two words."""


def denies(text: str, language: str | None) -> bool | None:
    """Whether a sentence denies something; None in a language whose words are not known."""
    if language == "zh":
        return _CHINESE_NEGATIONS.search(text) is not None
    if language not in NEGATIONS:
        return None
    words = re.findall(r"[^\W\d_]+", text.lower().replace("’", "'"))
    short = language == "en" and re.search(r"n't\b", text.lower().replace("’", "'")) is not None
    return short or not NEGATIONS[language].isdisjoint(words)


def numbers(text: str) -> frozenset[str]:
    """The numbers in digits, without marks between these."""
    return frozenset(re.sub(r"\D", "", number) for number in _NUMBER.findall(text))


def is_slip(old: str, new: str) -> bool:
    """Whether a name is only misspelt: few letters differ."""
    short = min(len(old), len(new))
    if old.lower() == new.lower() or short < _SHORT or any(c.isdigit() for c in old + new):
        return False
    most = _LETTERS_OF_A_SLIP if short > _SHORT else 1
    return OSA.distance(old.lower(), new.lower(), score_cutoff=most) <= most


def is_akin(word: str, others: Iterable[str]) -> bool:
    """Whether a word may be a form of one of the others: they begin alike."""
    return any(_shared_start(word.lower(), other.lower()) for other in others)


def _shared_start(one: str, other: str) -> bool:
    if one == other:
        return True
    longest = max(len(one), len(other))
    shared = next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return shared >= max(2, _LIKE * longest) or (shared >= _SHORT and longest <= 2 * shared)


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


@functools.cache
def _known_words(language: str | None) -> Mapping[str, float]:
    """Word -> its share of all words; empty in a language without a list."""
    from wordfreq import available_languages, get_frequency_dict

    if language is None or language in ("en", "zh", "ja") or language not in available_languages("best"):
        return {}
    return dict(get_frequency_dict(language, wordlist="best"))
