"""A judge that needs no model: classical features of the text's surface, openly weighted.

A feature of the language, or of the agreement with the source, is a number in [0, 1] for a case; higher is
better, and None if there is nothing to go by. A metric is the mean of some features by their weights. It is a
demonstration of what a judge without understanding sees: it notices 47 of 59 kinds of damage of the bundled
sets, and its controls are still. Numbers below that name no source are chosen, not fitted to ratings.
"""

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from dhp.core.errors import InputError, suggest
from dhp.core.records import Candidate, Rating
from dhp.core.specs import Task
from dhp.core.words import zipf
from dhp.judge.api import Judge
from dhp.judge.judges.surface_text import (
    SENTENCES_KEPT,
    Case,
    Sentence,
    Text,
    Word,
    american,
    rarity,
    ratio,
)

_NAME_WEIGHT = 3.0
"""A foreign name or number is a worse error than a foreign word."""
_ROWS = 64
"""Sentences that are held against all later ones at a time."""
_TOPICS = 20
"""Topic words of a source that a short text can be expected to touch."""
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


def support(case: Case) -> float | None:
    """The share of what the text says that is in the source: names and numbers first, rare words next."""
    supported = total = 0.0
    for word in case.text.content.values():
        weight = rarity(word.lower) * (_NAME_WEIGHT if word.name else 1)
        total += weight
        if word.stem in case.source.stems:
            supported += weight
    for number in case.text.digits:
        total += _NAME_WEIGHT
        if number in case.source.numbers:
            supported += _NAME_WEIGHT
    return _concave_share(supported, total)


def coverage(case: Case) -> float | None:
    """How much of the source's main topic words the text holds."""
    topics = sorted(case.source.salience.items(), key=lambda item: (-item[1], item[0]))
    held = total = 0.0
    for stem, weight in topics[:_TOPICS]:
        total += weight
        if stem in case.text.stems:
            held += weight
    return _concave_share(held, total)


def continuation(case: Case) -> float | None:
    """How far a text of one sentence takes up the source, whose order it cannot follow."""
    return support(case) if len(case.text.sentences) == 1 else None


def _significant(number: str) -> str:
    """Digits alone, so that 1.200, 1,200 and 12万 (with 120,000) are one: scale words differ by language."""
    return re.sub(r"\D", "", number).strip("0") or "0"


def numbers_kept(case: Case) -> float | None:
    """Agreement of the two sets of numbers (Dice's coefficient), by their significant digits."""
    in_text = {_significant(number) for number in case.text.digits}
    in_source = {_significant(number) for number in case.source.digits}
    # A number in digits may be one in words on the other side.
    spelt_in_text = {_significant(number) for number in case.text.numbers}
    spelt_in_source = {_significant(number) for number in case.source.numbers}
    kept = len(in_text & spelt_in_source) + len(spelt_in_text & in_source)
    return ratio(kept, len(in_text) + len(in_source))


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
        if len(numbers) > _COMMON:
            continue
        for number in numbers:
            shared[number] = shared.get(number, 0.0) + source.stems[stem]
    weights = {number: weight**_FOCUS for number, weight in shared.items()}
    weighted = sum(number * weight for number, weight in weights.items())
    mean = ratio(weighted, sum(weights.values()))
    return None if mean is None else mean / max(1, len(source.sentences) - 1)


def source_order(case: Case) -> float | None:
    """1 if the sentences follow the order of the source, 0 if they run backwards."""
    import numpy as np

    positions = [_position(sentence.stems, case.source) for sentence in case.text.sentences]
    known = np.array([position for position in positions if position is not None])
    # Each sentence is held against all later ones: 1 for a step forward, -1 for one back, short ones less.
    steps = 0.0
    for start in range(0, len(known), _ROWS):
        some = np.clip((known[start:] - known[start : start + _ROWS, None]) / _STEP, -1, 1)
        steps += float(np.triu(some).sum())
    mean = ratio(steps, len(known) * (len(known) - 1) / 2)
    return None if mean is None else (1 + mean) / 2


_MISSPELT_LIMIT = 0.3
"""A text with this share of misspelt words cannot be read any more."""
_COMMON_ZIPF = 3.0
"""Zipf frequency from which a word of four letters or more is taken as well spelt."""
_RARE_SPAN = 2.0
"""Zipf units below that over which trust in a word fades: rare entries of the list are often misspellings."""
_LONG = 4
"""Each letter short of this demands one Zipf unit more: nearly every short letter string is on the list."""
_UNLISTED = 0.4
"""Trust in a longer word that no list holds."""
_NAME_TRUST = 0.94
"""Trust in an unlisted word with a capital inside a sentence: no word list holds names."""


def _unless(faults: float, limit: float, case: Case) -> float:
    """1 without faults, 0 from `limit` faults per word."""
    return max(0.0, 1 - faults / (limit * max(1, len(case.text.words))))


def _well_spelt(word: str) -> float:
    """Trust that a lower-case word is spelt as intended, in [0, 1]."""
    needed = _COMMON_ZIPF + max(0, _LONG - len(word))
    listed = min(1.0, max(0.0, (zipf(word) - needed + _RARE_SPAN) / _RARE_SPAN))
    return listed if len(word) < _LONG else max(listed, _UNLISTED)


def _trust(word: Word, inside: bool, source: Text, question: Text) -> float:
    bare = word.lower.removesuffix("'s")
    if bare[0].isdigit() or "." in bare:
        return 1.0  # a number, or initials such as e.g. and U.S.
    if word.form[0].isupper() and (word.lower in source.lowers or word.lower in question.lowers):
        return 1.0  # a name in both languages
    if len(bare) == 1:
        return float(bare in "aio" or word.form.isupper())
    trust = max(map(_well_spelt, (bare, word.lower, american(bare))))
    if word.form[0].isupper() and inside:
        trust = max(trust, _NAME_TRUST)
    return trust


@functools.lru_cache(maxsize=8)
def _doubts(source: Text, question: Text) -> Callable[[Sentence], tuple[float, ...]]:
    """Says what the words of a sentence that are not fully trusted lack in trust."""

    @functools.lru_cache(maxsize=SENTENCES_KEPT)
    def doubt(word: Word, inside: bool) -> float:
        return 1 - _trust(word, inside, source, question)

    @functools.lru_cache(maxsize=SENTENCES_KEPT)
    def doubts(sentence: Sentence) -> tuple[float, ...]:
        every = [doubt(word, i > 0) for i, word in enumerate(sentence.words)]
        return tuple(each for each in every if each)

    return doubts


def spelling(case: Case) -> float:
    """1 if every word is trusted, 0 if a share of `_MISSPELT_LIMIT` is misspelt."""
    doubts = _doubts(case.source, case.question)
    doubt = 0.0
    for sentence in case.text.sentences:
        for each in doubts(sentence):
            doubt += each
    return _unless(doubt, _MISSPELT_LIMIT, case)


Feature = Callable[[Case], float | None]

# Metric -> feature -> weight, of the tasks that the judge was made for.
_METRICS: Mapping[str, Mapping[Feature, float]] = {
    "fluency": {spelling: 1.0},
    "consistency": {support: 1.0},
    # A garbled word says nothing, a missing one shows in the length. The weights need not add up to 1.
    "accuracy": {
        completeness: 0.4,
        numbers_kept: 0.25,
        spelling: 0.2,
    },
    "coherence": {source_order: 1.0, continuation: 1.0},
    "relevance": {coverage: 1.0},
    # Right by the paragraph first, then well written.
    "answer_quality": {support: 0.6, spelling: 0.3},
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

    def own_task(self, task: Task, candidates: Sequence[Candidate] = ()) -> Task:
        """The task; raises `InputError` if it has a metric that this judge has no features for."""
        for name in task.metric_names:
            if name not in METRICS:
                raise InputError(
                    f"{self.model}: not applicable: it reads nothing that tells of the metric '{name}'; "
                    f"{suggest(name, METRICS)}"
                )
        return task

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """One rating per candidate and metric; errors as in `own_task`."""
        return _ratings(candidates, self.own_task(task))


def _ratings(candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
    sources = {c.source: Text(c.source) for c in candidates}
    for candidate in candidates:
        question = Text(candidate.fields.get("question", "") if "question" in task.shown_fields else "")
        case = Case(Text(candidate.text), sources[candidate.source], question)
        known: dict[Feature, float | None] = {}
        for metric in task.metrics:
            place = (candidate.example, candidate.variant, metric.name, 0)
            quality = _quality(metric.name, case, known)
            if quality is None:
                yield Rating(*place, None, "failed", "no feature has anything to go by")
                continue
            low, high = metric.scale.min, metric.scale.max
            yield Rating(*place, round(low + (high - low) * quality, 2))
