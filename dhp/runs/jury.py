"""Which judges together see what one alone does not, from runs on the same texts and without new calls."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dhp.core.errors import InputError
from dhp.core.seeding import key_digest
from dhp.runs.comparable import check_alike, check_once, differences, rated_by_dataset
from dhp.runs.reader import RunResult
from dhp.stats.arrays import Floats
from dhp.stats.jury import (
    held_out_gains,
    jury_figures,
    order_of_gain,
    smallest_jury,
    text_ranks,
)

MOST_JUDGES = 12
"""All sets of judges are tried: 4,095 of twelve."""
_FEWEST_EXAMPLES = 10
"""Halves of fewer say nothing."""


@dataclass(frozen=True, slots=True)
class JuryMember:
    """A judge, or several as one."""

    judges: tuple[str, ...]
    detection: dict[str, float | None]
    """Variant -> P(fell) + P(tied) / 2, in [0, 1]."""
    false_alarms: dict[str, float | None]
    """Control -> the share of its pairs that fell less the share that rose, in [-1, 1]."""
    cost: float | None
    """Of their runs; None where one has no prices."""


@dataclass(frozen=True, slots=True)
class Gain:
    """What one more judge adds to the lowest detection, on examples that did not choose it."""

    judge: str
    """The one that all examples choose at this place."""
    gain: float
    low: float
    high: float
    """The middle 95 % over random halves of the examples."""


@dataclass(frozen=True, slots=True)
class Jury:
    """The outcome for one dataset."""

    dataset: str
    n: int
    floor: float
    most_false_alarms: float
    alone: tuple[JuryMember, ...]
    """Each judge by itself."""
    chosen: JuryMember | None
    """The smallest set that detects every variant above the floor; None where there is none."""
    together: JuryMember
    """All judges."""
    blind_spots: tuple[str, ...]
    """Variants that no judge alone detects above the floor."""
    gains: tuple[Gain, ...]
    """In the order in which judges are best added; empty with fewer than ten examples."""

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def jury_of_runs(
    folders: Sequence[str | Path], *, floor: float = 0.75, false_alarms: float = 0.05
) -> list[Jury]:
    """The smallest jury of the judges of run folders, dataset by dataset.

    A jury's score of a text is the mean of its judges' ranks of it, so that judges with other scales and
    response styles have the same say (the ranks of a judge are among all texts it rated, the mean over
    metrics).

    Parameters
    ----------
    folders
        Run folders; each may hold several models and datasets.
    floor
        Detection that every variant must exceed, in [0.5, 1).
    false_alarms
        The most that scores of a control may fall, net of those that rise, as a share of its pairs.

    Raises
    ------
    InputError
        For a folder without a run, fewer than two or more than `MOST_JUDGES` judges on a dataset, runs of
        different texts (judges and protocols may differ), and a floor out of range.
    """
    if not 0.5 <= floor < 1:
        raise InputError(f"`floor`: {floor}; allowed: at least 0.5 and below 1")
    if not 0 <= false_alarms <= 1:
        raise InputError(f"`false_alarms`: {false_alarms}; allowed: from 0 to 1")
    return [
        _jury(dataset, entries, floor, false_alarms) for dataset, entries in rated_by_dataset(folders).items()
    ]


def _jury(dataset: str, entries: Sequence[RunResult], floor: float, false_alarms: float) -> Jury:
    names = _names(dataset, entries)
    first = entries[0].result
    damage = [v.variant for v in first.variants]
    rated = set.intersection(*({v.variant for v in entry.result.controls} for entry in entries))
    controls = [v.variant for v in first.controls if v.variant in rated]
    ranks = np.stack([_ranks(entry, [*damage, *controls]) for entry in entries])
    places = list(range(1, len(damage) + 1)), list(range(len(damage) + 1, len(damage) + len(controls) + 1))
    costs = [entry.result.cost for entry in entries]

    def member(judges: Sequence[int]) -> JuryMember:
        found = jury_figures(ranks, judges, *places)
        paid = [costs[j] for j in judges]
        known = [cost for cost in paid if cost is not None]
        return JuryMember(
            tuple(names[j] for j in judges),
            _named(damage, found.detection),
            _named(controls, found.false_alarms),
            sum(known) if len(known) == len(paid) else None,
        )

    alone = [member([j]) for j in range(len(names))]
    priced = [1.0 if cost is None else cost for cost in costs]
    chosen = smallest_jury(ranks, priced, *places, floor=floor, most_alarms=false_alarms)
    return Jury(
        dataset=dataset,
        n=first.n,
        floor=floor,
        most_false_alarms=false_alarms,
        alone=tuple(alone),
        chosen=None if chosen is None else member(chosen),
        together=member(range(len(names))),
        blind_spots=tuple(v for v in damage if all((m.detection[v] or 0.0) <= floor for m in alone)),
        gains=_gains(names, ranks, places[0], [e.ratings.digest for e in entries]),
    )


def _names(dataset: str, entries: Sequence[RunResult]) -> list[str]:
    if not 2 <= len(entries) <= MOST_JUDGES:
        raise InputError(f"dataset '{dataset}' has {len(entries)} judges; allowed: 2 to {MOST_JUDGES}")
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
    check_once(dataset, names)
    return names


def _ranks(entry: RunResult, variants: Sequence[str]) -> Floats:
    original, degraded = entry.ratings.score_tables(variants)
    return text_ranks(np.concatenate([original[:, None], degraded], axis=1).transpose(1, 2, 0))


def _named(variants: Sequence[str], values: Floats) -> dict[str, float | None]:
    return {v: None if np.isnan(x) else float(x) for v, x in zip(variants, values, strict=True)}


def _gains(
    names: Sequence[str], ranks: Floats, damage: Sequence[int], digests: Sequence[str]
) -> tuple[Gain, ...]:
    if ranks.shape[2] < _FEWEST_EXAMPLES or not damage:
        return ()
    rng = np.random.default_rng(int.from_bytes(key_digest("jury", *digests)))
    gains = held_out_gains(ranks, damage, rng)
    low, high = np.nanquantile(gains, [0.025, 0.975], axis=0)
    order = order_of_gain(ranks, damage)
    means = np.nanmean(gains, axis=0)
    return tuple(Gain(names[j], float(means[k]), float(low[k]), float(high[k])) for k, j in enumerate(order))
