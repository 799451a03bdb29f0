"""Checks that a language model inserted rephrasings right after their sentences and changed nothing else.

`insertion_fault` looks for the original sentences in the revised text, in their order. What stands between
them was inserted, and each such piece must rephrase the sentence before it: in English it shares rare words
with it (`_fault_in_english`), elsewhere the beginnings of words (`_fault_in_any_language`). Last, no piece
may deny its sentence (`_contradicts`) or lack a name or a number of it (`_loses`).

Bounds without another source were chosen so that the labelled answers in tests/perturb/acceptance.yaml and
scripted_answers.yaml are judged rightly.
"""

import itertools
import re
from collections.abc import Iterable, Sequence

from dhp.content.catalog import read_list
from dhp.core.english import FUNCTION_WORDS
from dhp.core.sentences import sentences
from dhp.core.words import word_frequency, zipf
from dhp.perturb.facts.lists import LANGUAGES, FactLists
from dhp.perturb.llm.any_language import (
    SHORT_WORD,
    denies,
    further_opposites,
    is_akin,
    is_content_character,
    is_denial,
    may_deny,
    plain_words,
)
from dhp.perturb.llm.values import numbers, sure_numbers
from dhp.perturb.llm.words import CJK, Word, bare, carries_meaning, lemmas, words

CHANGED_SENTENCE = "an original sentence is changed or missing; keep all of them word for word"
REORDERED = "the original sentences are not in their order"
BEFORE_FIRST = "something stands before the first sentence; insert a rephrasing right after its sentence"
COPIED = "a sentence is repeated almost word for word; say it in other words"
MISPLACED = "a rephrasing does not stand right after its sentence"
UNRELATED = "what is inserted rephrases no sentence of the text"
MANY_SENTENCES = "more is inserted than asked for"
CONTRADICTS = "a rephrasing denies its sentence, or has another number or name; say the same"
LOST = "a rephrasing lacks a name or a number of its sentence; keep all of them"
COMMENTED = "a comment stands before a rephrasing; write the sentence alone"
FEW_SENTENCES = "fewer rephrasings are inserted than asked for"

_LEAD_IN = re.compile(
    r"(?:in other words|(?:to )?put (?:it )?(?:another way|differently|otherwise)|that is(?: to say)?|"
    r"said differently|so|thus|namely|again|indeed|in short)\b[,:]?\s*",
    re.I,
)
"""What may be before a rephrasing without making it one, as in `In other words, the bridge is closed.`"""
_COMMENT = re.compile(r"\s*(?:[^\W\d_]+ ){0,3}[^\W\d_]+:\s")
"""A few words and a colon, as in `Rephrased:`."""
_NAMES_BY_CAPITALS = ("en", "es", "fr")
"""Languages in which a capital inside a sentence makes a name."""
_MOST_FREQUENT = 1e-3
"""Share of all words that words without a meaning of their own have, such as `schon`."""
_COPY = 0.92
"""Similarity of words from which a sentence is a copy of another."""
_MOST = 0.6
"""Share of its content words that a rephrasing has of its sentence, from which "not" in one of both is a
contradiction."""
_NEARLY_ALL = 0.8
"""The same, if the one without "not" has a word that may deny by itself."""
_RELATED = 0.3
"""Share of its Chinese and Japanese characters that a rephrasing has of its sentence."""
_LEAST_SHARED = 0.2
"""Weight of the words in common, of all content words, below which one is no rephrasing of the other."""
_SHARED_BY_COPY = 0.5
"""The same for a copy of a sentence: from there on it is one of the sentence before it."""


def insertion_fault(original: str, revised: str, count: int | str, language: str | None) -> str | None:
    """Why a text is not the original with rephrasings after their sentences; see `acceptance.fault`."""
    old = [_spaced(sentence) for sentence in sentences(original)]
    text = _spaced(revised)
    gaps, end = [], 0
    for sentence in old:
        start = _find(sentence, text, end)
        if start < 0:
            is_elsewhere = all(_find(each, text, 0) >= 0 for each in old)
            return REORDERED if is_elsewhere else CHANGED_SENTENCE
        gaps.append(text[end:start])
        end = start + len(sentence)
    gaps.append(text[end:])
    if bare(gaps[0]):
        return BEFORE_FIRST
    # (the sentence that it stands behind, by its place, and what was inserted)
    new = [(at, gap) for at, gap in enumerate(gaps[1:]) if bare(gap)]
    reason = _fault_of_rephrasings(new, old, original, language)
    if reason:
        return reason
    least = min(3 if count == "all" else int(count), len(old))
    if len(new) < least:
        return FEW_SENTENCES
    return MANY_SENTENCES if count == 1 and len(new) > 1 else None


def _fault_of_rephrasings(
    new: Sequence[tuple[int, str]], old: Sequence[str], text: str, language: str | None
) -> str | None:
    """The first reason against any of the pieces: that one is no rephrasing comes before that one is bad."""
    check = _fault_in_english if language == "en" else _fault_in_any_language
    for at, gap in new:
        reason = check(gap, at, old)
        if reason:
            return reason
    for at, gap in new:
        if _COMMENT.match(gap) and not _COMMENT.match(old[at]):
            return COMMENTED
    for at, gap in new:
        if _contradicts(gap, old[at], text, language):
            return CONTRADICTS
    for at, gap in new:
        if _loses(gap, old[at], language):
            return LOST
    return None


def _spaced(text: str) -> str:
    """The text in one line."""
    return " ".join(text.split())


def _find(sentence: str, text: str, start: int) -> int:
    """Position of the sentence as a separate sentence in the text; -1 if there is none."""
    start_of_word = r"(?<!\w)" if sentence[0].isalnum() else ""
    end_of_word = r"(?!\w)" if sentence[-1].isalnum() else ""
    match = re.compile(start_of_word + re.escape(sentence) + end_of_word).search(text, start)
    return match.start() if match else -1


# Whether a piece rephrases its sentence ----


def _fault_in_english(gap: str, index: int, old: Sequence[str]) -> str | None:
    """Why what is after the sentence at `index` does not rephrase it."""
    rest = _LEAD_IN.sub("", gap)
    new, sources = _bases(rest), [_bases(sentence) for sentence in old]
    if _is_copy(new, sources):
        return COPIED if _shared(rest, old[index]) >= _SHARED_BY_COPY else MISPLACED
    if _is_long(new, sources[index]):
        return MANY_SENTENCES
    shares = [_shared(rest, sentence) for sentence in old]
    if max(shares) < _LEAST_SHARED and not _keeps_names(rest, old[index]):
        return UNRELATED
    # It may share a little more with another sentence, as with one that names the same people.
    return MISPLACED if shares[index] < max(_LEAST_SHARED, 0.5 * max(shares)) else None


def _fault_in_any_language(gap: str, index: int, old: Sequence[str]) -> str | None:
    """Why what is after the sentence at `index` does not rephrase it; for languages without a dictionary."""
    new, sources = _bases(gap), [_bases(sentence) for sentence in old]
    if _is_copy(new, sources):
        return COPIED
    source = sources[index]
    if _is_long(new, source):
        return MANY_SENTENCES
    if any(map(_is_cjk, new)):
        content = list(filter(is_content_character, new)) or new
        same = [character for character in content if character in source]
        return None if len(same) >= _RELATED * len(content) else UNRELATED
    known = [word for word in source if len(word) > SHORT_WORD] or source
    return None if any(is_akin(word, known) for word in new) else UNRELATED


def _is_copy(new: Sequence[str], sources: Sequence[Sequence[str]]) -> bool:
    from rapidfuzz.distance import Indel

    return any(Indel.normalized_similarity(source, new) > _COPY for source in sources)


def _is_long(new: Sequence[str], source: Sequence[str]) -> bool:
    """Whether it is so much longer than its sentence that it must be several."""
    return len(new) > 2 * len(source) + 6


def _keeps_names(gap: str, sentence: str) -> bool:
    """Whether two or more names and numbers tell that other words rephrase a sentence."""
    fixed = {word.base for word in words(sentence) if word.named or word.is_number}
    return len(fixed) > 1 and fixed <= {word.base for word in words(gap)}


def _shared(one: str, other: str) -> float:
    """The share of its content words, the rarer the weightier, that the longer text has in common."""
    new, old = _content_words(one), _content_words(other)
    known: set[str] = set()
    for base in old:
        known |= lemmas(base)
    common = [word for base, word in new.items() if not known.isdisjoint(lemmas(base))]
    if len(common) < min(2, len(new), len(old)):  # a single word may be in both by chance
        return 0
    most = max(_weight(new.values()), _weight(old.values()))
    return _weight(common) / max(most, 1)


def _content_words(text: str) -> dict[str, Word]:
    return {word.base: word for word in words(text) if carries_meaning(word)}


def _weight(some: Iterable[Word]) -> float:
    """The rarer a word, the more it says of the topic; 7 is the Zipf frequency of the most frequent ones."""
    total: float = 0
    for word in some:
        total += 4 if word.is_number else max(7 - zipf(word.base), 0.5)
    return total


def _bases(text: str) -> list[str]:
    return [word.base for word in words(text)]


def _is_cjk(word: str) -> bool:
    return re.fullmatch(f"[{CJK}]", word) is not None


# Whether a rephrasing says the same ----


def _contradicts(gap: str, sentence: str, text: str, language: str | None) -> bool:
    """Whether a rephrasing denies its sentence, says the opposite, or has another number or name."""
    if not sure_numbers(gap, language) <= numbers(sentence, language):
        return True
    of_text = plain_words(text)
    for name in _names(gap, language):
        if not is_akin(name, of_text):
            return True
    # Then: as many words in common as make sure that both speak of the same, and one denies it.
    content = [word for word in plain_words(gap) if _is_content(word, language)]
    known = [word for word in plain_words(sentence) if _is_content(word, language)]
    same = len([word for word in content if is_akin(word, known)])
    if denies(gap, language) == denies(sentence, language):
        return same >= _MOST * len(content) and _says_the_opposite(gap, sentence, language)
    # Where other words may deny by themselves, as "unknown" does, only nearly the same words make it sure.
    stated = sentence if denies(gap, language) else gap
    least = _NEARLY_ALL if may_deny(stated, language) else _MOST
    return same >= least * max(len(content), 1)


def _names(text: str, language: str | None) -> Sequence[str]:
    """The names inside the sentences of a text."""
    if language not in _NAMES_BY_CAPITALS:
        return []
    return [word.base for word in words(text) if word.named and len(word.text) > 1 and word.text.isalpha()]


def _is_content(word: str, language: str | None) -> bool:
    """Whether a word has a meaning of its own, and does not deny."""
    if is_denial(word, language) or (language == "en" and word in FUNCTION_WORDS):
        return False
    if _is_cjk(word):
        return True
    return len(word) > SHORT_WORD and word_frequency(word, language) < _MOST_FREQUENT


def _says_the_opposite(gap: str, sentence: str, language: str | None) -> bool:
    """Whether a word of the sentence became its opposite, and what both share stands in the same order."""
    new, old = plain_words(gap), plain_words(sentence)
    came, went = set(new) - set(old), set(old) - set(new)
    if all(came.isdisjoint(_opposites(word, language)) for word in went):
        return False
    places = [old.index(word) for word in new if word in old and _is_content(word, language)]
    return places == sorted(places)


def _opposites(word: str, language: str | None) -> frozenset[str]:
    """The words that say the opposite of one, in the languages that have lists."""
    if language not in LANGUAGES:
        return frozenset()
    groups = read_list(f"facts_{language}", FactLists).groups
    listed = (*groups["opposites"].get(word, ()), *groups["described"].get(word, ()))
    return frozenset(listed) | further_opposites(word, language)


def _loses(gap: str, sentence: str, language: str | None) -> bool:
    """Whether a rephrasing lacks a number of its sentence, or all words of a name."""
    if not sure_numbers(sentence, language) <= numbers(gap, language):
        return True
    if language not in _NAMES_BY_CAPITALS:
        return False
    new = plain_words(gap)
    # Words with a capital in a row are one name, of which one word or an initial is enough.
    runs = itertools.groupby(words(sentence), lambda word: word.named and not word.is_number)
    names: list[list[str]] = []
    for is_name, run in runs:
        if is_name:
            names.append([word.base for word in run])
    return not all(_is_said(name, gap, new) for name in names)


def _is_said(name: Sequence[str], gap: str, words_of_gap: Sequence[str]) -> bool:
    """Whether a part of a name is there in some form, or as an initial, e.g. `J. `."""
    return any(is_akin(part, words_of_gap) or f"{part[0].upper()}. " in gap for part in name)
