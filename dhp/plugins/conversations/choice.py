"""Which turns a fault changes.

A fault changes turns of the assistant in the judged part alone. `count` is the number of turns, or "all";
if there are not as many, the fault is not applicable.
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from random import Random

from dhp.core.errors import NotApplicable
from dhp.core.seeding import drawn
from dhp.core.specs import Spec
from dhp.perturb.api import Edited, count_or_all
from dhp.plugins.conversations.conversation import Judged

LIST = "conversations"
"""Name of the list of `StockSentences`."""
ONE_OR_ALL: Mapping[str, Mapping[str, object]] = {"minor": {"count": 1}, "major": {"count": "all"}}
"""Degrees of most faults: one turn, or each of two or more."""


class StockSentences(Spec):
    """The list `conversations`: sentences that fit any conversation."""

    evasive: dict[str, list[str]]
    """Language -> replies that answer no question."""
    closing: dict[str, list[str]]
    """Language -> sentences that may end any reply."""


def _enough(places: Sequence[int], count: object, what: str) -> int:
    """The number that is wanted: `count`, or all of them, which must be two or more.

    Raises `NotApplicable` if there are fewer.
    """
    wanted = count_or_all(count)
    least = wanted if isinstance(wanted, int) else max(2, len(places))
    if len(places) < least:
        raise NotApplicable(f"{len(places)} {what}, of {least} needed")
    return least


def chosen(places: Sequence[int], count: object, rng: Random, what: str) -> list[int]:
    """`count` of the places, drawn, in order; raises `NotApplicable` if there are too few."""
    return sorted(islice(drawn(places, rng), _enough(places, count, what)))


def latest(places: Sequence[int], count: object, what: str) -> list[int]:
    """The last `count` of the places; raises `NotApplicable` if there are too few."""
    first = len(places) - _enough(places, count, what)
    return list(places[first:])


def with_texts(judged: Judged, texts: Mapping[int, str]) -> Edited:
    """The judged part with other texts at these places."""
    return Edited(judged.with_texts(texts), len(texts), len(texts))
