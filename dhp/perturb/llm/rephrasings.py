"""Checks that a language model inserted rephrasings right after their sentences and changed nothing else."""

import itertools
import re
from collections.abc import Sequence

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
"""What may be before a rephrasing without making it one."""


def insertion_fault(original: str, revised: str, count: int | str, language: str | None) -> str | None:
    """Why a text is not the original with rephrasings after their sentences; see `acceptance.fault`."""
    old = [_spaced(sentence) for sentence in sentences(original)]
    text = _spaced(revised)
    gaps, end = [], 0
    for sentence in old:
        start = _find(sentence, text, end)
        if start < 0:
            return REORDERED if all(_find(s, text, 0) >= 0 for s in old) else CHANGED_SENTENCE
        gaps.append(text[end:start])
        end = start + len(sentence)
    first, *inserted = (gap if bare(gap) else "" for gap in [*gaps, text[end:]])
    if first:
        return BEFORE_FIRST
    new = [(index, gap) for index, gap in enumerate(inserted) if gap]
    check = _rephrasing_fault if language == "en" else _fault_in_any_language
    reason = next(filter(None, (check(gap, at, old) for at, gap in new)), None)
    if reason:
        return reason
    if any(_COMMENT.match(gap) and not _COMMENT.match(old[at]) for at, gap in new):
        return COMMENTED
    if any(_contradicts(gap, old[at], original, language) for at, gap in new):
        return CONTRADICTS
    if any(_loses(gap, old[at], language) for at, gap in new):
        return LOST
    least = min(3 if count == "all" else int(count), len(old))
    if len(new) < least:
        return FEW_SENTENCES
    return MANY_SENTENCES if count == 1 and len(new) > 1 else None


def _contradicts(gap: str, sentence: str, text: str, language: str | None) -> bool:
    """Whether a rephrasing denies its sentence, says the opposite, or has another number or name."""
    if not sure_numbers(gap, language) <= numbers(sentence, language):
        return True
    if not _are_akin(_names(gap, language), plain_words(text)):
        return True
    content = [word for word in plain_words(gap) if _is_content(word, language)]
    known = [word for word in plain_words(sentence) if _is_content(word, language)]
    same = sum(is_akin(word, known) for word in content)
    if denies(gap, language) == denies(sentence, language):
        return same >= _MOST * len(content) and _says_the_opposite(gap, sentence, language)
    # Where other words may deny by themselves, as "unknown" does, only nearly the same words make it sure.
    stated = sentence if denies(gap, language) else gap
    return same >= (_NEARLY_ALL if may_deny(stated, language) else _MOST) * max(len(content), 1)


def _is_content(word: str, language: str | None) -> bool:
    if is_denial(word, language) or (language == "en" and word in FUNCTION_WORDS):
        return False
    if _is_cjk(word):
        return True
    return len(word) > SHORT_WORD and word_frequency(word, language) < _MOST_FREQUENT


_MOST_FREQUENT = 1e-3
"""Share of all words that words without a meaning of their own have, such as `schon`."""


def _says_the_opposite(gap: str, sentence: str, language: str | None) -> bool:
    """Whether a word of the sentence became its opposite, and what both share stands in the same order."""
    new, old = (plain_words(text) for text in (gap, sentence))
    came, went = set(new) - set(old), set(old) - set(new)
    if not any(_opposites(word, language) & came for word in went):
        return False
    shared = [old.index(word) for word in new if word in old and _is_content(word, language)]
    return shared == sorted(shared)


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
    new = plain_words(gap)
    if language not in _NAMES_BY_CAPITALS:
        return False
    named = itertools.groupby(words(sentence), lambda word: word.named and not word.is_number)
    for is_name, run in named:
        parts = [word.base for word in run]
        if is_name and not any(is_akin(part, new) or f"{part[0].upper()}. " in gap for part in parts):
            return True
    return False


_NAMES_BY_CAPITALS = ("en", "es", "fr")
"""Languages in which a capital inside a sentence makes a name."""


def _names(text: str, language: str | None) -> Sequence[str]:
    """The names inside the sentences of a text."""
    if language not in _NAMES_BY_CAPITALS:
        return []
    return [word.base for word in words(text) if word.named and len(word.text) > 1 and word.text.isalpha()]


def _are_akin(some: Sequence[str], known: Sequence[str]) -> bool:
    return all(is_akin(word, known) for word in some)


_NEARLY_ALL = 0.8
_MOST = 0.6
_COMMENT = re.compile(r"\s*(?:[^\W\d_]+ ){0,3}[^\W\d_]+:\s")
"""A few words and a colon, as in `Rephrased:`."""


def _fault_in_any_language(gap: str, index: int, old: Sequence[str]) -> str | None:
    """Why what is after the sentence at `index` does not rephrase it; for languages without a dictionary."""
    from rapidfuzz.distance import Indel

    new, sources = _bases(gap), [_bases(sentence) for sentence in old]
    if any(Indel.normalized_similarity(source, new) > _COPY for source in sources):
        return COPIED
    if len(new) > 2 * len(sources[index]) + 6:
        return MANY_SENTENCES
    source = sources[index]
    if any(map(_is_cjk, new)):
        content = list(filter(is_content_character, new)) or new
        return None if sum(word in source for word in content) >= _RELATED * len(content) else UNRELATED
    known = [word for word in source if len(word) > SHORT_WORD] or source
    return None if any(is_akin(word, known) for word in new) else UNRELATED


_RELATED = 0.3
"""Share of its Chinese and Japanese characters that a rephrasing has of its sentence."""
_COPY = 0.92
"""Similarity of words from which a sentence is a copy of another."""


def _bases(text: str) -> list[str]:
    return [word.base for word in words(text)]


def _is_cjk(word: str) -> bool:
    return re.fullmatch(f"[{CJK}]", word) is not None


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _find(sentence: str, text: str, start: int) -> int:
    """Position of the sentence as a separate sentence in the text; -1 if there is none."""
    start_of_word = r"(?<!\w)" if sentence[0].isalnum() else ""
    end_of_word = r"(?!\w)" if sentence[-1].isalnum() else ""
    match = re.compile(start_of_word + re.escape(sentence) + end_of_word).search(text, start)
    return match.start() if match else -1


def _rephrasing_fault(gap: str, index: int, old: Sequence[str]) -> str | None:
    """Why what is after the sentence at `index` does not rephrase it."""
    from rapidfuzz.distance import Indel

    rest = _LEAD_IN.sub("", gap)
    new, sources = _bases(rest), [_bases(sentence) for sentence in old]
    if any(Indel.normalized_similarity(source, new) > _COPY for source in sources):
        return COPIED if _shared(rest, old[index]) >= 0.5 else MISPLACED
    if len(new) > 2 * len(sources[index]) + 6:
        return MANY_SENTENCES
    shares = [_shared(rest, sentence) for sentence in old]
    if max(shares) < 0.2 and not _keeps_names(rest, old[index]):
        return UNRELATED
    return MISPLACED if shares[index] < max(0.2, 0.5 * max(shares)) else None


def _keeps_names(gap: str, sentence: str) -> bool:
    """Whether two or more names and numbers tell that other words rephrase a sentence."""
    fixed = {word.base for word in words(sentence) if word.named or word.is_number}
    return len(fixed) > 1 and fixed <= {word.base for word in words(gap)}


def _shared(one: str, other: str) -> float:
    """The share of its content words, the rarer the weightier, that the longer text has in common."""
    sides = [_content_words(text) for text in (one, other)]
    forms = {lemma for base in sides[1] for lemma in lemmas(base)}
    common = [word for base, word in sides[0].items() if not forms.isdisjoint(lemmas(base))]
    if len(common) < min(2, *map(len, sides)):
        return 0
    most = max(sum(map(_weight, side.values())) for side in sides)
    return sum(map(_weight, common)) / max(most, 1)


def _content_words(text: str) -> dict[str, Word]:
    return {word.base: word for word in words(text) if carries_meaning(word)}


def _weight(word: Word) -> float:
    return 4 if word.is_number else max(7 - zipf(word.base), 0.5)
