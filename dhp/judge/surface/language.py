"""Features of the language: spelling, form and word order, each from a case to [0, 1]; higher is better."""

import functools
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import TypeVar

from dhp.core.language import ARTICLES, AUXILIARIES, CONJUNCTIONS, POSSESSIVES, PREPOSITIONS, zipf
from dhp.judge.surface.document import SENTENCES_KEPT, Case, Sentence, Text, Word

T = TypeVar("T")

_MISSPELT_LIMIT = 0.3
"""A text with this share of misspelt words cannot be read any more."""
_FORM_LIMIT = 0.2
"""Faults of form per word that make a text look broken all over."""
_GRAMMAR_LIMIT = 0.1
"""Impossible word pairs per word that make a text unreadable: most damage to grammar shows in no pair."""
_COMMON_ZIPF = 3.0
"""Zipf frequency from which a word of four letters or more is taken as well spelt."""
_RARE_SPAN = 2.0
"""Zipf units below that over which trust in a word fades: rare entries of the list are often misspellings."""
_LONG = 4
"""Each letter short of this demands one Zipf unit more: nearly every short letter string is on the list."""
_UNLISTED = 0.5
"""The most that good-looking letters can say for a word that no list holds."""
_FAMILIAR = 30
"""Listed words (of some 29,000) that must hold a letter trigram before it looks English."""
_NAME_TRUST = 0.7
"""What a capital inside a sentence says for an unlisted word: no word list holds names."""


def _unless(faults: float, limit: float, case: Case) -> float:
    """1 without faults, 0 from `limit` faults per word."""
    return max(0.0, 1 - faults / (limit * max(1, len(case.text.words))))


def _trigrams(word: str) -> set[str]:
    padded = f" {word} "
    return {padded[i : i + 3] for i in range(len(padded) - 2)}


@functools.cache
def _familiar_trigrams() -> frozenset[str]:
    from wordfreq import get_frequency_dict

    counts = Counter(gram for word in get_frequency_dict("en", wordlist="small") for gram in _trigrams(word))
    return frozenset(gram for gram, count in counts.items() if count >= _FAMILIAR)


@functools.lru_cache(maxsize=65536)
def _looks_english(word: str) -> float:
    """Share of a lower-case word's letter trigrams that many English words hold, in [0, 1]."""
    grams = _trigrams(word)
    return len(grams & _familiar_trigrams()) / len(grams)


def _well_spelt(word: str) -> float:
    """Trust that a lower-case word is spelt as intended, in [0, 1]."""
    needed = _COMMON_ZIPF + max(0, _LONG - len(word))
    listed = min(1.0, max(0.0, (zipf(word) - needed + _RARE_SPAN) / _RARE_SPAN))
    return listed if len(word) < _LONG else max(listed, _UNLISTED * _looks_english(word))


def _trust(word: Word, inside: bool, source: Text, question: Text, vocabulary: frozenset[str]) -> float:
    bare = word.lower.removesuffix("'s")
    if bare[0].isdigit() or "." in bare:
        return 1.0  # a number, or initials such as e.g. and U.S.
    if bare in vocabulary or word.lower in vocabulary:
        return 1.0
    if word.form[0].isupper() and (word.lower in source.lowers or word.lower in question.lowers):
        return 1.0  # a name in both languages
    if len(bare) == 1:
        return float(bare in "aio" or word.form.isupper())
    trust = max(_well_spelt(bare), _well_spelt(word.lower))
    if word.form[0].isupper() and inside:
        trust = max(trust, _NAME_TRUST + (1 - _NAME_TRUST) * _looks_english(bare))
    return trust


@functools.lru_cache(maxsize=8)
def _doubts(
    source: Text, question: Text, vocabulary: frozenset[str]
) -> Callable[[Sentence], tuple[float, ...]]:
    """Says what the words of a sentence that are not fully trusted lack in trust."""

    @functools.lru_cache(maxsize=SENTENCES_KEPT)
    def doubt(word: Word, inside: bool) -> float:
        return 1 - _trust(word, inside, source, question, vocabulary)

    @functools.lru_cache(maxsize=SENTENCES_KEPT)
    def doubts(sentence: Sentence) -> tuple[float, ...]:
        return tuple(filter(None, (doubt(word, i > 0) for i, word in enumerate(sentence.words))))

    return doubts


def spelling(case: Case) -> float:
    """1 if every word is trusted, 0 if a share of `_MISSPELT_LIMIT` is misspelt."""
    doubts = _doubts(case.source, case.question, case.vocabulary)
    doubt = 0.0
    for sentence in case.text.sentences:
        for each in doubts(sentence):
            doubt += each
    return _unless(doubt, _MISSPELT_LIMIT, case)


_FAULTS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\S  +\S",  # a doubled space
        r"\w [,.;:!?)]",  # a space before a mark
        r"[^\W\d_][,;:!?](?=[^\W\d_])",  # no space after a mark
        r"([^\W\d_])\1\1",  # a letter three times
        r"\b\d+[^\W\d_]{3,}|\b[^\W\d_]{2,}\d+[^\W\d_]",  # digits inside a word
        r"\b[a-z][A-Z]",  # a capital second
    )
)
_END = re.compile(r"[.!?。！？…][\"'”’)\s\]]*$")


def _in_pieces(find: Callable[[str], frozenset[T]], text: Text) -> frozenset[T]:
    """What is found in any piece of a text."""
    return frozenset[T]().union(*map(find, text.pieces))


@functools.lru_cache(maxsize=SENTENCES_KEPT)
def _faults(piece: str) -> frozenset[tuple[int, str]]:
    """The faults of form: the number of the kind, and the place as it is written."""
    return frozenset((kind, m.group()) for kind, fault in enumerate(_FAULTS) for m in fault.finditer(piece))


def form(case: Case) -> float:
    """1 without faults of form; a habit of the source (a space before marks) is not a fault of the text."""
    habits = {kind for kind, _ in _in_pieces(_faults, case.source)}
    faults = sum(kind not in habits for kind, _ in _in_pieces(_faults, case.text))
    if case.source.cased or not case.source.english:
        faults += sum(sentence.words[0].form[0].islower() for sentence in case.text.sentences)
    faults += (not _END.search(case.text.plain)) + case.text.plain.count('"') % 2
    return _unless(faults, _FORM_LIMIT, case)


_TOKEN = re.compile(r"[^\W_]+(?:['-][^\W_]+)*|[.!?,;:)]")
_DETERMINERS = ARTICLES | POSSESSIVES
_SUBJECTS = frozenset("he she they we i".split())
_NEVER = (
    (_DETERMINERS, _DETERMINERS | PREPOSITIONS - {"under", "over"} | CONJUNCTIONS | AUXILIARIES | _SUBJECTS),
    (PREPOSITIONS - {"to", "in", "on", "over", "by", "about"}, AUXILIARIES | _SUBJECTS),
    (_SUBJECTS, ARTICLES | {"of", "from", "into"}),
    (AUXILIARIES | {"to"}, AUXILIARIES),
)
"""(first words, second words) that English does not put side by side."""
_NEVER_LAST = _DETERMINERS | frozenset("of from into than".split())
"""Words that need another after them, even before a comma; a conjunction needs one before a full stop."""


def _impossible(left: str, right: str) -> bool:
    if not right[0].isalnum():
        return left in _NEVER_LAST if right in ",:" else left in _NEVER_LAST | CONJUNCTIONS
    if left == right:
        return left.isalpha()
    if left == "a" and right[0] in "aeio" and not right.startswith(("one", "once", "eu")):
        return True
    return any(left in first and right in second for first, second in _NEVER)


@functools.lru_cache(maxsize=SENTENCES_KEPT)
def _impossible_pairs(piece: str) -> frozenset[tuple[str, str]]:
    """The impossible ones among neighbouring lower-case words and marks."""
    pairs = pairwise(map(str.lower, _TOKEN.findall(piece)))
    return frozenset((left, right) for left, right in pairs if _impossible(left, right))


def word_order(case: Case) -> float:
    """1 if no two neighbouring words are impossible side by side and no phrase breaks off.

    A pair that the source has too is not a fault.
    """
    faults = len(_in_pieces(_impossible_pairs, case.text) - _in_pieces(_impossible_pairs, case.source))
    return _unless(faults, _GRAMMAR_LIMIT, case)
