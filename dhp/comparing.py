"""Runs side by side: which judge is better, as far as the same examples can tell."""

import math
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dhp.errors import InputError
from dhp.runs import RunResult, read_run
from dhp.seeding import key_digest
from dhp.stats import Comparison, compare
from dhp.styles import shared_styles

PARTS = ("dataset", "n", "suite", "method", "metrics", "weights", "statistics", "protocol")
"""What must be the same for a comparison to mean something, as the parts of a signature."""


@dataclass(frozen=True, slots=True)
class DatasetComparison:
    """The judges of one dataset."""

    dataset: str
    n: int
    judges: tuple[str, ...]
    """Model, with the protocol where it was allowed to differ."""
    scores: dict[str, Comparison]
    """`d_avg`, `d_min`, `d_avg_ew`, `d_min_ew` -> the comparison by it."""
    shared_styles: dict[str, npt.NDArray[np.float64]]
    """`originals`, `degraded` -> Spearman's correlation of the judges' scores over texts, shape (K, K), the
    mean over metrics; NaN where undefined."""

    def to_json(self) -> dict[str, Any]:
        """As plain values; what is undefined is None."""
        scores = {name: _plain(asdict(found)) for name, found in self.scores.items()}
        return {"dataset": self.dataset, "n": self.n, "judges": list(self.judges), "scores": scores} | {
            "shared_styles": _plain(self.shared_styles)
        }


def compare_runs(
    folders: Sequence[str | Path], *, allow: Collection[str] = (), resamples: int = 2000
) -> list[DatasetComparison]:
    """Compare the judges of run folders, dataset by dataset, by a paired bootstrap over examples.

    Parameters
    ----------
    folders
        Run folders; each may hold several models and datasets.
    allow
        `protocol`, to compare protocols of one model on purpose.
    resamples
        Of the examples, at least 1.

    Raises
    ------
    InputError
        For a folder that holds no run, a judge that stands twice, fewer than two judges on a dataset, and
        runs that differ in `PARTS`: names what differs.
    """
    if refused := [name for name in allow if name != "protocol"]:
        raise InputError(f"--allow '{refused[0]}': would compare what cannot be; allowed: protocol")
    if resamples < 1:
        raise InputError(f"resamples: {resamples}; allowed: 1 or more")
    by_dataset: dict[str, list[RunResult]] = {}
    for folder in folders:
        for entry in read_run(folder).rated():
            by_dataset.setdefault(entry.result.dataset, []).append(entry)
    return [compare_results(name, entries, allow, resamples) for name, entries in by_dataset.items()]


def compare_results(
    dataset: str, entries: Sequence[RunResult], allow: Collection[str] = (), resamples: int = 2000
) -> DatasetComparison:
    """Compare the judges of one dataset; parameters and errors as for `compare_runs`."""
    if len(entries) < 2:
        raise InputError(f"{entries[0].place}: dataset '{dataset}' has one judge only; allowed: two or more")
    first, *others = entries
    for other in others:
        for part in PARTS:
            here, there = first.result.signed.get(part), other.result.signed.get(part)
            if part not in allow and here != there:
                raise InputError(
                    f"dataset '{dataset}': {part} differs, '{here}' in {first.place} and '{there}' in "
                    f"{other.place}; allowed: runs that agree in it{_allowing(part)}"
                )
    names = [e.result.model for e in entries]
    if "protocol" in allow:
        names = [f"{name} ({e.result.protocol})" for name, e in zip(names, entries, strict=True)]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise InputError(f"dataset '{dataset}': judge '{repeated[0]}' stands twice; give each one once")
    levels = {v.variant: v.level for v in first.result.variants}
    metrics = first.group.metrics
    weights = [
        [math.nan if (w := v.metrics[m].weight) is None else w for m in metrics]
        for v in first.result.variants
    ]
    found = compare(
        np.stack([e.group.difference_table(list(levels), metrics) for e in entries]),
        list(levels.values()),
        np.random.default_rng(int.from_bytes(key_digest(*(e.group.digest for e in entries)))),
        np.array(weights),
        method="scipy" if first.result.statistics == "paper" else "exact",
        combination=first.result.combination,
        resamples=resamples,
    )
    shared = shared_styles([e.group for e in entries], list(levels))
    return DatasetComparison(dataset, len(first.group.examples), tuple(names), found, shared)


def _allowing(part: str) -> str:
    return ", or --allow protocol to compare them on purpose" if part == "protocol" else ""


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(inner) for inner in value]
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value
