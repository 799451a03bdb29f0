"""A jury: several judges as one, by the mean of each judge's ranks, and which of them it takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats
from dhp.stats.wilcoxon.signed_rank import average_ranks

_DIGITS = 12
"""Ranks that differ beyond are the same: means of ranks in floating point."""


@dataclass(frozen=True, slots=True)
class JuryFigures:
    """What some judges see together."""

    detection: Floats
    """Per kind of damage, P(fell) + P(tied) / 2 in [0, 1], shape (V,); NaN without a pair."""
    false_alarms: Floats
    """Per control, the share of its pairs that fell less the share that rose, in [-1, 1], shape (C,)."""

    @property
    def lowest(self) -> float:
        """The lowest detection; NaN where none is defined."""
        return float(np.nanmin(self.detection)) if not np.isnan(self.detection).all() else float("nan")

    def passes(self, floor: float, most_alarms: float) -> bool:
        """Whether every kind of damage is detected above the floor, with few enough false alarms.

        What has no pair does not count.
        """
        return self.lowest > floor and not bool((self.false_alarms > most_alarms).any())


def text_ranks(scores: npt.ArrayLike) -> Floats:
    """One figure for each text of one judge: its rank among all texts, the mean over metrics.

    Parameters
    ----------
    scores : shape (T, M, n)
        Mean scores of n examples in T versions under M metrics; NaN where there is none.

    Returns
    -------
    shape (T, n)
        In [0, 1], higher is better; free of the judge's scale and response style. NaN where a metric lacks
        a score.
    """
    x = np.asarray(scores, dtype=np.float64)
    ranked = np.full_like(x, np.nan)
    for m in range(x.shape[1]):
        there = ~np.isnan(x[:, m])
        ranks = average_ranks(x[:, m][there])
        ranked[:, m][there] = (ranks - 1) / max(1, ranks.size - 1)
    return np.asarray(ranked.mean(axis=1), dtype=np.float64)


def jury_figures(
    ranks: Floats,
    members: Sequence[int],
    damage: Sequence[int],
    controls: Sequence[int],
    examples: npt.NDArray[np.intp] | None = None,
) -> JuryFigures:
    """What the members see together, each with the same say.

    Parameters
    ----------
    ranks : shape (J, T, n)
        `text_ranks` of J judges; the first version is the original.
    members
        Judges, at least one.
    damage, controls
        Places of the versions.
    examples
        Those that count; all without.
    """
    mean = ranks[list(members)].mean(axis=0)
    if examples is not None:
        mean = mean[:, examples]
    drops = np.round(mean[0] - mean[1:], _DIGITS)
    counts = (~np.isnan(drops)).sum(axis=1)
    with np.errstate(invalid="ignore"):
        fell, rose = (np.sum(sign, axis=1) / counts for sign in (drops > 0, drops < 0))
    net = fell - rose
    return JuryFigures((1 + net[np.array(damage, int) - 1]) / 2, net[np.array(controls, int) - 1])


def smallest_jury(
    ranks: Floats,
    costs: Sequence[float],
    damage: Sequence[int],
    controls: Sequence[int],
    *,
    floor: float,
    most_alarms: float,
) -> tuple[int, ...] | None:
    """The judges that pass together: the fewest, of these the cheapest, of these with the highest lowest.

    All sets are tried, so J should be at most about 15. None where no set passes.
    """
    for size in range(1, len(ranks) + 1):
        passing = []
        for members in combinations(range(len(ranks)), size):
            found = jury_figures(ranks, members, damage, controls)
            if found.passes(floor, most_alarms):
                passing.append((sum(costs[j] for j in members), -found.lowest, members))
        if passing:
            return min(passing)[2]
    return None


def order_of_gain(
    ranks: Floats, damage: Sequence[int], examples: npt.NDArray[np.intp] | None = None
) -> tuple[int, ...]:
    """The judges in the order in which each lifts the lowest detection most."""
    order: list[int] = []
    while len(order) < len(ranks):
        left = [j for j in range(len(ranks)) if j not in order]
        lowest = [jury_figures(ranks, [*order, j], damage, (), examples).lowest for j in left]
        order.append(left[int(np.nanargmax(lowest)) if not np.isnan(lowest).all() else 0])
    return tuple(order)


def held_out_gains(
    ranks: Floats, damage: Sequence[int], rng: np.random.Generator, splits: int = 200
) -> Floats:
    """The gain of each further judge in lowest detection, on examples that did not choose it.

    Each split draws half of the examples, takes `order_of_gain` from them and measures on the others. A gain
    on the examples that chose would be too high.

    Returns
    -------
    shape (splits, J)
        The first column is the lowest detection of the first judge alone, further ones are differences.
    """
    n = ranks.shape[2]
    gains = np.empty((splits, len(ranks)))
    for split in range(splits):
        mixed = rng.permutation(n)
        chosen, held = mixed[: n // 2], mixed[n // 2 :]
        order = order_of_gain(ranks, damage, chosen)
        lowest = [
            jury_figures(ranks, order[:size], damage, (), held).lowest for size in range(1, len(ranks) + 1)
        ]
        gains[split] = np.diff(lowest, prepend=0.0)
    return gains
