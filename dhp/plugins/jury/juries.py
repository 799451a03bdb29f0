"""Juries of the judges of several runs."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dhp.core.errors import InputError
from dhp.core.options import check_percent
from dhp.core.records import IDENTITY
from dhp.core.seeding import key_digest
from dhp.plugins.jury.statistics import (
    JudgedTexts,
    held_out_gains,
    jury_figures,
    order_of_gain,
    smallest_jury,
    text_ranks,
)
from dhp.runs.comparable import check_alike, check_once, differences, rated_by_dataset
from dhp.runs.reader import RunResult
from dhp.stats.arrays import Floats
from dhp.stats.floor import FLOOR
from dhp.stats.verdict import ControlState, Verdict

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
    controls: dict[str, ControlState]
    """Harmless edit -> state."""
    cost: float | None
    """Cost of the judges' runs; None where a run has no prices."""


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
    """The smallest set that notices every kind of damage without a false alarm; None where there is none."""
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
    detection and verdicts of its run.

    Parameters
    ----------
    folders
        Run folders; each may hold several models and datasets.
    floor
        Detection from which damage counts as noticed, in per cent.

    Raises
    ------
    InputError
        For a folder without a run, fewer than two or more than `MOST_JUDGES` judges on a dataset, runs of
        different texts (judges and protocols may differ), and a floor out of range.
    """
    check_percent("`floor`", floor, 50, 100)
    return [_jury(dataset, entries, floor / 100) for dataset, entries in rated_by_dataset(folders).items()]


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
        found = jury_figures(texts, judges, floor)
        paid = [costs[j] for j in judges]
        known = [cost for cost in paid if cost is not None]
        values = [None if np.isnan(x) else float(x) for x in found.detection]
        return JuryMember(
            tuple(names[j] for j in judges),
            dict(zip(damage, values, strict=True)),
            dict(zip(damage, found.verdicts, strict=True)),
            dict(zip(harmless, found.controls, strict=True)),
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
        missed=tuple(v for v in damage if all(m.verdicts[v] == "missed" for m in alone)),
        gains=_gains(names, texts, [e.ratings.digest for e in entries]),
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
