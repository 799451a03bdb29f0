"""The pairs of texts that a judge let pass, or did not score lower, for the report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dhp.analysis.passing import outcomes_at
from dhp.content.catalog import kind_name
from dhp.core.diff import Operation, diff, snippet
from dhp.runs.reader import RunResult

Texts = Mapping[tuple[str, str], Mapping[str, Any]]
"""(example, variant) -> its row of `Run.pairs`."""
_KINDS = 3
"""Kinds of damage that are shown."""
_PAIRS = 3
"""Pairs of each kind that are shown."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of texts of which the damaged one passed the mark, or without a mark did not score lower."""

    place: int
    """Number of the result, from 0 on."""
    row: Mapping[str, Any]
    """Of the `Texts`."""
    drop: float
    """Mean over the metrics."""
    original: float
    """Mean score over the metrics."""
    degraded: float

    @property
    def change(self) -> Sequence[tuple[Operation, str]]:
        """The first change, in one line."""
        return snippet(diff(self.row["before"], self.row["text"], self.row["level"]))


@dataclass(frozen=True, slots=True)
class Miss:
    """A kind of damage of which texts pass the mark, or that was not noticed somewhere."""

    kind: str
    pairs: Sequence[Pair]
    """The largest rise of the score first, at a mark the highest score; of equal ones the largest change."""


def misses(rated: Sequence[RunResult], texts: Mapping[str, Texts]) -> list[Miss]:
    """The three kinds of damage that fared worst, with three pairs each.

    At a pass mark those of which most texts pass, with texts that do; without one those that are not noticed,
    with texts that did not score lower. `texts` are by dataset.
    """
    marked = at_mark(rated)
    worst: list[tuple[float, str, int]] = []  # how it fared, the variant, and the place of the result
    for place, each in enumerate(rated):
        for row in each.result.damage:
            if marked:
                if row.passes is not None and row.passes.share > 0:
                    # Negative, so that the kind of which most texts pass sorts first.
                    worst.append((-row.passes.share, row.variant, place))
            elif row.detection is not None and not (row.state.is_noticed or row.state.like_edits):
                worst.append((row.detection, row.variant, place))
    # The worst first; only the figure decides, so that equal ones stay in the order of the results.
    worst.sort(key=lambda each: each[0])
    kinds: dict[str, list[tuple[str, int]]] = {}
    for _, variant, place in worst:
        kinds.setdefault(kind_name(variant), []).append((variant, place))
    missed: list[Miss] = []
    for kind, where in kinds.items():
        if len(missed) == _KINDS:
            break
        pairs: list[Pair] = []
        for variant, place in where:
            pairs += _pairs(variant, place, rated[place], texts)
        pairs.sort(key=lambda p: (-p.degraded if marked else p.drop, -_distance(p.row), p.row["example"]))
        if pairs:  # none without texts, or where no pair has all its scores
            missed.append(Miss(kind, pairs[:_PAIRS]))
    return missed


def _distance(row: Mapping[str, Any]) -> float:
    # `audit` is None if nobody measured the change.
    return (row.get("audit") or {}).get("distance") or 0


def at_mark(rated: Sequence[RunResult]) -> bool:
    """Whether the texts that pass a mark are shown: every judge has one."""
    return bool(rated) and all(each.result.pass_mark is not None for each in rated)


def _pairs(variant: str, place: int, rated: RunResult, texts: Mapping[str, Texts]) -> list[Pair]:
    """The pairs whose damaged text passes, or without a mark those whose mean score did not fall."""
    ratings = rated.ratings.of_pairs_read()  # what nobody judged was not missed
    # Shapes: originals (examples, metrics), copies (examples, 1, metrics), drops (examples, metrics).
    original, degraded = ratings.score_tables([variant])
    drops = ratings.difference_table([variant], ratings.metrics)[:, 0]
    mark = rated.result.pass_mark
    let_through = drops.mean(axis=1) <= 0
    if mark is not None:
        let_through = outcomes_at(ratings, [variant], mark.marks).passing[:, 0] == 1
    # Sorted as the examples of the arrays are, so that `e` below is the place of a name.
    names = sorted(ratings.examples)
    pairs = []
    # Only pairs with a score by every metric: a mean over fewer would be another figure.
    for e in np.flatnonzero(~np.isnan(drops).any(axis=1) & let_through):
        row = texts[rated.result.dataset].get((names[e], variant))
        if row is not None and row["text"] is not None:
            means = (float(each[e].mean()) for each in (drops, original, degraded[:, 0]))
            pairs.append(Pair(place, row, *means))
    return pairs
