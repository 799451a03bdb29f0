"""How a judge agrees with humans beyond what another judge explains."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dhp.core.errors import one_of
from dhp.plugins.human.correlation import FEWEST, RESAMPLES
from dhp.plugins.human.scores import human_scores, items_of_all, scores_by, scores_by_judge
from dhp.stats.arrays import Floats

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd


@dataclass(frozen=True, slots=True)
class PartialCorrelation:
    """A judge's correlation with human scores, and what is left of it beside another judge."""

    judge: str
    metric: str
    n: int
    """Number of items that humans and both judges scored."""
    plain: float | None
    """Pearson's correlation over all items; None if undefined."""
    partial: float | None
    """The partial correlation, the other judge's scores held constant."""
    ci: tuple[float, float] | None
    """95 % bootstrap percentile interval of `partial`, over sources."""


def partial_correlations(
    ratings: "str | Path | pd.DataFrame",
    human: "str | Path | pd.DataFrame",
    control: str,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[PartialCorrelation]:
    """How each judge agrees with humans beyond what a further judge explains, such as `metric/rouge1`.

    If human scores derive from the reference, overlap with it is part of them: a judge that sees the
    reference may agree by that alone. Tables are as for `dhp.correlate`; `control` is the judge that is held
    constant. 0 resamples give no intervals. Raises `InputError` for a broken table, or a judge that is not
    there.
    """
    people, rated = human_scores(human), scores_by_judge(ratings)
    one_of("judge", control, rated, "ratings")
    correlations = []
    for name, metrics in rated.items():
        if name == control:
            continue
        for metric, truth in people.items():
            scores, held = scores_by(metrics, metric), scores_by(rated[control], metric)
            if scores is None or held is None:
                continue
            h, j, o, sources, _ = items_of_all(truth, scores, held)
            correlations.append(_partial(name, metric, np.stack([h, j, o]), sources, resamples, seed))
    return correlations


def _partial(
    name: str, metric: str, sides: Floats, sources: npt.NDArray[np.intp], resamples: int, seed: int
) -> PartialCorrelation:
    plain, partial = _both(sides)
    rng, drawn = np.random.default_rng(seed), []
    _, source_index = np.unique(sources, return_inverse=True)
    rows = [np.flatnonzero(source_index == s) for s in range(source_index.max(initial=-1) + 1)]
    for _ in range(resamples if partial is not None else 0):
        chosen = np.concatenate([rows[s] for s in rng.integers(0, len(rows), len(rows))])
        value = _both(sides[:, chosen])[1]
        drawn += [] if value is None else [value]
    ends = np.quantile(drawn, [0.025, 0.975]) if drawn else None
    ci = None if ends is None else (float(ends[0]), float(ends[1]))
    return PartialCorrelation(name, metric, sides.shape[1], plain, partial, ci)


def _both(sides: Floats) -> tuple[float | None, float | None]:
    """Plain and partial correlation of rows 0 and 1, row 2 held constant."""
    if sides.shape[1] < FEWEST or (np.ptp(sides[:2], axis=1) == 0).any():
        return None, None
    plain = float(np.asarray(np.corrcoef(sides[:2]))[0, 1])
    if np.ptp(sides[2]) == 0:
        return plain, plain
    r: Floats = np.asarray(np.corrcoef(sides))
    spread = (1 - r[0, 2] ** 2) * (1 - r[1, 2] ** 2)
    return plain, float((r[0, 1] - r[0, 2] * r[1, 2]) / math.sqrt(spread)) if spread > 1e-12 else None
