"""Juries: combinations of judges, and their statistics."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dhp.analysis.control_state import control_state
from dhp.analysis.verdict_rule import verdicts
from dhp.core.checks import check_number
from dhp.core.errors import InputError, unique
from dhp.core.records import IDENTITY
from dhp.core.seeding import key_digest
from dhp.core.verdicts import FALSE_ALARM, MISSED, NOTICED, Verdict
from dhp.runs.alike import check_alike, differences, rated_by_dataset
from dhp.runs.reader import RunResult, read_run
from dhp.stats.arrays import Floats, Ints
from dhp.stats.below_edits import below_edits
from dhp.stats.controls import movements
from dhp.stats.defaults import FLOOR
from dhp.stats.detection import (
    FEWEST_PAIRS,
    detection,
    outcome_shares,
)
from dhp.stats.flips import flip_log_p
from dhp.stats.wilcoxon import average_ranks

_FLIPS = 2000
"""Sign flips of each set of judges, of which there may be thousands."""
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
    controls: tuple[Verdict, ...]
    """State of each harmless edit."""
    counted: tuple[bool, ...]
    """Whether a kind of damage has five pairs."""

    @property
    def lowest(self) -> float:
        """The lowest detection; NaN if none is defined."""
        return float(np.nanmin(self.detection)) if not np.isnan(self.detection).all() else float("nan")

    @property
    def passes(self) -> bool:
        """Whether every kind of damage with five pairs is noticed, and no harmless edit is a false alarm."""
        verdicts = {word for word, counts in zip(self.verdicts, self.counted, strict=True) if counts}
        return verdicts == {NOTICED} and FALSE_ALARM not in self.controls


def text_ranks(scores: npt.ArrayLike) -> Floats:
    """The rank of each score of one judge among all that it gave by the same metric.

    Scores are means of n examples in T versions under M metrics, shape (T, M, n), NaN if there is none, as
    in the ranks. These are in [0, 1], higher is better, and free of the judge's scale and response style.
    """
    x = np.asarray(scores, dtype=np.float64)
    ranked = np.full_like(x, np.nan)
    for m in range(x.shape[1]):
        defined = ~np.isnan(x[:, m])
        ranks = average_ranks(x[:, m][defined])
        ranked[:, m][defined] = (ranks - 1) / max(1, ranks.size - 1)
    return ranked


def jury_figures(texts: JudgedTexts, members: Sequence[int], floor: float = FLOOR) -> JuryFigures:
    """What the members, at least one, see together, each with the same say; judged as one judge is.

    `floor` is as for `dhp.analysis.verdict_rule.verdicts`.
    """
    x = texts.differences(members)
    harmless = x[:, [index - 1 for index in texts.harmless]] if texts.harmless else None
    damage = x[:, [index - 1 for index in texts.damage]]
    detected = detection(damage, texts.levels, texts.clusters)
    below = None
    if harmless is not None:
        apart = [damage - harmless[:, [c]] for c in range(harmless.shape[1])]
        below = below_edits(apart, texts.clusters, resamples=_FLIPS).log_p
    flips = flip_log_p(damage, texts.clusters, resamples=_FLIPS)
    words = verdicts(detected, flips, floor=floor, below_edits=below)
    states: list[Verdict] = []
    if harmless is not None:
        noticed = [word is NOTICED for word in words]
        moved = movements(harmless, damage, noticed, texts.clusters, resamples=_FLIPS)
        states = [control_state(each)[0] for each in moved]
    return JuryFigures(
        detected.value,
        tuple(words),
        tuple(states),
        tuple(bool(n >= FEWEST_PAIRS) for n in detected.pairs.max(axis=1)),
    )


def smallest_jury(texts: JudgedTexts, costs: Sequence[float], floor: float = FLOOR) -> tuple[int, ...] | None:
    """The judges that pass together: the fewest, of these the cheapest, of these with the highest lowest.

    All sets are tried, so J should be at most about 12. None if no set passes.
    """
    judges = range(len(texts.ranks))
    for size in range(1, len(texts.ranks) + 1):
        passing = []
        for members in combinations(judges, size):
            figures = jury_figures(texts, members, floor)
            if figures.passes:
                passing.append((sum(costs[j] for j in members), -figures.lowest, members))
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
    Shape (splits, J): the first column is the lowest detection of the first judge alone, further ones are
    differences.
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


MOST_JUDGES = 12
"""All sets of judges are tried: 4,095 of twelve."""
_FEWEST_EXAMPLES = 10
"""Halves of fewer say nothing."""


@dataclass(frozen=True, slots=True)
class JuryMember:
    """A judge, or several as one."""

    judges: tuple[str, ...]
    detection: dict[str, float | None]
    """Variant -> detection by the metric that sees it best, in [0, 1]; None without a pair."""
    verdicts: dict[str, Verdict]
    """Verdict on each variant: variant -> verdict."""
    controls: dict[str, Verdict]
    """Harmless edit -> state."""
    cost: float | None
    """Cost of the judges' runs; None if a run has no prices."""


@dataclass(frozen=True, slots=True)
class Gain:
    """What one more judge adds to the lowest detection, on examples that did not choose it."""

    judge: str
    """Judge that all examples choose in this step."""
    gain: float
    low: float
    high: float
    """Upper limit; `low` and `high` hold the middle 95 % over random halves of the examples."""


@dataclass(frozen=True, slots=True)
class Jury:
    """The outcome for one dataset."""

    dataset: str
    n: int
    floor: float
    """Detection from which damage counts as noticed, in (0.5, 1]."""
    alone: tuple[JuryMember, ...]
    """Figures of each single judge."""
    chosen: JuryMember | None
    """The smallest set that notices every kind of damage without a false alarm; None if there is none."""
    together: JuryMember
    """All judges as one jury."""
    missed: tuple[str, ...]
    """Variants that every judge alone missed."""
    gains: tuple[Gain, ...]
    """Gains in the order in which judges are best added; empty with fewer than ten examples."""

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values."""
        return asdict(self)


def jury_of_runs(folders: Sequence[str | Path], *, floor: float = 100 * FLOOR) -> list[Jury]:
    """The smallest jury of the judges of run folders, dataset by dataset.

    A jury's score of a text by a metric is the mean of its judges' ranks of it, so that judges with other
    scales and response styles have the same say. It is judged as a single judge is: one judge alone has the
    detection and verdicts of its run. Folders may hold several models and datasets; `floor` is in per cent.
    Raises `InputError` for a folder without a run, fewer than two or more than `MOST_JUDGES` judges on a
    dataset, runs of different texts (judges and protocols may differ), and a floor out of range.
    """
    check_number("floor", floor, percent=True, ge=50, le=100)
    rated = rated_by_dataset(map(read_run, folders))
    return [_jury(dataset, entries, floor / 100) for dataset, entries in rated.items()]


def _jury(dataset: str, entries: Sequence[RunResult], floor: float) -> Jury:
    names, first = _names(dataset, entries), entries[0]
    damage = [v.variant for v in first.result.variants]
    rated = set.intersection(*({v.variant for v in entry.result.controls} for entry in entries))
    harmless = [v.variant for v in first.result.controls if v.variant in rated and v.variant != IDENTITY]
    texts = JudgedTexts(
        np.stack([_ranks(entry, [*damage, *harmless], first.ratings.metrics) for entry in entries]),
        range(1, len(damage) + 1),
        [v.level for v in first.result.variants],
        range(len(damage) + 1, len(damage) + len(harmless) + 1),
        first.ratings.clusters,
    )
    costs = [entry.result.cost for entry in entries]

    def member(judges: Sequence[int]) -> JuryMember:
        figures = jury_figures(texts, judges, floor)
        paid = [costs[j] for j in judges]
        known = [cost for cost in paid if cost is not None]
        values = [None if np.isnan(x) else float(x) for x in figures.detection]
        return JuryMember(
            tuple(names[j] for j in judges),
            dict(zip(damage, values, strict=True)),
            dict(zip(damage, figures.verdicts, strict=True)),
            dict(zip(harmless, figures.controls, strict=True)),
            sum(known) if len(known) == len(paid) else None,
        )

    alone = tuple(member([j]) for j in range(len(names)))
    chosen = smallest_jury(texts, [1.0 if cost is None else cost for cost in costs], floor)
    return Jury(
        dataset=dataset,
        n=first.result.n,
        floor=floor,
        alone=alone,
        chosen=None if chosen is None else member(chosen),
        together=member(range(len(names))),
        missed=tuple(v for v in damage if all(m.verdicts[v] is MISSED for m in alone)),
        gains=_gains(names, texts, [e.ratings.digest for e in entries]),
    )


def _names(dataset: str, entries: Sequence[RunResult]) -> list[str]:
    if not 2 <= len(entries) <= MOST_JUDGES:
        raise InputError(f"dataset '{dataset}' has {len(entries)} judges; must be 2 to {MOST_JUDGES}")
    first, *others = entries
    for other in others:
        allow = ("protocol", "metrics")
        check_alike(first, other, differences(first.result, other.result, allow), allow)
        if {v.variant for v in other.result.variants} != {v.variant for v in first.result.variants}:
            raise InputError(
                f"dataset '{dataset}': {other.place} rated other variants than {first.place}; "
                "allowed: the same"
            )
    models = [e.result.model for e in entries]
    names = [
        e.result.model if models.count(e.result.model) == 1 else f"{e.result.model} ({e.result.protocol})"
        for e in entries
    ]
    unique("judge", names, f"dataset '{dataset}'")
    return names


def _ranks(entry: RunResult, variants: Sequence[str], metrics: Sequence[str]) -> Floats:
    """Shape (1 + variants, metrics, examples)."""
    original, degraded = entry.ratings.score_tables(variants)
    order = [entry.ratings.metrics.index(metric) for metric in metrics]
    scores = np.concatenate([original[:, None], degraded], axis=1)[:, :, order]
    return text_ranks(scores.transpose(1, 2, 0))


def _gains(names: Sequence[str], texts: JudgedTexts, digests: Sequence[str]) -> tuple[Gain, ...]:
    if texts.ranks.shape[3] < _FEWEST_EXAMPLES:
        return ()
    rng = np.random.default_rng(int.from_bytes(key_digest("jury", *digests)))
    gains = held_out_gains(texts, rng)
    low, high = np.nanquantile(gains, [0.025, 0.975], axis=0)
    means = np.nanmean(gains, axis=0)
    return tuple(
        Gain(names[j], float(means[k]), float(low[k]), float(high[k]))
        for k, j in enumerate(order_of_gain(texts))
    )
