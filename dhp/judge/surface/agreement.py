"""Features of the agreement with the source, each from a case to [0, 1]; higher is better.

None where there is nothing to go by.
"""

import functools
import re

import numpy as np

from dhp.core.language import zipf
from dhp.judge.surface.document import RELATED_LETTERS, Case, Text, rarity, ratio

_NAME_WEIGHT = 3.0
"""A foreign name or number is a worse error than a foreign word."""
_RELATED = 0.7
"""What a merely related word is worth as evidence."""
_ROWS = 64
"""Sentences that are held against all later ones at a time."""
_LAST = 2
"""Sentences at the end of a story from which an ending takes up."""
_EARLIER = 0.8
"""What a tie with an earlier sentence is worth to an ending, against one with the last."""
_TOPICS = 20
"""Topic words of a source that a short text can be expected to touch."""
_UNCOMMON_ZIPF = 4.0
"""A capitalised word as common as this is a word of English (October, German), no name to be kept."""
_NAME_LETTERS = 4
"""First letters by which a name is recognised in another language (Kieler, Kiel)."""
_STEP = 0.15
"""Part of the source by which two sentences must differ in place before their order is beyond doubt."""
_FOCUS = 3
"""Power of the overlap with a source sentence: the best evidence counts far more than the rest."""
_COMMON = 50
"""A word that is in more sentences of a long source than these tells nothing about a place in it."""
_LATIN_GROWTH = 1.05
"""English letters per letter of a European source: upper quartile of the WMT22 de-en references."""
_CJK_GROWTH = 4.4
"""English letters per Chinese character: upper quartile of the WMT22 zh-en references."""


def _concave_share(part: float, whole: float) -> float | None:
    """The concave share: to say half of it in other words is no error, to share nothing is."""
    return float((part / whole) ** 0.5) if whole else None


def _evidence(stem: str, source: Text) -> float:
    if stem in source.stems:
        return 1.0
    related = len(stem) >= RELATED_LETTERS and stem[:RELATED_LETTERS] in source.prefixes
    return _RELATED if related else 0.0


def support(case: Case) -> float | None:
    """The share of what the text says that is in the source: names and numbers first, rare words next."""
    found = total = 0.0
    for word in case.text.content.values():
        weight = rarity(word.lower) * (_NAME_WEIGHT if word.name else 1)
        found += weight * _evidence(word.stem, case.source)
        total += weight
    for number in case.text.digits:
        found += _NAME_WEIGHT * (number in case.source.numbers)
        total += _NAME_WEIGHT
    return _concave_share(found, total)


def coverage(case: Case) -> float | None:
    """How much of the source's main topic words the text holds."""
    topics = sorted(case.source.salience.items(), key=lambda item: (-item[1], item[0]))
    topics = topics[:_TOPICS]
    return _concave_share(sum(w for stem, w in topics if stem in case.text.stems), sum(w for _, w in topics))


def continuation(case: Case) -> float | None:
    """How far a text of one sentence takes up the source, above all its last sentences."""
    if len(case.text.sentences) != 1:
        return None
    late = frozenset[str]().union(*(sentence.stems for sentence in case.source.sentences[-_LAST:]))
    found = sum(
        weight * (1.0 if stem in late else _EARLIER * _evidence(stem, case.source))
        for stem, weight in case.text.stems.items()
    )
    return _concave_share(found, sum(case.text.stems.values()))


def _significant(number: str) -> str:
    """Digits alone, so that 1.200, 1,200 and 12万 (with 120,000) are one: scale words differ by language."""
    return re.sub(r"\D", "", number).strip("0") or "0"


def numbers_kept(case: Case) -> float | None:
    """Agreement of the two sets of numbers (Dice's coefficient), by their significant digits."""
    ours, theirs = set(map(_significant, case.text.digits)), set(map(_significant, case.source.digits))
    spelt_too = {*ours, *map(_significant, case.text.numbers)}
    return ratio(len(ours & theirs) + len(spelt_too & theirs), len(ours) + len(theirs))


def names_kept(case: Case) -> float | None:
    """The share of names in Latin script that are in both texts."""
    if case.source.cjk_letters:
        theirs = {run.lower() for run in re.findall(r"[A-Za-z]{2,}", case.source.plain)}
        return ratio(len(theirs & case.text.lowers), len(theirs))
    ours = {w.lower for w in case.text.words if w.name and zipf(w.lower) < _UNCOMMON_ZIPF}
    starts = {lower[:_NAME_LETTERS] for lower in case.source.lowers}
    return ratio(sum(name[:_NAME_LETTERS] in starts for name in ours), len(ours))


def completeness(case: Case) -> float | None:
    """1 at the length of a full translation, less in proportion to what is missing."""
    cjk = case.source.cjk_letters
    length = ratio(case.text.letters, _CJK_GROWTH * cjk + _LATIN_GROWTH * (case.source.letters - cjk))
    return None if length is None else min(1.0, length)


@functools.lru_cache(maxsize=8192)
def _position(stems: frozenset[str], source: Text) -> float | None:
    """Where in the source (0 first sentence, 1 last) the evidence for these stems lies."""
    shared: dict[int, float] = {}
    for stem in stems:
        numbers = source.sentence_numbers.get(stem, ())
        for number in numbers if len(numbers) <= _COMMON else ():
            shared[number] = shared.get(number, 0.0) + source.stems[stem]
    weights = {number: weight**_FOCUS for number, weight in shared.items()}
    mean = ratio(sum(number * weight for number, weight in weights.items()), sum(weights.values()))
    return None if mean is None else mean / max(1, len(source.sentences) - 1)


def source_order(case: Case) -> float | None:
    """1 if the sentences follow the order of the source, 0 if they run backwards."""
    positions = [_position(sentence.stems, case.source) for sentence in case.text.sentences]
    known = np.array([position for position in positions if position is not None])
    steps = 0.0
    for start in range(0, len(known), _ROWS):
        some = np.clip((known[start:] - known[start : start + _ROWS, None]) / _STEP, -1, 1)
        steps += float(np.triu(some).sum())
    mean = ratio(steps, len(known) * (len(known) - 1) / 2)
    return None if mean is None else (1 + mean) / 2
