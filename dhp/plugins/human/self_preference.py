"""Whether a judge prefers texts of its own family."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dhp.core.errors import InputError
from dhp.plugins.human.correlation import RESAMPLES
from dhp.plugins.human.scores import human_scores, items_of_all, scores_by, scores_by_judge
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
    of_family = {name: metrics for name, metrics in rated.items() if family.lower() in name.lower()}
    if not of_family:
        raise InputError(
            f"ratings: no judge's name has '{family}' in it; allowed: a part of {', '.join(rated)}"
        )
    preferences = []
    for name, metrics in of_family.items():
        for metric, truth in people.items():
            scores = scores_by(metrics, metric)
            if scores is None:
                continue
            h, j, _, sources, systems = items_of_all(truth, scores, scores)
            mine = np.array([family.lower() in system.lower() for system in systems], dtype=bool)
            if not mine.any() or mine.all():
                which = "no" if not mine.any() else "every"
                names = ", ".join(dict.fromkeys(systems))
                raise InputError(f"ratings: {which} system's name has '{family}' in it: {names}")
            if np.ptp(h) > 0 and np.ptp(j) > 0:
                gap = (j - j.mean()) / j.std() - (h - h.mean()) / h.std()
                value, ci = _difference(gap, mine, sources, resamples, seed)
                named = tuple(dict.fromkeys(s for s, is_own in zip(systems, mine, strict=True) if is_own))
                preferences.append(
                    SelfPreference(name, metric, named, int(mine.sum()), int((~mine).sum()), value, ci)
                )
    return preferences


def _difference(
    gap: Floats, mine: Bools, sources: npt.NDArray[np.intp], resamples: int, seed: int
) -> tuple[float, tuple[float, float] | None]:
    _, source_index = np.unique(sources, return_inverse=True)
    sums = [
        np.bincount(source_index, weights=v, minlength=source_index.max() + 1)
        for v in (np.where(mine, gap, 0.0), np.where(mine, 0.0, gap), mine * 1.0, ~mine * 1.0)
    ]
    table = np.column_stack(sums)
    counts = np.random.default_rng(seed).multinomial(
        len(table), np.full(len(table), 1 / len(table)), resamples
    )
    total = table.sum(axis=0)
    drawn = counts @ table
    drawn = drawn[(drawn[:, 2:] > 0).all(axis=1)]
    value = float(total[0] / total[2] - total[1] / total[3])
    if not len(drawn):
        return value, None
    low, high = np.quantile(drawn[:, 0] / drawn[:, 2] - drawn[:, 1] / drawn[:, 3], [0.025, 0.975])
    return value, (float(low), float(high))
