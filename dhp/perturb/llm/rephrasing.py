"""Checks of inserted rephrasings."""

import re
from collections.abc import Sequence

from dhp.core.english import zipf
from dhp.core.text import sentences
from dhp.perturb.llm.word_diff import Word, bare, carries_meaning, lemmas, words

CHANGED_SENTENCE = "an original sentence is changed or missing; keep all of them word for word"
REORDERED = "the original sentences are not in their order"
BEFORE_FIRST = "something stands before the first sentence; insert a rephrasing right after its sentence"
COPIED = "a sentence is repeated almost word for word; say it in other words"
MISPLACED = "a rephrasing does not stand right after its sentence"
UNRELATED = "what is inserted rephrases no sentence of the text"
MANY_SENTENCES = "more is inserted than asked for"
FEW_SENTENCES = "fewer rephrasings are inserted than asked for"

_LEAD_IN = re.compile(
    r"(?:in other words|(?:to )?put (?:it )?(?:another way|differently|otherwise)|that is(?: to say)?|"
    r"said differently|so|thus|namely|again|indeed|in short)\b[,:]?\s*",
    re.I,
)
"""What may be before a rephrasing without making it one."""


def insertion_fault(original: str, revised: str, count: int | str, english: bool) -> str | None:
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
    if english and (reason := next(filter(None, (_rephrasing_fault(gap, at, old) for at, gap in new)), None)):
        return reason
    least = min(3 if count == "all" else int(count), len(old))
    if len(new) < least:
        return FEW_SENTENCES
    return MANY_SENTENCES if count == 1 and len(new) > 1 else None


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _find(sentence: str, text: str, start: int) -> int:
    """Position of the sentence as a separate sentence in the text; -1 if there is none."""
    start_of_word = r"(?<!\w)" if sentence[0].isalnum() else ""
    end_of_word = r"(?!\w)" if sentence[-1].isalnum() else ""
    found = re.compile(start_of_word + re.escape(sentence) + end_of_word).search(text, start)
    return found.start() if found else -1


def _rephrasing_fault(gap: str, index: int, old: Sequence[str]) -> str | None:
    """Why what is after the sentence at `index` does not rephrase it."""
    from rapidfuzz.distance import Indel

    said = _LEAD_IN.sub("", gap)
    new, *sources = ([w.base for w in words(text)] for text in (said, *old))
    if any(Indel.normalized_similarity(source, new) > 0.92 for source in sources):
        return COPIED if _shared(said, old[index]) >= 0.5 else MISPLACED
    if len(new) > 2 * len(sources[index]) + 6:
        return MANY_SENTENCES
    shares = [_shared(said, sentence) for sentence in old]
    if max(shares) < 0.2:
        return UNRELATED
    return MISPLACED if shares[index] < max(0.2, 0.5 * max(shares)) else None


def _shared(one: str, other: str) -> float:
    """The share of its content words, the rarer the weightier, that the longer text has in common."""
    sides = [{w.base: w for w in words(text) if carries_meaning(w)} for text in (one, other)]
    forms = {lemma for base in sides[1] for lemma in lemmas(base)}
    common = [word for base, word in sides[0].items() if not forms.isdisjoint(lemmas(base))]
    if len(common) < min(2, *map(len, sides)):
        return 0
    most = max(sum(map(_weight, side.values())) for side in sides)
    return sum(map(_weight, common)) / max(most, 1)


def _weight(word: Word) -> float:
    return 4 if word.is_number else max(7 - zipf(word.base), 0.5)
