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
_DIGITS = 10
"""Digits of a mean of judgements, beyond which floating point alone tells means apart."""


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
    is no number.
    """
    table = frame
    if "example" not in table:
        table = table.assign(example=table["id"] if "id" in table else range(len(table)))
    if "model" not in table:
        table = table.assign(model="the judge")
    empty = table["score"].map(is_blank).astype(bool)
    table = table.assign(score=numbers_of(table["score"].mask(empty)))
    marks = resolved_marks(pass_mark, [str(metric) for metric in table["metric"].unique()], ())
    profiles = []
    for (judge, metric), rows in table.groupby(["model", "metric"], sort=False, observed=True):
        samples = rows[rows["score"].notna()]
        if samples.empty:
            continue
        by_text: list[Floats] = []
        for _, scores in samples.groupby("example", sort=False, observed=True)["score"]:
            by_text.append(scores.to_numpy(float))
        unscored = len(rows) - len(samples)
        profiles.append(_profile(str(judge), str(metric), by_text, unscored, marks.get(str(metric))))
    return profiles


def _profile(
    judge: str, metric: str, by_text: list[Floats], unscored: int, mark: float | None
) -> ScoreProfile:
    """`by_text` holds the single scores of each text, at least one."""
    single = np.concatenate(by_text)
    # Rounded, as ties are counted among them.
    means = np.array([scores.mean() for scores in by_text]).round(_DIGITS)
    # In rising order, which the stable sort below keeps among equally frequent ones.
    values, counts = np.unique(single, return_counts=True)
    points: dict[float, float] = {}
    for place in np.argsort(-counts, kind="stable"):  # the most frequent first, else the lowest
        points[float(values[place])] = float(counts[place] / len(single))
    if mark is None and set(points) <= {0.0, 1.0}:
        mark = 0.5  # of several verdicts the majority
    several = np.array([_alike(scores) for scores in by_text if len(scores) > 1])
    return ScoreProfile(
        judge,
        metric,
        texts=len(means),
        unscored=unscored,
        mean=float(means.mean()),
        points=points,
        ties=_alike(means) if len(means) > 1 else None,
        passes=None if mark is None else _share((means >= mark).astype(float)),
        repeated=_share(several) if len(several) else None,
    )


def _alike(scores: Floats) -> float:
    """The share of the pairs of two or more scores that are the same."""
    _, counts = np.unique(scores, return_counts=True)
    n = len(scores)
    # Ordered pairs within each group of equal scores, of all ordered pairs.
    return float((counts * (counts - 1)).sum() / (n * (n - 1)))


def _share(of_texts: Floats) -> Share:
    """The mean of a figure in [0, 1] over texts, with its interval."""
    mean = mean_influences(of_texts)
    # Each text is a cluster of its own.
    low, high = map(float, wilson_interval(mean, np.arange(len(of_texts))))
    ci = None if np.isnan(low) else (low, high)
    return Share(float(mean.value), ci, len(of_texts))
