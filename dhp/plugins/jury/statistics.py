"""Juries: the mean of the judges' ranks, and the choice of judges."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from dhp.stats.arrays import Floats, Ints
from dhp.stats.detection import FEWEST_PAIRS, detection, outcome_shares
from dhp.stats.floor import FLOOR
from dhp.stats.verdict import ControlState, Verdict, control_state, verdict
from dhp.stats.wilcoxon.signed_rank import average_ranks

_DIGITS = 12
"""Ranks that differ beyond are the same: means of ranks in floating point."""


@dataclass(frozen=True, eq=False, slots=True)
class JudgedTexts:
    """What J judges say of n examples in T versions, the original first, under M metrics."""

    ranks: Floats
    """`text_ranks` of each judge, shape (J, T, M, n)."""
    damage: Sequence[int]
    """Places of the kinds of damage among the versions."""
    levels: Sequence[str]
    """The level of each kind of damage."""
    harmless: Sequence[int] = ()
    """Places of the harmless edits."""
    clusters: Ints | None = None
    """Shape (n,); examples with the same one belong together."""

    def differences(self, members: Sequence[int]) -> Floats:
        """Original minus each other version in the mean of the members' ranks, shape (n, T - 1, M)."""
        mean = self.ranks[list(members)].mean(axis=0)
        return np.moveaxis(np.round(mean[0] - mean[1:], _DIGITS), 2, 0)


@dataclass(frozen=True, slots=True)
class JuryFigures:
    """What some judges see together."""

    detection: Floats
    """Detection of each kind of damage, in [0, 1], shape (V,); NaN without a pair."""
    verdicts: tuple[Verdict, ...]
    """Verdict on each kind of damage."""
    controls: tuple[ControlState, ...]
    """State of each harmless edit."""
    counted: tuple[bool, ...]
    """Whether a kind of damage has five pairs."""

    @property
    def lowest(self) -> float:
        """The lowest detection; NaN where none is defined."""
        return float(np.nanmin(self.detection)) if not np.isnan(self.detection).all() else float("nan")

    @property
    def passes(self) -> bool:
        """Whether every kind of damage with five pairs is noticed, and no harmless edit is a false alarm."""
        verdicts = {said for said, counts in zip(self.verdicts, self.counted, strict=True) if counts}
        return verdicts == {"noticed"} and "false alarm" not in self.controls


def text_ranks(scores: npt.ArrayLike) -> Floats:
    """The rank of each score of one judge among all that it gave by the same metric.

    Parameters
    ----------
    scores : shape (T, M, n)
        Mean scores of n examples in T versions under M metrics; NaN where there is none.

    Returns
    -------
    shape (T, M, n)
        In [0, 1], higher is better; free of the judge's scale and response style. NaN without a score.
    """
    x = np.asarray(scores, dtype=np.float64)
    ranked = np.full_like(x, np.nan)
    for m in range(x.shape[1]):
        there = ~np.isnan(x[:, m])
        ranks = average_ranks(x[:, m][there])
        ranked[:, m][there] = (ranks - 1) / max(1, ranks.size - 1)
    return ranked


def jury_figures(texts: JudgedTexts, members: Sequence[int], floor: float = FLOOR) -> JuryFigures:
    """What the members, at least one, see together, each with the same say; judged as one judge is.

    `floor` is as for `dhp.stats.verdict.verdict`.
    """
    x = texts.differences(members)
    harmless = x[:, [index - 1 for index in texts.harmless]] if texts.harmless else None
    damage = x[:, [index - 1 for index in texts.damage]]
    found = detection(damage, texts.levels, texts.clusters, controls=harmless)
    kinds, pairs = found.kinds, found.pairs.max(axis=1).tolist()
    figures = list(zip(kinds.value.tolist(), kinds.low.tolist(), kinds.high.tolist(), pairs, strict=True))
    above = found.above_controls.tolist()
    states: list[ControlState] = []
    if harmless is not None:
        seen = detection(harmless, ["control"] * harmless.shape[1], texts.clusters)
        rows = (seen.kinds.value, seen.kinds.low, seen.kinds.high, seen.pairs.max(axis=1))
        states = [control_state(*row, floor=floor) for row in zip(*(r.tolist() for r in rows), strict=True)]
    return JuryFigures(
        kinds.value,
        tuple(verdict(*f, floor=floor, above_controls=a) for f, a in zip(figures, above, strict=True)),
        tuple(states),
        tuple(n >= FEWEST_PAIRS for n in pairs),
    )


def smallest_jury(texts: JudgedTexts, costs: Sequence[float], floor: float = FLOOR) -> tuple[int, ...] | None:
    """The judges that pass together: the fewest, of these the cheapest, of these with the highest lowest.

    All sets are tried, so J should be at most about 12. None where no set passes.
    """
    judges = range(len(texts.ranks))
    for size in range(1, len(texts.ranks) + 1):
        passing = []
        for members in combinations(judges, size):
            found = jury_figures(texts, members, floor)
            if found.passes:
                passing.append((sum(costs[j] for j in members), -found.lowest, members))
        if passing:
            return min(passing)[2]
    return None


def order_of_gain(texts: JudgedTexts, examples: npt.NDArray[np.intp] | None = None) -> tuple[int, ...]:
    """The judges in the order in which each lifts the lowest detection most, on all or some examples."""
    order: list[int] = []
    while len(order) < len(texts.ranks):
        left = [j for j in range(len(texts.ranks)) if j not in order]
        lowest = [_lowest(texts, [*order, j], examples, examples) for j in left]
        order.append(left[int(np.nanargmax(lowest)) if not np.isnan(lowest).all() else 0])
    return tuple(order)


def held_out_gains(texts: JudgedTexts, rng: np.random.Generator, splits: int = 200) -> Floats:
    """The gain of each further judge in lowest detection, on examples that did not choose it.

    Each split draws half of the examples, which choose the order of the judges and the metric by which a kind
    of damage is seen best, and measures on the others. A gain on the examples that chose would be too high.

    Returns
    -------
    shape (splits, J)
        The first column is the lowest detection of the first judge alone, further ones are differences.
    """
    n, judges = texts.ranks.shape[3], len(texts.ranks)
    gains = np.empty((splits, judges))
    for split in range(splits):
        mixed = rng.permutation(n)
        chosen, held = mixed[: n // 2], mixed[n // 2 :]
        order = order_of_gain(texts, chosen)
        lowest = [_lowest(texts, order[:size], chosen, held) for size in range(1, judges + 1)]
        gains[split] = np.diff(lowest, prepend=0.0)
    return gains


def _lowest(
    texts: JudgedTexts,
    members: Sequence[int],
    chosen: npt.NDArray[np.intp] | None,
    held: npt.NDArray[np.intp] | None,
) -> float:
    """The lowest detection on the examples `held`, by the metrics that see most on those `chosen`."""
    x = texts.differences(members)[:, [index - 1 for index in texts.damage]]
    best, seen = (_shares(x if part is None else x[part]) for part in (chosen, held))
    metric = np.where(np.isnan(best), -np.inf, best).argmax(axis=1)
    values = np.take_along_axis(seen, metric[:, None], axis=1)
    return float(np.nanmin(values)) if not np.isnan(values).all() else float("nan")


def _shares(differences: Floats) -> Floats:
    fell, tied, _, _ = outcome_shares(differences)
    return fell + tied / 2
