"""Which N examples of a dataset are used, and what their texts measure."""

from collections.abc import Sequence
from heapq import nsmallest
from statistics import fmean

from dhp.core.errors import InputError
from dhp.core.records import Example
from dhp.core.seeding import key_digest
from dhp.core.specs import Figures
from dhp.core.text import sentences, words


def select(examples: Sequence[Example], n: int, *, seed: int, dataset: str) -> list[Example]:
    """`n` examples by the rank of sha256 of (seed, dataset, id), in the order in which they came.

    Which ones depends on the set of ids alone, not on their order. Raises `InputError` unless
    1 <= n <= len(examples).
    """
    if n < 1:
        raise InputError(f"{dataset}: n is {n}; allowed: 1 to {len(examples)}")
    if n > len(examples):
        raise InputError(
            f"{dataset}: {n} examples asked for, {len(examples)} there; allowed: 1 to {len(examples)}"
        )
    chosen = {e.id for e in nsmallest(n, examples, key=lambda e: key_digest(seed, dataset, e.id))}
    return [e for e in examples if e.id in chosen]


def measure(examples: Sequence[Example]) -> Figures:
    """Mean number of characters, words and sentences of the outputs; no example raises `InputError`."""
    if not examples:
        raise InputError("no examples to measure; allowed: at least one")
    return Figures(
        characters=fmean(len(e.output) for e in examples),
        words=fmean(len(words(e.output)) for e in examples),
        sentences=fmean(len(sentences(e.output)) for e in examples),
    )
