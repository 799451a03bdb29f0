"""Ratings that come in parts: each part becomes arrays, and these are put together.

A table too large for memory is read part by part. That needs all ratings of an example in one part: if an
example is in two of them (`_NotSeparable`), the table is read as a whole. The parts of one judge are laid
into arrays for all variants, metrics and examples, each at its place (`_Placed`). The result is the same as
of the whole table, to the last bit, as signatures hash it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dhp.analysis.ratings import RatingsArray
from dhp.analysis.split_ratings import cluster_numbers, levels_of_pairs, split_ratings
from dhp.core.errors import InputError
from dhp.core.own_table import RatingsForm
from dhp.core.ratings_table import in_parts, ratings_parts, read_ratings
from dhp.core.specs import Scale
from dhp.stats.arrays import Floats, Ints

if TYPE_CHECKING:
    import pandas as pd


class _NotSeparable(Exception):
    """Parts that tell only together what was rated: an example is in two of them."""


def ratings_of_file(
    path: Path, scales: Mapping[str, Scale] | None = None, form: RatingsForm = RatingsForm()
) -> list[RatingsArray]:
    """The ratings in a file or a folder of parts, by (model, protocol, dataset), in order of appearance.

    Of Parquet one row group is in memory at a time if no example is in two of them. Parameters and errors
    as for `read_ratings` and `split_ratings`.
    """
    if form == RatingsForm() and in_parts(path):
        # The row that an error names is to be counted in the whole.
        with suppress(_NotSeparable, InputError):
            return merged_ratings(map(_apart, ratings_parts(path)), scales)
    return list(split_ratings(read_ratings(path, form, categories=True), scales))


def _apart(frame: "pd.DataFrame") -> "pd.DataFrame":
    if "status" not in frame:  # a note on each part would be too many
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
                # From the second part on: a judge that has only one keeps it as it is.
                group[0], group[-1] = _lean(group[0]), _lean(part)
        del frame  # before the next table is made
    return [_merged(parts) for parts in groups.values()]


def _lean(part: RatingsArray) -> RatingsArray:
    """The ratings without single scores that the means hold, too."""
    several = {metric: scores for metric, scores in part.samples.items() if scores.shape[1] > 1}
    return replace(part, samples=several)


@dataclass(frozen=True, slots=True)
class _Placed:
    """A part, and where its texts, metrics and examples are in the whole."""

    part: RatingsArray
    texts: Sequence[int]
    """0 for the originals, then the places of its variants."""
    metrics: Sequence[int]
    """The places of its metrics."""
    examples: Sequence[int]
    """The places of its examples."""

    def cells(self) -> tuple[Ints, ...]:
        """Its places in an array of texts, metrics and examples."""
        return np.ix_(self.texts, self.metrics, self.examples)


def _in_order(names: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """The names of all parts in order of appearance, each once."""
    return tuple(dict.fromkeys(chain.from_iterable(names)))


def _merged(parts: Sequence[RatingsArray]) -> RatingsArray:
    """The ratings of one judge on one dataset, from all its parts."""
    if len(parts) == 1:
        return parts[0]
    # Sorted by name, as `split_ratings` numbers the examples of a whole table.
    examples = tuple(sorted(chain.from_iterable(part.examples for part in parts)))
    position = {example: number for number, example in enumerate(examples)}
    if len(position) < len(examples):
        raise _NotSeparable
    variants = _in_order(part.variants for part in parts)
    metrics = _in_order(part.metrics for part in parts)
    placed: list[_Placed] = []
    for part in parts:
        texts = [0] + [1 + variants.index(name) for name in part.variants]
        metrics_of_part = [metrics.index(name) for name in part.metrics]
        examples_of_part = [position[example] for example in part.examples]
        placed.append(_Placed(part, texts, metrics_of_part, examples_of_part))
    with np.errstate(invalid="ignore"):
        none = np.zeros(1) / np.zeros(1)  # bit for bit the NaN of a mean of no scores, for the digest
    means = np.full((1 + len(variants), len(metrics), len(examples)), none)
    asked = np.zeros(means.shape, dtype=np.bool_)
    unread = np.zeros(means.shape, dtype=np.bool_)
    for each in placed:
        cells = each.cells()
        means[cells] = each.part.means
        asked[cells] = each.part.asked
        unread[cells] = each.part.unread
    samples = {name: _samples(placed, name, means[:, m]) for m, name in enumerate(metrics)}
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
        samples=samples,
        asked=asked,
        unread=unread,
        answers=_merged_answers(parts),
        levels=_merged_levels(parts),
        counts=dict(_total(part.counts for part in parts)),
        causes=dict(_total(part.causes for part in parts).most_common()),
        failures=dict(_total(part.failures for part in parts).most_common()),
        rules=dict(sorted(_total(part.rules for part in parts).items())),
        missing_mass=_merged_missing_mass(parts),
        masses=sum(part.masses for part in parts),
        clusters=None if clusters is None else cluster_numbers(clusters),
        cluster_names=clusters,
        columns=frozenset().union(*(part.columns for part in parts)),
        shares=_merged_shares(placed, len(means), len(examples)),
        stated=_merged_stated(placed, means.shape),
    )


def _merged_levels(parts: Sequence[RatingsArray]) -> dict[str, str] | None:
    known = [part.levels for part in parts if part.levels is not None]
    if not known:
        return None
    pairs = chain.from_iterable(levels.items() for levels in known)
    return levels_of_pairs(pairs, parts[0].place)


def _merged_shares(placed: Sequence[_Placed], texts: int, examples: int) -> dict[str, Floats]:
    """`RatingsArray.shares` of all parts; a metric with another number of points in some has none."""
    shares = {}
    for metric in _in_order(each.part.shares for each in placed):
        having = [each for each in placed if metric in each.part.shares]
        points = {each.part.shares[metric].shape[2] for each in having}
        # Probabilities of other points of the scale cannot stand in one array.
        if len(points) > 1:
            continue
        whole = np.full((texts, examples, points.pop()), np.nan)
        for each in having:
            whole[np.ix_(each.texts, each.examples)] = each.part.shares[metric]
        shares[metric] = whole
    return shares


def _merged_stated(placed: Sequence[_Placed], shape: tuple[int, ...]) -> dict[str, Floats]:
    stated: dict[str, Floats] = {}
    for each in placed:
        for name, values in each.part.stated.items():
            if name not in stated:
                stated[name] = np.full(shape, np.nan)
            stated[name][each.cells()] = values
    return stated


def _samples(placed: Sequence[_Placed], metric: str, means: Floats) -> Floats:
    """The single scores of a metric, text by text: variant by variant, example by example.

    `means` are those of the metric in the whole.
    """
    width = 0
    for each in placed:
        if metric in each.part.samples:
            width = max(width, each.part.samples[metric].shape[1])
    if width == 0:  # no part has more than one score of a text (`_lean`)
        return means[~np.isnan(means)][:, None]
    rows, places = [], []
    for each in placed:
        part = each.part
        if metric not in part.metrics:
            continue
        means_of_part = part.means[:, part.metrics.index(metric)]
        scored = ~np.isnan(means_of_part)
        scores = part.samples.get(metric, means_of_part[scored][:, None])
        # A part in which texts have fewer samples than in others gets columns of NaN.
        gaps = np.full((len(scores), width - scores.shape[1]), np.nan)
        rows.append(np.hstack([scores, gaps]))
        text, example = np.nonzero(scored)
        in_whole = (np.array(each.texts)[text], np.array(each.examples)[example])
        # One number for each text and example in the whole, by which the rows of all parts are sorted.
        places.append(np.ravel_multi_index(in_whole, means.shape))
    order = np.argsort(np.concatenate(places), kind="stable")
    return np.vstack(rows)[order]


def _total(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return total


def _merged_answers(parts: Sequence[RatingsArray]) -> dict[str, tuple[float, int]]:
    answers: dict[str, tuple[float, int]] = {}
    for part in parts:
        for name, (read, number) in part.answers.items():
            read_before, number_before = answers.get(name, (0.0, 0))
            answers[name] = (read_before + read, number_before + number)
    return answers


def _merged_missing_mass(parts: Sequence[RatingsArray]) -> float | None:
    means: list[float] = []
    rows: list[int] = []
    for part in parts:
        if part.missing_mass is not None:
            means.append(part.missing_mass)
            rows.append(part.masses)
    # By rows, so that it is the mean of all rows, however they were cut into parts.
    return float(np.average(means, weights=rows)) if means else None


def _merged_clusters(parts: Sequence[RatingsArray]) -> dict[str, str] | None:
    if all(part.cluster_names is None for part in parts):
        return None
    clusters: dict[str, str] = {}
    for part in parts:
        named = part.cluster_names or {}
        for example in part.examples:
            clusters[example] = named.get(example, example)  # without one it is a cluster of its own
    return clusters
