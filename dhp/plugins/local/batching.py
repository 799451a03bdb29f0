"""Batches of rows and their common beginnings."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from dhp.llm.records import Request

SHORTEST_SHARED = 16
"""A shorter common beginning, in tokens, is not worth a forward pass of its own."""


@dataclass(frozen=True, slots=True)
class Row:
    """One sequence to be continued."""

    index: int
    """Number of its request."""
    sample: int
    tokens: list[int]


@dataclass(frozen=True, slots=True)
class Share:
    """Rows whose first `shared` tokens are the same; the shortest has at least one token more."""

    rows: Sequence[Row]
    shared: int


def families(requests: Iterable[Request], most: int) -> Iterator[list[Request]]:
    """Runs of consecutive requests of one group and one `Params`, cut at `most`; lazy."""
    for (group, _), run in groupby(requests, lambda r: (r.group, r.params)):
        family: list[Request] = []
        for request in run:
            family.append(request)
            if not group or len(family) == most:
                yield family
                family = []
        if family:
            yield family


def windows(requests: Iterable[Request], most: int) -> Iterator[list[list[Request]]]:
    """Consecutive families of one `Params` with at least `most` samples in all, except before a change."""
    for _, run in groupby(families(requests, most), lambda f: f[0].params):
        window: list[list[Request]] = []
        samples = 0
        for family in run:
            window.append(family)
            samples += sum(len(r.samples) for r in family)
            if samples >= most:
                yield window
                window, samples = [], 0
        if window:
            yield window


def shares(families: Iterable[Sequence[Row]]) -> Iterator[Share]:
    """Families with a long common beginning, each on its own; then all other rows together.

    Rows come in order of length, so that neighbours need little padding.
    """
    alone: list[Row] = []
    for rows in families:
        shared = _common([row.tokens for row in rows])
        if len(rows) > 1 and shared >= SHORTEST_SHARED:
            yield Share(_by_length(rows), shared)
        else:
            alone += rows
    if alone:
        yield Share(_by_length(alone), 0)


def _by_length(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: len(row.tokens))


def _common(sequences: Sequence[list[int]]) -> int:
    """Length of the longest common beginning that leaves each sequence a token of its own."""
    first, last = min(sequences), max(sequences)  # all others lie between them
    most = min(len(s) for s in sequences) - 1
    return next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b or i >= most), most)
