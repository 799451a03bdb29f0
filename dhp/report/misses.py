"""The pairs of texts that a judge missed, for the report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from dhp.analysis.ratings import RatingsArray
from dhp.content.catalog import kind_name
from dhp.core.diff import Operation, diff, snippet
from dhp.runs.reader import RunResult

Texts = Mapping[tuple[str, str], Mapping[str, Any]]
"""(example, variant) -> its row of `Run.pairs`."""


_KINDS = 3


_PAIRS = 3


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of texts of which the score did not fall."""

    place: int
    """Number of the result, from 0 on."""
    row: Mapping[str, Any]
    """Of the `Texts`."""
    drop: float
    """Mean over the metrics, at most 0."""
    original: float
    """Mean score over the metrics."""
    degraded: float

    @property
    def change(self) -> Sequence[tuple[Operation, str]]:
        """The first change, in one line."""
        return snippet(diff(self.row["before"], self.row["text"], self.row["level"]))


@dataclass(frozen=True, slots=True)
class Miss:
    """A kind of damage that was not noticed somewhere."""

    kind: str
    pairs: Sequence[Pair]
    """The largest rise of the score first, of equal ones the largest change."""


def misses(rated: Sequence[RunResult], texts: Mapping[str, Texts]) -> list[Miss]:
    """The three kinds of damage that fared worst, with three pairs each; without those noticed.

    `texts` are by dataset.
    """
    rows = [(row, place) for place, each in enumerate(rated) for row in each.result.damage]
    rows = [
        (row, place)
        for row, place in rows
        if not (row.state.is_noticed or row.state.like_edits) and row.detection is not None
    ]
    rows.sort(key=lambda pair: pair[0].detection or 0.0)
    kinds: dict[str, list[tuple[str, int]]] = {}
    for row, place in rows:
        kinds.setdefault(kind_name(row.variant), []).append((row.variant, place))

    def clearest(where: Sequence[tuple[str, int]]) -> list[Pair]:
        of = ((name, place, rated[place]) for name, place in where)
        pairs = [p for name, place, r in of for p in _pairs(name, place, r.ratings, texts[r.result.dataset])]
        return sorted(pairs, key=lambda p: (p.drop, -_distance(p.row), p.row["example"]))[:_PAIRS]

    clearest_ones = (Miss(kind, clearest(where)) for kind, where in kinds.items())
    return list(islice((miss for miss in clearest_ones if miss.pairs), _KINDS))


def _distance(row: Mapping[str, Any]) -> float:
    return (row.get("audit") or {}).get("distance") or 0


def _pairs(variant: str, place: int, ratings: RatingsArray, texts: Texts) -> list[Pair]:
    """The pairs whose mean score did not fall."""
    ratings = ratings.of_pairs_read()  # what nobody judged was not missed
    original, degraded = ratings.score_tables([variant])
    drops = ratings.difference_table([variant], ratings.metrics)[:, 0]
    names = sorted(ratings.examples)
    pairs = []
    for e in np.flatnonzero(~np.isnan(drops).any(axis=1)):
        row, drop = texts.get((names[e], variant)), float(drops[e].mean())
        if row is not None and row["text"] is not None and drop <= 0:
            pairs.append(Pair(place, row, drop, float(original[e].mean()), float(degraded[e, 0].mean())))
    return pairs
