"""A table of ratings as arrays, one set per model, protocol and dataset; also read in parts."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dhp.analysis.ratings import RatingsArray
from dhp.analysis.ratings_table import (
    GROUPING,
    blank,
    checked_ratings,
    in_parts,
    place_of,
    ratings_parts,
    read_ratings,
)
from dhp.analysis.schedules import read_course, schedules
from dhp.core.errors import InputError, suggest
from dhp.core.records import ORIGINAL, RATING_STATUSES, STOPPED
from dhp.core.specs import Scale
from dhp.stats.arrays import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

_UNKNOWN = "unknown"
_LARGEST = 1e306  # beyond it differences overflow


def split_ratings(frame: "pd.DataFrame", scales: Mapping[str, Scale] | None = None) -> Iterator[RatingsArray]:
    """Check a ratings table and split it by (model, protocol, dataset), in order of appearance.

    Parameters and errors as for `checked_ratings`; duplicate samples, examples without their original
    and variants with two levels are errors too.
    """
    table, place = checked_ratings(frame, scales), place_of(frame)
    present = [c for c in GROUPING if c in table]
    if not present:
        yield _array(table, {}, place)
        return
    if len(firsts := table[present].drop_duplicates()) == 1:  # no copy of what may be millions of rows
        yield _array(table, dict(zip(present, map(str, firsts.iloc[0]), strict=True)), place)
        return
    for key, part in table.groupby(present, sort=False):
        names = key if isinstance(key, tuple) else (key,)
        yield _array(part, dict(zip(present, map(str, names), strict=True)), place)


def _array(table: "pd.DataFrame", names: dict[str, str], file: str) -> RatingsArray:
    import pandas as pd

    place = f"{file}: model '{names['model']}'" if "model" in names else file
    keys = ["example", "variant", "metric", "sample"]
    if "sample" in table and (repeated := table.duplicated(keys)).any():
        row = table[repeated].iloc[0]
        raise InputError(
            f"{place}: sample {row['sample']} of example '{row['example']}', variant '{row['variant']}', "
            f"metric '{row['metric']}' is rated twice"
        )
    example, examples = pd.factorize(table["example"], sort=True)
    metric, metrics = pd.factorize(table["metric"])
    variants = [v for v in table["variant"].unique() if v != ORIGINAL]
    if len(variants) == table["variant"].nunique():
        raise InputError(f"{place}: no rows of the variant '{ORIGINAL}'; {suggest(ORIGINAL, variants)}")
    variant = table["variant"].map({name: i for i, name in enumerate([ORIGINAL, *variants])}).to_numpy()
    shape = (1 + len(variants), len(metrics), len(examples))
    cell = np.ravel_multi_index((variant, metric, example), shape)
    size = int(np.prod(shape))
    scored = (table["status"] == "scored").to_numpy()
    rows = np.bincount(cell[(table["status"] != STOPPED).to_numpy()], minlength=size).reshape(shape)
    samples = np.bincount(cell[scored], minlength=size).reshape(shape)
    sums = np.bincount(cell[scored], weights=table["score"].to_numpy()[scored], minlength=size).reshape(shape)
    _check_originals(rows, list(metrics), list(examples), place)
    with np.errstate(invalid="ignore"):
        means = sums / samples
    if np.abs(means[samples > 0]).max(initial=0) > _LARGEST:
        raise InputError(f"{place}: a score is larger than {_LARGEST:g}")
    counts = table["status"].value_counts()
    mass = _missing_mass(table, place)
    clusters = _clusters(table, place) if "cluster" in table else None
    course = read_course(table, place)
    kinds = (*RATING_STATUSES, STOPPED) if course.schedule.unrated else RATING_STATUSES
    return RatingsArray(
        place=place,
        model=names.get("model", _UNKNOWN),
        protocol=names.get("protocol", _UNKNOWN),
        dataset=names.get("dataset", _UNKNOWN),
        examples=tuple(examples),
        variants=tuple(variants),
        metrics=tuple(metrics),
        means=means,
        samples={
            name: _by_text(cell[chosen], table["score"].to_numpy()[chosen])
            for m, name in enumerate(metrics)
            for chosen in [scored & (metric == m)]
        },
        asked=rows > 0,
        levels=_levels(table, place) if "level" in table else None,
        counts={"asked": int(rows.sum()), **{s: int(counts.get(s, 0)) for s in kinds}},
        failures=_failures(table),
        rules=_rules(table),
        missing_mass=None if mass is None else float(mass.mean()),
        course=course,
        masses=0 if mass is None else int(mass.count()),
        clusters=None if clusters is None else cluster_numbers(clusters),
        cluster_names=clusters,
        columns=frozenset(map(str, table.columns)),
    )


def _clusters(table: "pd.DataFrame", place: str) -> dict[str, str]:
    """Example -> its cluster."""
    own = table[["example", "cluster"]].drop_duplicates()
    if (twice := own["example"].duplicated()).any():
        raise InputError(
            f"{place}: example '{own['example'][twice].iloc[0]}' is in two clusters; allowed: one"
        )
    return dict(zip(own["example"], own["cluster"], strict=True))


def cluster_numbers(clusters: Mapping[str, str]) -> Ints | None:
    """The number of each example's cluster, sorted by name; None where every example is one of its own."""
    if len(set(clusters.values())) == len(clusters):
        return None
    return np.unique([clusters[e] for e in sorted(clusters)], return_inverse=True)[1].astype(np.int64)


def _by_text(texts: Ints, scores: Floats) -> Floats:
    """The scores of each text as a row, in the order in which they come."""
    order = np.argsort(texts, kind="stable")
    _, row, counts = np.unique(texts[order], return_inverse=True, return_counts=True)
    place = np.arange(texts.size) - np.repeat(np.cumsum(counts) - counts, counts)
    table = np.full((counts.size, counts.max(initial=0)), np.nan)
    table[row, place] = scores[order]
    return table


def _failures(table: "pd.DataFrame") -> dict[str, int]:
    if "raw" not in table:
        return {}
    reasons = table.loc[table["status"] == "failed", "raw"]
    counts = reasons[~blank(reasons)].astype(str).value_counts()
    return {str(reason): int(count) for reason, count in counts.items()}


def _rules(table: "pd.DataFrame") -> dict[str, int]:
    if "rule" not in table:
        return {}
    rules = table.loc[table["status"] == "scored", "rule"]
    return {str(rule): int(count) for rule, count in rules[~blank(rules)].value_counts().sort_index().items()}


def _missing_mass(table: "pd.DataFrame", place: str) -> "pd.Series[float] | None":
    if "missing_mass" not in table or blank(table["missing_mass"]).all():
        return None
    import pandas as pd

    mass = pd.to_numeric(table["missing_mass"].mask(blank(table["missing_mass"])), errors="coerce")
    if not mass.dropna().between(0, 1).all():
        raise InputError(f"{place}: column 'missing_mass' holds a value outside [0, 1]")
    return mass


def _check_originals(rows: Ints, metrics: Sequence[str], examples: Sequence[str], place: str) -> None:
    if (orphan := (rows[1:].sum(axis=0) > 0) & (rows[0] == 0)).any():
        m, e = np.argwhere(orphan)[0]
        raise InputError(
            f"{place}: example '{examples[e]}' has no rating of its original for metric '{metrics[m]}'"
        )


def _levels(table: "pd.DataFrame", place: str) -> dict[str, str]:
    pairs = table.loc[table["variant"] != ORIGINAL, ["variant", "level"]].drop_duplicates()
    levels: dict[str, str] = {}
    for variant, level in pairs.itertuples(index=False):
        if levels.setdefault(variant, level) != level:
            raise InputError(
                f"{place}: variant '{variant}' has two levels, '{levels[variant]}' and '{level}'"
            )
    return levels


class _NotSeparable(Exception):
    """Parts that tell only together what was rated: an example in two of them, or a schedule."""


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
    columns = {schedule.column for schedule in schedules()}
    if columns & set(frame) or "status" not in frame:  # a note on each part would be too many
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
    examples = tuple(sorted(example for part in parts for example in part.examples))
    position = {example: number for number, example in enumerate(examples)}
    if len(position) < len(examples):
        raise _NotSeparable
    variants = tuple(dict.fromkeys(name for part in parts for name in part.variants))
    metrics = tuple(dict.fromkeys(name for part in parts for name in part.metrics))
    with np.errstate(invalid="ignore"):
        none = np.zeros(1) / np.zeros(1)  # bit for bit the NaN of a mean of no scores, for the digest
    means = np.full((1 + len(variants), len(metrics), len(examples)), none)
    asked = np.zeros(means.shape, dtype=np.bool_)
    columns = [[position[example] for example in part.examples] for part in parts]
    for part, own in zip(parts, columns, strict=True):
        rows = [0, *(1 + variants.index(name) for name in part.variants)]
        cells = np.ix_(rows, [metrics.index(name) for name in part.metrics], own)
        means[cells], asked[cells] = part.means, part.asked
    clusters = _merged_clusters(parts)
    return RatingsArray(
        place=parts[0].place,
        model=parts[0].model,
        protocol=parts[0].protocol,
        dataset=parts[0].dataset,
        examples=examples,
        variants=variants,
        metrics=metrics,
        means=means,
        samples={
            name: _samples(parts, columns, name, variants, means[:, m]) for m, name in enumerate(metrics)
        },
        asked=asked,
        levels=_merged_levels(parts),
        counts=_total(part.counts for part in parts),
        failures=dict(Counter(_total(part.failures for part in parts)).most_common()),
        rules=dict(sorted(_total(part.rules for part in parts).items())),
        missing_mass=_merged_missing_mass(parts),
        masses=sum(part.masses for part in parts),
        clusters=None if clusters is None else cluster_numbers(clusters),
        cluster_names=clusters,
        columns=frozenset().union(*(part.columns for part in parts)),
    )


def _samples(
    parts: Sequence[RatingsArray],
    columns: Sequence[Sequence[int]],
    metric: str,
    variants: Sequence[str],
    means: Floats,
) -> Floats:
    """The single scores of a metric, text by text: variant by variant, example by example.

    `columns` are the numbers of the examples of each part in the whole.
    """
    if all(metric not in part.samples for part in parts):
        return means[~np.isnan(means)][:, None]
    width = max(part.samples[metric].shape[1] for part in parts if metric in part.samples)
    found, texts = [], []
    for part, column in zip(parts, columns, strict=True):
        if metric in part.metrics:
            own = part.means[:, part.metrics.index(metric)]
            scores = part.samples.get(metric, own[~np.isnan(own)][:, None])
            gaps = np.full((len(scores), width - scores.shape[1]), np.nan)
            found.append(np.hstack([scores, gaps]))
            number = np.array([0, *(1 + variants.index(name) for name in part.variants)])
            row, example = np.nonzero(~np.isnan(own))
            texts.append(np.ravel_multi_index((number[row], np.array(column)[example]), means.shape))
    return np.vstack(found)[np.argsort(np.concatenate(texts), kind="stable")]


def _merged_levels(parts: Sequence[RatingsArray]) -> dict[str, str] | None:
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


def _merged_missing_mass(parts: Sequence[RatingsArray]) -> float | None:
    known = [part for part in parts if part.missing_mass is not None]
    if not known:
        return None
    return float(np.average([p.missing_mass for p in known], weights=[p.masses for p in known]))


def _merged_clusters(parts: Sequence[RatingsArray]) -> dict[str, str] | None:
    if all(part.cluster_names is None for part in parts):
        return None
    return {
        example: (part.cluster_names or {}).get(example, example)
        for part in parts
        for example in part.examples
    }
