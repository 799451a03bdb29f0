"""Balance over the table: what is put in does not stand out by its frequency.

A wrong word that comes from a list shifts the frequencies of words, and who counts them tells the copy from
the original without reading. So over the texts of the table word a becomes b as often as b becomes a, as in
the rule of Metropolis and Hastings (1953, 1970); else the word stays. What counts are the texts in which an
edit would be the first of its kind, as one edit of a text is the mildest dose.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple

from dhp.core.seeding import shuffled
from dhp.perturb.edits import Edit

Flow = tuple[str, str]
"""What goes and what comes."""

SLACK = 1.5
"""A word or number comes at most so many times as often as it goes. Who counts it tells 60 % of the pairs at
most; without it a negation reaches 22 instead of 28 % of short stories."""
_ROUNDS = 12
"""Times that the chances are set again from what they lead to."""
_BESIDES = 4.0
"""Texts beside those of the table that hold one of the two words of a pair."""
_FACTOR = 2.0
"""By which a chance grows or shrinks at most in a round."""


class Option(NamedTuple):
    """One way to change a place of a text."""

    flow: Flow
    edit: Edit


Place = Sequence[Option]
"""The ways to change one place: one of them is taken, or none."""


class Balance:
    """The chances of edits at which, over a table, both directions flow alike."""

    def __init__(
        self, texts: Sequence[Sequence[Place]], frequency: Callable[[str], float] | None = None
    ) -> None:
        """`texts` are the places of each text of the table.

        With `frequency`, that of a word in the language, `_BESIDES` more texts are taken to hold one of both
        words of a pair whose other one the table lacks, as often as it is used: else neither could change.
        """
        self._offered = Counter(flow for places in texts for flow in {o.flow for p in places for o in p})
        known = {flow for old, new in self._offered for flow in ((old, new), (new, old))}
        pairs = {place[0].flow for places in texts for place in places if len(place) == 1}
        pairs |= {flow[::-1] for flow in pairs}
        pairs = {flow for flow in pairs if not (self._offered[flow] and self._offered[flow[::-1]])}
        self._besides = {
            flow: _BESIDES * _share(flow, frequency) if frequency and flow in pairs else 0.0 for flow in known
        }
        self._chances = dict.fromkeys(known, 1.0)
        drawn = [[self._shares(place) for place in places] for places in texts]
        for _ in range(_ROUNDS):
            flows = self._expected(drawn)
            for flow in known:
                self._chances[flow] = min(1.0, self._chances[flow] * self._factor(flow, flows))
        if frequency:
            self._level(flows, frequency)

    def _factor(self, flow: Flow, flows: Mapping[Flow, float]) -> float:
        """By which the chance of a flow must grow or shrink, for a flow like its opposite."""
        this_way, other_way = (
            flows[each] + self._besides[each] * self._chances[each] for each in (flow, flow[::-1])
        )
        return min(max(SLACK * other_way / this_way if this_way else 1.0, 1 / _FACTOR), _FACTOR)

    def _level(self, flows: Mapping[Flow, float], frequency: Callable[[str], float]) -> None:
        """Bound the drift of all pairs together to words that the language uses less, or more."""
        rarer = {flow for flow in flows if frequency(flow[1]) < frequency(flow[0])}
        to_rarer = sum(flows[flow] for flow in rarer)
        to_frequent = sum(flows.values()) - to_rarer
        for flow in flows:
            this_way, other_way = (to_rarer, to_frequent) if flow in rarer else (to_frequent, to_rarer)
            if this_way > other_way:
                self._chances[flow] *= other_way / this_way

    def _weight(self, flow: Flow) -> float:
        """How often what comes stands in the table."""
        back = flow[::-1]
        return self._offered[back] + self._besides.get(back, 0.0)

    def _shares(self, place: Place) -> list[tuple[Flow, float]]:
        """How probably each option of a place is the one that is drawn."""
        weights = [self._weight(option.flow) for option in place]
        total = sum(weights)
        return [(o.flow, weight / total) for o, weight in zip(place, weights, strict=True)] if total else []

    def _expected(self, texts: Sequence[Sequence[Sequence[tuple[Flow, float]]]]) -> Mapping[Flow, float]:
        """Flow -> the expected number of texts whose first edit it is; of each the shares of its places."""
        flows = defaultdict[Flow, float](float)
        for places in texts:
            chances, none = defaultdict[Flow, float](float), 1.0
            for place in places:
                some = 0.0
                for flow, share in place:
                    chance = share * self._chances[flow]
                    chances[flow] += chance
                    some += chance
                none *= 1 - some
            amount = sum(chances.values())
            for flow, chance in chances.items():
                flows[flow] += (1 - none) * chance / amount if amount else 0.0
        return flows

    def chosen(self, places: Sequence[Place], rng: Random) -> list[Edit]:
        """Edits of places of a text, in random order."""
        options = list[Option]()
        for place in shuffled(places, rng):
            option = _drawn(place, [self._weight(option.flow) for option in place], rng)
            if option is not None and rng.random() < self._chances[option.flow]:
                options.append(option)
        return [option.edit for option in options]


def _share(flow: Flow, frequency: Callable[[str], float]) -> float:
    """The share that what goes has of both words."""
    old, new = map(frequency, flow)
    return old / (old + new) if old + new else 0.5


def _drawn(place: Place, weights: Sequence[float], rng: Random) -> Option | None:
    """One of the options by its weight; None if none has any."""
    draw = rng.random() * sum(weights)
    for option, weight in zip(place, weights, strict=True):
        draw -= weight
        if draw < 0:
            return option
    return None
