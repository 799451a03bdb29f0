"""What is known about English words: how common they are, how they are spelt, what they are for."""

import functools
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

PRONOUNS: Mapping[str, str] = {
    form: kind
    for kind, forms in {
        "he": "he him his himself",
        "she": "she her hers herself",
        "they": "they them their theirs themselves",
        "it": "it its itself",
        "i": "i me my mine myself we us our ours ourselves",
    }.items()
    for form in forms.split()
}
"""Pronoun -> what kind of person or thing it stands for."""
ARTICLES = frozenset("a an the".split())
POSSESSIVES = frozenset("my your their our its".split())
PREPOSITIONS = frozenset("of from into with at by for to in on under over about between during among".split())
CONJUNCTIONS = frozenset("and or but because than if although while".split())
AUXILIARIES = frozenset("is are was were has had does did am".split())
"""Finite forms only."""
MODALS = frozenset("will would can could should must may might".split())
CONNECTIVES = frozenset(
    "but and so then however therefore thus also moreover furthermore instead nevertheless consequently "
    "meanwhile otherwise yet still hence similarly this these those such another both".split()
)
"""Words that tie a sentence to what was said before."""
FUNCTION_WORDS = frozenset(
    "not no nor be been being have having do doing done that which who whom whose what when where why how "
    "there here as it's i'm don't n't s t you your yours all any each few more most other some only own same "
    "very just too up down out off again once before after above below through until against he's she's "
    "without within upon per via one".split()
).union(PRONOUNS, ARTICLES, POSSESSIVES, PREPOSITIONS, CONJUNCTIONS, AUXILIARIES, MODALS, CONNECTIVES)
"""Words that say little about the topic."""

_MONTHS = "january february march april may june july august september october november december".split()
_NUMERALS = "one two three four five six seven eight nine ten eleven twelve".split()
NUMBER_WORDS: Mapping[str, str] = {
    word: str(value) for names in (_MONTHS, _NUMERALS) for value, word in enumerate(names, 1)
}
"""Words that another writer, or another language, may give as a number."""

_COMMON = 3.0
"""Zipf frequency (10^3 per 10^9 words) from which a word of four letters or more is taken as well spelt."""
_RARE_SPAN = 2.0
"""Zipf units below that over which trust in a word fades: rare entries of the list are often misspellings."""
_LONG = 4
"""Each letter short of this demands one Zipf unit more: nearly every short letter string is on the list."""
_UNLISTED = 0.5
"""The most that good-looking letters can say for a word that no list holds."""
_FAMILIAR = 30
"""Listed words (of some 29,000) that must hold a letter trigram before it looks English."""
_LONGEST = 40
"""Letters beyond which a string is no English word; the stemmer recurses over its letters."""
_TOP_ZIPF = 8.0
"""Just above the Zipf frequency of 'the', which so gets a weight near 0."""


@functools.cache
def _frequencies() -> dict[str, float]:
    from wordfreq import get_frequency_dict

    return dict(get_frequency_dict("en", wordlist="large"))


@functools.lru_cache(maxsize=65536)
def zipf(word: str) -> float:
    """log10 of occurrences per 10^9 words of English; 0 for a word that is not listed."""
    frequency = _frequencies().get(word, 0.0)
    return max(0.0, math.log10(frequency) + 9) if frequency else 0.0


def rarity(word: str) -> float:
    """In [0, 1]: how much a word tells, near 0 for the commonest words and 1 for an unlisted one."""
    return max(0.0, 1 - zipf(word) / _TOP_ZIPF)


@functools.cache
def _familiar_trigrams() -> frozenset[str]:
    from wordfreq import get_frequency_dict

    counts = Counter(gram for word in get_frequency_dict("en", wordlist="small") for gram in _trigrams(word))
    return frozenset(gram for gram, count in counts.items() if count >= _FAMILIAR)


def _trigrams(word: str) -> set[str]:
    padded = f" {word} "
    return {padded[i : i + 3] for i in range(len(padded) - 2)}


@functools.lru_cache(maxsize=65536)
def letters_look_english(word: str) -> float:
    """In [0, 1]: the share of a lower-case word's letter trigrams that many English words hold."""
    grams = _trigrams(word)
    return len(grams & _familiar_trigrams()) / len(grams)


@functools.lru_cache(maxsize=65536)
def well_spelt(word: str) -> float:
    """In [0, 1]: how far a lower-case word can be trusted to be spelt as intended."""
    needed = _COMMON + max(0, _LONG - len(word))
    listed = min(1.0, max(0.0, (zipf(word) - needed + _RARE_SPAN) / _RARE_SPAN))
    if len(word) < _LONG:
        return listed
    return max(listed, _UNLISTED * letters_look_english(word))


@functools.cache
def _stemmer() -> Any:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


@functools.lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Porter's stem of a lower-case word, without a possessive 's."""
    bare = word.removesuffix("'s")
    return str(_stemmer().stem(bare)) if len(bare) <= _LONGEST else bare
