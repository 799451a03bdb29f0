"""A judge that needs no model: classical features of the text's surface, openly weighted.

A feature of the language, or of the agreement with the source, is a number in [0, 1] for a case; higher is
better, and None if there is nothing to go by.
"""

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

from dhp.core.errors import InputError, suggest
from dhp.core.language import ARTICLES, AUXILIARIES, CONJUNCTIONS, POSSESSIVES, PREPOSITIONS, zipf
from dhp.core.records import Candidate, Rating
from dhp.core.specs import Task
from dhp.judge.api import Judge
from dhp.judge.judges.surface_text import (
    RELATED_LETTERS,
    SENTENCES_KEPT,
    Case,
    Sentence,
    Text,
    Word,
    american,
    rarity,
    ratio,
)

T = TypeVar("T")

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
    supported = total = 0.0
    for word in case.text.content.values():
        weight = rarity(word.lower) * (_NAME_WEIGHT if word.name else 1)
        supported += weight * _evidence(word.stem, case.source)
        total += weight
    for number in case.text.digits:
        supported += _NAME_WEIGHT * (number in case.source.numbers)
        total += _NAME_WEIGHT
    return _concave_share(supported, total)


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
    supported = sum(
        weight * (1.0 if stem in late else _EARLIER * _evidence(stem, case.source))
        for stem, weight in case.text.stems.items()
    )
    return _concave_share(supported, sum(case.text.stems.values()))


def _significant(number: str) -> str:
    """Digits alone, so that 1.200, 1,200 and 12万 (with 120,000) are one: scale words differ by language."""
    return re.sub(r"\D", "", number).strip("0") or "0"


def numbers_kept(case: Case) -> float | None:
    """Agreement of the two sets of numbers (Dice's coefficient), by their significant digits."""
    ours, theirs = (set(map(_significant, text.digits)) for text in (case.text, case.source))
    spelt = [{*map(_significant, text.numbers)} for text in (case.text, case.source)]
    return ratio(len(ours & spelt[1]) + len(spelt[0] & theirs), len(ours) + len(theirs))


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
    import numpy as np

    positions = [_position(sentence.stems, case.source) for sentence in case.text.sentences]
    known = np.array([position for position in positions if position is not None])
    steps = 0.0
    for start in range(0, len(known), _ROWS):
        some = np.clip((known[start:] - known[start : start + _ROWS, None]) / _STEP, -1, 1)
        steps += float(np.triu(some).sum())
    mean = ratio(steps, len(known) * (len(known) - 1) / 2)
    return None if mean is None else (1 + mean) / 2


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
    if american(bare) in vocabulary or american(word.lower) in vocabulary:
        return 1.0
    if word.form[0].isupper() and (word.lower in source.lowers or word.lower in question.lowers):
        return 1.0  # a name in both languages
    if len(bare) == 1:
        return float(bare in "aio" or word.form.isupper())
    trust = max(map(_well_spelt, (bare, word.lower, american(bare))))
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
_NEVER_AFTER = {
    word: frozenset[str]().union(*(second for first, second in _NEVER if word in first))
    for word in frozenset[str]().union(*(first for first, _ in _NEVER))
}
_NEVER_LAST = _DETERMINERS | frozenset("of from into than".split())
"""Words that need another after them, even before a comma; a conjunction needs one before a full stop."""


def _impossible(left: str, right: str) -> bool:
    if not right[0].isalnum():
        return left in _NEVER_LAST if right in ",:" else left in _NEVER_LAST | CONJUNCTIONS
    if left == right:
        return left.isalpha()
    if left == "a" and right[0] in "aeio" and not right.startswith(("one", "once", "eu")):
        return True
    return right in _NEVER_AFTER.get(left, ())


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


Feature = Callable[[Case], float | None]

_METRICS: Mapping[str, Mapping[Feature, float]] = {
    # Errors of spelling are the most frequent and the surest to find.
    "fluency": {spelling: 0.6, form: 0.2, word_order: 0.2},
    "consistency": {support: 1.0},
    # A garbled word says nothing, a missing one shows in the length.
    "accuracy": {
        completeness: 0.4,
        numbers_kept: 0.25,
        names_kept: 0.15,
        spelling: 0.2,
    },
    # Order tells about several sentences, the continuation about one.
    "coherence": {source_order: 1.0, continuation: 1.0},
    "relevance": {coverage: 1.0},
    # Right by the paragraph first, then well written.
    "answer_quality": {support: 0.6, spelling: 0.3, form: 0.1},
}
_LIKE = {
    "adherence": "relevance",
    "informativeness": "relevance",
    "completeness": "relevance",
    "coverage": "relevance",
    "litepyramid_recall": "relevance",
    "overall": "coherence",
    "quality": "answer_quality",
    "correctness": "consistency",
    "faithfulness": "consistency",
    "clarity": "fluency",
    "naturalness": "fluency",
}
"""Metrics of other tasks -> the one that they come nearest to, as far as the surface of a text goes."""
METRICS = {**_METRICS, **{name: _METRICS[like] for name, like in _LIKE.items()}}
"""Metric -> feature -> weight. The features that have nothing to go by leave their weight to the others."""


def _quality(metric: str, case: Case, known: dict[Feature, float | None]) -> float | None:
    """Quality in [0, 1]; 0 for a text without words, None if no feature applies.

    `known` keeps what other metrics have computed.
    """
    if not case.text.words:
        return 0.0
    total = weights = 0.0
    for feature, weight in METRICS[metric].items():
        if feature not in known:
            known[feature] = feature(case)
        value = known[feature]
        if value is not None:
            total += weight * value
            weights += weight
    return total / weights if weights else None


class SurfaceJudge(Judge):
    """Rates spelling, form, order and agreement with the source, without any model."""

    model = "baseline/surface"
    protocol = "none"

    def __init__(self) -> None:
        self._vocabulary: frozenset[str] | None = None

    def prepare(self, candidates: Sequence[Candidate], task: Task) -> None:
        """Take in the words of all sources: a word that is in any of them is spelled right."""
        self._vocabulary = _words(candidates)

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """One rating per candidate and metric.

        Raises `InputError` if the task has a metric that this judge has no features for.
        """
        for name in task.metric_names:
            if name not in METRICS:
                raise InputError(
                    f"{self.model}: not applicable: it reads nothing that tells of the metric '{name}'; "
                    f"{suggest(name, METRICS)}"
                )
        known = _words(candidates) if self._vocabulary is None else self._vocabulary
        return _ratings(candidates, task, known)


def _words(candidates: Sequence[Candidate]) -> frozenset[str]:
    sources = map(Text, sorted({c.source for c in candidates}))
    return frozenset(american(word) for text in sources if text.english for word in text.lowers)


def _ratings(candidates: Sequence[Candidate], task: Task, vocabulary: frozenset[str]) -> Iterator[Rating]:
    sources = {c.source: Text(c.source) for c in candidates}
    for candidate in candidates:
        question = Text(candidate.fields.get("question", "") if "question" in task.shown_fields else "")
        case = Case(Text(candidate.text), sources[candidate.source], question, vocabulary)
        known: dict[Feature, float | None] = {}
        for metric in task.metrics:
            place = (candidate.example, candidate.variant, metric.name, 0)
            quality = _quality(metric.name, case, known)
            if quality is None:
                yield Rating(*place, None, "failed", "no feature has anything to go by")
                continue
            low, high = metric.scale.min, metric.scale.max
            yield Rating(*place, round(low + (high - low) * quality, 2))
