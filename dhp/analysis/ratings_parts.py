"""Ratings that are read in parts of different examples, with merged sums."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dhp.analysis.ratings import RatingsArray
from dhp.analysis.ratings_split import cluster_numbers, split_ratings
from dhp.analysis.ratings_table import in_parts, ratings_parts, read_ratings
from dhp.core.errors import InputError
from dhp.core.specs import Scale
from dhp.stats.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd


class _NotSeparable(Exception):
    """Parts that tell only together what was rated: an example in two of them, or interim analyses."""


def ratings_of_file(path: Path, scales: Mapping[str, Scale] | None = None) -> list[RatingsArray]:
    """The ratings in a file or a folder of parts, by (model, protocol, dataset), in order of appearance.

    Of Parquet one row group is in memory at a time where no example is in two of them. Parameters and errors
    as for `read_ratings` and `split_ratings`.
    """
    if in_parts(path):
        # The row that an error names is to be counted in the whole.
        with suppress(_NotSeparable, InputError):
            return merged_ratings(map(_apart, ratings_parts(path)), scales)
    return list(split_ratings(read_ratings(path), scales))


def _apart(frame: "pd.DataFrame") -> "pd.DataFrame":
    if "look" in frame or "status" not in frame:  # a note on each part would be too many
        raise _NotSeparable
    return frame


def merged_ratings(
    frames: "Iterable[pd.DataFrame]", scales: Mapping[str, Scale] | None = None
) -> list[RatingsArray]:
    """The ratings of all these tables, as by `split_ratings`; no two tables hold ratings of one example."""
    groups: dict[tuple[str, str, str], list[RatingsArray]] = {}
    for frame in frames:
        for part in split_ratings(frame, scales):
            group = groups.setdefault((part.model, part.protocol, part.dataset), [])
            group.append(part)
            if len(group) > 1:
                group[0], group[-1] = _lean(group[0]), _lean(part)
        del frame  # before the next table is made
    return [_merged(parts) for parts in groups.values()]


def _lean(part: RatingsArray) -> RatingsArray:
    """The ratings without single scores that the means hold, too."""
    return replace(part, samples={m: x for m, x in part.samples.items() if x.shape[1] > 1})


def _merged(parts: Sequence[RatingsArray]) -> RatingsArray:
    if len(parts) == 1:
        return parts[0]
    examples = tuple(example for part in parts for example in part.examples)
    if len(set(examples)) < len(examples):
        raise _NotSeparable
    variants = tuple(dict.fromkeys(name for part in parts for name in part.variants))
    metrics = tuple(dict.fromkeys(name for part in parts for name in part.metrics))
    with np.errstate(invalid="ignore"):
        none = np.zeros(1) / np.zeros(1)  # bit for bit the NaN of a mean of no scores, for the digest
    means = np.full((1 + len(variants), len(metrics), len(examples)), none)
    asked = np.zeros(means.shape, dtype=np.bool_)
    end = 0
    for part in parts:
        start, end = end, end + len(part.examples)
        rows = [0, *(1 + variants.index(name) for name in part.variants)]
        cells = np.ix_(rows, [metrics.index(name) for name in part.metrics], range(start, end))
        means[cells], asked[cells] = part.means, part.asked
    clusters = _clusters(parts)
    return RatingsArray(
        place=parts[0].place,
        model=parts[0].model,
        protocol=parts[0].protocol,
        dataset=parts[0].dataset,
        examples=examples,
        variants=variants,
        metrics=metrics,
        means=means,
        samples={name: _samples(parts, name, variants, means[:, m]) for m, name in enumerate(metrics)},
        asked=asked,
        interim=None,
        levels=_levels(parts),
        counts=_total(part.counts for part in parts),
        failures=dict(Counter(_total(part.failures for part in parts)).most_common()),
        rules=dict(sorted(_total(part.rules for part in parts).items())),
        missing_mass=_missing_mass(parts),
        masses=sum(part.masses for part in parts),
        clusters=None if clusters is None else cluster_numbers(clusters),
        cluster_names=clusters,
        columns=frozenset().union(*(part.columns for part in parts)),
    )


def _samples(parts: Sequence[RatingsArray], metric: str, variants: Sequence[str], means: Floats) -> Floats:
    """The single scores of a metric, text by text: variant by variant, example by example."""
    if all(metric not in part.samples for part in parts):
        return means[~np.isnan(means)][:, None]
    width = max(part.samples[metric].shape[1] for part in parts if metric in part.samples)
    found, texts, first = [], [], 0
    for part in parts:
        if metric in part.metrics:
            own = part.means[:, part.metrics.index(metric)]
            scores = part.samples.get(metric, own[~np.isnan(own)][:, None])
            gaps = np.full((len(scores), width - scores.shape[1]), np.nan)
            found.append(np.hstack([scores, gaps]))
            number = np.array([0, *(1 + variants.index(name) for name in part.variants)])
            row, example = np.nonzero(~np.isnan(own))
            texts.append(np.ravel_multi_index((number[row], first + example), means.shape))
        first += len(part.examples)
    return np.vstack(found)[np.argsort(np.concatenate(texts), kind="stable")]


def _levels(parts: Sequence[RatingsArray]) -> dict[str, str] | None:
    if all(part.levels is None for part in parts):
        return None
    levels: dict[str, str] = {}
    for part in parts:
        for variant, level in (part.levels or {}).items():
            if levels.setdefault(variant, level) != level:
                raise InputError(
                    f"{part.place}: variant '{variant}' has two levels, '{levels[variant]}' and '{level}'"
                )
    return levels


def _total(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for each in counts:
        for name, count in each.items():
            found[name] = found.get(name, 0) + count
    return found


def _missing_mass(parts: Sequence[RatingsArray]) -> float | None:
    known = [part for part in parts if part.missing_mass is not None]
    if not known:
        return None
    return float(np.average([p.missing_mass for p in known], weights=[p.masses for p in known]))


def _clusters(parts: Sequence[RatingsArray]) -> dict[str, str] | None:
    if all(part.cluster_names is None for part in parts):
        return None
    return {
        example: (part.cluster_names or {}).get(example, example)
        for part in parts
        for example in part.examples
    }
