"""Evaluation of answers by category: scores, means and intervals."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from dhp.core.records import Rating
from dhp.core.specs import Scale
from dhp.stats.influences import mean_influences, student_interval

SCHEMA = "dhp.evaluation/1"

_SHOWN = 3
"""Number of best, and of worst, answers that are named. Chosen."""


@dataclass(frozen=True, slots=True)
class EvaluatedText:
    """One answer's score by one metric: the mean over samples."""

    example: str
    score: float
    raw: str | None
    """The judge's first words on it."""


@dataclass(frozen=True, slots=True)
class EvaluatedCell:
    """One model's answers of one category by one metric."""

    model: str
    category: str
    metric: str
    """Name of the metric in the configuration."""
    kind: str
    """Kind of the metric, `judge` or `classical`."""
    scale: tuple[float, float]
    n: int
    """Answers with a score."""
    unread: Mapping[str, int]
    """Why answers have no score -> how many; they are not averaged in."""
    mean: float | None
    ci: tuple[float, float] | None
    """95 % confidence interval by Student's t over answers, within the scale; None with fewer than two."""
    best: Sequence[EvaluatedText]
    worst: Sequence[EvaluatedText]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All cells of an evaluation."""

    judge: str
    protocol: str
    settings: Mapping[str, object]
    """Category -> the judge's settings there."""
    cells: Sequence[EvaluatedCell]
    usage: Mapping[str, int]
    cost: float | None

    def to_json(self) -> dict[str, Any]:
        """The content of `evaluation.json`."""
        return {
            "schema": SCHEMA,
            "judge": {"model": self.judge, "protocol": self.protocol, "settings": dict(self.settings)},
            "results": [asdict(cell) for cell in self.cells],
            "usage": dict(self.usage),
            "cost": self.cost,
        }

    def rows(self) -> list[dict[str, object]]:
        """One row per model, category and metric."""
        rows = []
        for cell in self.cells:
            low, high = cell.ci or (None, None)
            row: dict[str, object] = {
                "model": cell.model,
                "category": cell.category,
                "metric": cell.metric,
                "kind": cell.kind,
                "n": cell.n,
                "unread": sum(cell.unread.values()),
                "mean": cell.mean,
                "low": low,
                "high": high,
            }
            rows.append(row)
        return rows


def evaluated_cells(
    ratings: Iterable[Rating],
    category: str,
    metrics: Mapping[str, tuple[str, Scale]],
    models: Sequence[str],
    kind: str = "judge",
) -> list[EvaluatedCell]:
    """The cells of one category.

    The variant of a rating is the model that answered. `metrics` has the name in ratings -> the name to show,
    and the scale; `kind` is `judge` or `classical`.
    """
    by_cell: dict[tuple[str, str], list[Rating]] = defaultdict(list)
    for rating in ratings:
        by_cell[rating.variant, rating.metric].append(rating)
    cells = []
    for model in models:
        for name, (label, scale) in metrics.items():
            cells.append(_cell(model, category, label, kind, scale, by_cell[model, name]))
    return cells


def _cell(
    model: str, category: str, metric: str, kind: str, scale: Scale, ratings: Sequence[Rating]
) -> EvaluatedCell:
    by_text: dict[str, list[Rating]] = defaultdict(list)
    for rating in ratings:
        by_text[rating.example].append(rating)

    # A text's score is the mean of its samples that have one; without any it counts as unread.
    texts, unread = [], Counter[str]()
    for example, of_text in by_text.items():
        scores, words = [], []
        for rating in of_text:
            if rating.score is not None:
                scores.append(rating.score)
                words.append(rating.raw)
        if scores:
            # Rounded, as means that are equal but for floating point share a place in the order.
            mean = round(fmean(scores), 10)
            texts.append(EvaluatedText(example, mean, words[0]))
        else:
            # The first sample stands for all: a text has one reason.
            unread[str(of_text[0].status)] += 1
    means = [text.score for text in texts]
    return EvaluatedCell(
        model=model,
        category=category,
        metric=metric,
        kind=kind,
        scale=(scale.min, scale.max),
        n=len(texts),
        unread=dict(unread),
        mean=fmean(means) if means else None,
        ci=mean_interval(means, scale),
        # Equal scores by name, so that the same ratings name the same answers.
        best=sorted(texts, key=lambda t: (-t.score, t.example))[:_SHOWN],
        worst=sorted(texts, key=lambda t: (t.score, t.example))[:_SHOWN],
    )


def mean_interval(scores: Sequence[float], scale: Scale) -> tuple[float, float] | None:
    """The 95 % interval of a mean by Student's t, within the scale; None with fewer than two scores."""
    if len(scores) < 2:
        return None
    low, high = student_interval(mean_influences(scores))
    # Student's interval knows no ends, and may reach past those of the scale.
    return max(scale.min, float(low)), min(scale.max, float(high))
