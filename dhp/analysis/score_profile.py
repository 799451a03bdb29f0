"""What the scores of a judge say without damaged copies: ties, points of the scale, what passes, repeats."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dhp.analysis.marks import resolved_marks
from dhp.core.numbers import numbers_of
from dhp.core.tables import is_blank
from dhp.stats.arrays import Floats
from dhp.stats.influences import mean_influences, wilson_interval

if TYPE_CHECKING:
    import pandas as pd

    from dhp.analysis.marks import PassMark

SCHEMA = "dhp.score-profile/1"


@dataclass(frozen=True, slots=True)
class Share:
    """A share with its interval."""

    value: float
    """In [0, 1]."""
    ci: tuple[float, float] | None
    """95 % Wilson interval; None for a single text."""
    n: int
    """Number of texts."""


@dataclass(frozen=True, slots=True)
class ScoreProfile:
    """The scores of one judge by one metric."""

    judge: str
    metric: str
    texts: int
    """Number of texts with a score."""
    unscored: int
    """Number of judgements without one."""
    mean: float
    """Mean over texts; of several judgements of a text their mean counts."""
    points: Mapping[float, float]
    """Single score -> its share, the most frequent first."""
    ties: float | None
    """Share of the pairs of texts that have the same score, in [0, 1]; None for a single text."""
    passes: Share | None
    """Texts at or above the pass mark; None without a mark."""
    repeated: Share | None
    """Probability that two judgements of one text are the same, mean over texts; None without several."""

    def to_json(self) -> dict[str, Any]:
        """The profile as JSON values."""
        return asdict(self) | {"points": [list(point) for point in self.points.items()]}


def score_profiles(frame: "pd.DataFrame", pass_mark: "PassMark" = None) -> list[ScoreProfile]:
    """The profile of each judge and metric of a table without variants.

    Columns `metric, score`, perhaps `model` and `example` or `id`, the same in rows on the same text.
    Scores that are all 0 or 1 pass from 1 on; others from `pass_mark` on. Raises `InputError` for a mark that
    is none.
    """
    table = frame
    if "example" not in table:
        table = table.assign(example=table["id"] if "id" in table else range(len(table)))
    if "model" not in table:
        table = table.assign(model="the judge")
    table = table.assign(score=numbers_of(table["score"].mask(table["score"].map(is_blank).astype(bool))))
    marks = resolved_marks(pass_mark, [str(metric) for metric in table["metric"].unique()], ())
    profiles = []
    for (judge, metric), rows in table.groupby(["model", "metric"], sort=False, observed=True):
        samples = rows[rows["score"].notna()]
        if len(samples):
            by_text = [
                part.to_numpy(float)
                for _, part in samples.groupby("example", sort=False, observed=True)["score"]
            ]
            unscored = len(rows) - len(samples)
            profiles.append(_profile(str(judge), str(metric), by_text, unscored, marks.get(str(metric))))
    return profiles


def _profile(
    judge: str, metric: str, by_text: list[Floats], unscored: int, mark: float | None
) -> ScoreProfile:
    single = np.concatenate(by_text)
    means = np.array([scores.mean() for scores in by_text]).round(10)
    values, counts = np.unique(single, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    points = {float(values[i]): float(counts[i] / len(single)) for i in order}
    if mark is None and set(points) <= {0.0, 1.0}:
        mark = 0.5  # of several verdicts the majority
    passes = None if mark is None else _share((means >= mark).astype(float))
    several = np.array([_alike(scores) for scores in by_text if len(scores) > 1])
    return ScoreProfile(
        judge,
        metric,
        len(means),
        unscored,
        float(means.mean()),
        points,
        _alike(means) if len(means) > 1 else None,
        passes,
        _share(several) if len(several) else None,
    )


def _alike(scores: Floats) -> float:
    """The share of the pairs of two or more scores that are the same."""
    _, counts = np.unique(scores, return_counts=True)
    n = len(scores)
    return float((counts * (counts - 1)).sum() / (n * (n - 1)))


def _share(of_texts: Floats) -> Share:
    mean = mean_influences(of_texts)
    low, high = map(float, wilson_interval(mean, np.arange(len(of_texts))))
    ci = None if np.isnan(low) else (low, high)
    return Share(float(mean.value), ci, len(of_texts))
