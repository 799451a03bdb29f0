"""Whether a judge prefers texts of its own family.

Scores of judge and people are standardised, so that both have the same scale; their difference is how much
better the judge finds a text than people do. Self-preference is the mean difference over the family's texts
less that over all others.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dhp.core.errors import InputError
from dhp.plugins.human.correlation import RESAMPLES
from dhp.plugins.human.scores import human_scores, mean_over, scores_by_judge
from dhp.stats.arrays import Bools, Floats

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd


@dataclass(frozen=True, slots=True)
class SelfPreference:
    """How much better a judge rates its own family's texts than humans do, against those of others."""

    judge: str
    metric: str
    systems: tuple[str, ...]
    """Names of the systems of the judge's family."""
    own_items: int
    """Number of items of these systems."""
    others: int
    preference: float
    """Standardised judge less standardised human score, own texts less others, in standard deviations."""
    ci: tuple[float, float] | None
    """95 % bootstrap percentile interval, over sources."""


def self_preference(
    ratings: "str | Path | pd.DataFrame",
    human: "str | Path | pd.DataFrame",
    family: str,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[SelfPreference]:
    """Self-preference of the judges of a family, on the items that humans scored too.

    The family is a part of the names of its judges and of its systems, such as `gpt`, in any case; tables are
    as for `dhp.correlate`. Raises `InputError` for a broken table, a family without a judge or without a
    system, or with all systems.
    """
    people, rated = human_scores(human), scores_by_judge(ratings)
    part = family.lower()
    of_family = {name: metrics for name, metrics in rated.items() if part in name.lower()}
    if not of_family:
        raise InputError(
            f"ratings: no judge's name has '{family}' in it; allowed: a part of {', '.join(rated)}"
        )
    preferences = []
    for name, metrics in of_family.items():
        for metric, truth in people.items():
            scores = metrics.get(metric)
            if scores is None and len(metrics) == 1:  # a judge with an only metric is held against each
                (scores,) = metrics.values()
            if scores is None:
                continue

            # The items that both scored, in a row.
            human_means = mean_over(truth.samples)
            judge_means = mean_over(scores.at(truth.sources, truth.systems))
            both = ~np.isnan(human_means) & ~np.isnan(judge_means)
            h, j = human_means[both], judge_means[both]
            sources, places = np.nonzero(both)
            systems = [truth.systems[place] for place in places]

            mine = np.array([part in system.lower() for system in systems], dtype=bool)
            if not mine.any() or mine.all():
                which = "no" if not mine.any() else "every"
                names = ", ".join(dict.fromkeys(systems))
                raise InputError(f"ratings: {which} system's name has '{family}' in it: {names}")

            if np.ptp(h) > 0 and np.ptp(j) > 0:  # equal scores cannot be standardised
                gap = (j - j.mean()) / j.std() - (h - h.mean()) / h.std()
                value, ci = _difference(gap, mine, sources, resamples, seed)
                different = dict.fromkeys(systems)
                named = tuple(system for system in different if part in system.lower())
                of_family_texts, others = int(mine.sum()), int((~mine).sum())
                preferences.append(SelfPreference(name, metric, named, of_family_texts, others, value, ci))
    return preferences


def _difference(
    gap: Floats, mine: Bools, sources: npt.NDArray[np.intp], resamples: int, seed: int
) -> tuple[float, tuple[float, float] | None]:
    """The mean gap of one's own texts less that of others, and its interval over resampled sources."""
    # A resample of sources counts their sums: gaps of own texts and of others, numbers of both.
    of_texts = np.column_stack([np.where(mine, gap, 0.0), np.where(mine, 0.0, gap), mine, ~mine])
    _, source = np.unique(sources, return_inverse=True)
    of_sources = np.zeros((source.max() + 1, 4))
    np.add.at(of_sources, source, of_texts)

    n = len(of_sources)
    counts = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), resamples)
    drawn = counts @ of_sources
    drawn = drawn[(drawn[:, 2:] > 0).all(axis=1)]  # without texts of either side there is no difference

    gap_of_family, gap_of_others, family_texts, other_texts = of_sources.sum(axis=0)
    value = float(gap_of_family / family_texts - gap_of_others / other_texts)
    if not len(drawn):
        return value, None
    low, high = np.quantile(drawn[:, 0] / drawn[:, 2] - drawn[:, 1] / drawn[:, 3], [0.025, 0.975])
    return value, (float(low), float(high))
