"""A judge that needs no model: classical features of the text's surface, openly weighted."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from dhp.core.errors import InputError, suggest
from dhp.core.records import Candidate, Rating
from dhp.core.specs import Task
from dhp.judge.api import Judge
from dhp.judge.surface import features
from dhp.judge.surface.document import Case, Text

Feature = Callable[[Case], float | None]

_METRICS: Mapping[str, Mapping[Feature, float]] = {
    # Errors of spelling are the most frequent and the surest to find.
    "fluency": {features.spelling: 0.6, features.form: 0.2, features.word_order: 0.2},
    "consistency": {features.support: 1.0},
    # A garbled word says nothing, a missing one shows in the length.
    "accuracy": {
        features.completeness: 0.4,
        features.numbers_kept: 0.25,
        features.names_kept: 0.15,
        features.spelling: 0.2,
    },
    # Order tells about several sentences, the continuation about one.
    "coherence": {features.source_order: 1.0, features.continuation: 1.0},
    "relevance": {features.coverage: 1.0},
    # Right by the paragraph first, then well written.
    "answer_quality": {features.support: 0.6, features.spelling: 0.3, features.form: 0.1},
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
    """Quality in [0, 1]; 0 for a text without words, None where no feature applies.

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
    return frozenset[str]().union(*(text.lowers for text in sources if text.english))


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
