"""The clearest pairs of texts whose damage a judge missed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dhp.analysis.ratings import RatingsArray
from dhp.content.damage import kind_name
from dhp.core.diff import Operation, diff
from dhp.report.findings import Findings
from dhp.report.labels import state
from dhp.report.snippet import snippet

Texts = Mapping[tuple[str, str], Mapping[str, Any]]
"""(example, variant) -> its row of `perturbed.jsonl`, with the original as `before`."""
_UNSEEN = ("preferred", "missed", "faint", "undecided")
_KINDS = 3
_PAIRS = 3


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of texts of which the score did not fall."""

    place: int
    """Number of the result, from 0 on."""
    example: str
    variant: str
    change: Sequence[tuple[Operation, str]]
    """The first change, in one line."""
    original: float
    """Mean score over the metrics."""
    degraded: float


@dataclass(frozen=True, slots=True)
class Miss:
    """A kind of damage that was not noticed somewhere."""

    kind: str
    pairs: Sequence[Pair]
    """The largest rise of the score first, of equal ones the largest change."""


def misses(
    findings: Sequence[Findings], ratings: Sequence[RatingsArray], texts: Sequence[Texts]
) -> list[Miss]:
    """The three kinds of damage that fared worst, with three pairs each; without those noticed.

    Parameters
    ----------
    findings, ratings, texts
        Of each result, in the same order.
    """
    rows = [(row, index) for index, each in enumerate(findings) for row in each.damage]
    rows = [(row, index) for row, index in rows if state(row) in _UNSEEN and row.detection is not None]
    rows.sort(key=lambda pair: pair[0].detection or 0.0)
    kinds: dict[str, list[tuple[str, int]]] = {}
    for row, index in rows:
        kinds.setdefault(kind_name(row.variant), []).append((row.variant, index))
    listed: list[Miss] = []
    for kind, where in kinds.items():
        if len(listed) == _KINDS:
            break
        every = [pair for name, index in where for pair in _pairs(name, index, ratings[index], texts[index])]
        every.sort(key=lambda pair: pair[0])
        if every:
            listed.append(Miss(kind, [_shown(pair) for _, pair in every[:_PAIRS]]))
    return listed


_RankedPair = tuple[tuple[float, float, str], tuple[Pair, Mapping[str, Any]]]


def _pairs(variant: str, index: int, ratings: RatingsArray, texts: Texts) -> list[_RankedPair]:
    """The pairs whose mean score did not fall, with their sort keys."""
    original, degraded = ratings.score_tables([variant])
    drops = ratings.difference_table([variant], ratings.metrics)[:, 0]
    names = sorted(ratings.examples)
    ranked: list[_RankedPair] = []
    for e in np.flatnonzero(~np.isnan(drops).any(axis=1)):
        row = texts.get((name := names[e], variant))
        drop = float(drops[e].mean())
        if row is None or row["text"] is None or drop > 0:
            continue
        changed = (row.get("audit") or {}).get("distance") or 0
        pair = Pair(index, name, variant, (), float(original[e].mean()), float(degraded[e, 0].mean()))
        ranked.append(((drop, -changed, name), (pair, row)))
    return ranked


def _shown(ranked: tuple[Pair, Mapping[str, Any]]) -> Pair:
    pair, row = ranked
    return replace(pair, change=snippet(diff(row["before"], row["text"], row["level"])))
