"""Balance over the table: what is put in does not stand out by its frequency.

A wrong word that comes from a list shifts the frequencies of words, and who counts them tells the copy from
the original without reading. So over the texts of the table word a becomes b as often as b becomes a, as in
the rule of Metropolis and Hastings (1953, 1970); else the word stays. What counts are the texts in which an
edit would be the first of its kind, as one edit of a text is the mildest dose.

A flow is a pair of what goes and what comes. Each has a chance; `_expected` says how often it then happens
in the table, and `_balanced` lowers the chances of flows that are stronger than their opposites, in rounds.

Bounds without another source were chosen; docs/degraded-texts.md says how far each kind reaches with them.
"""

from collections import Counter
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
_Shares = tuple[tuple[int, float], ...]
"""Of one place: numbers of flows, each with the chance that its option is drawn."""
_Drawn = tuple[_Shares, ...]
"""The places of a text."""


class Balance:
    """The chances of edits at which, over a table, both directions flow alike."""

    def __init__(
        self, texts: Sequence[Sequence[Place]], frequency: Callable[[str], float] | None = None
    ) -> None:
        """`texts` are the places of each text of the table.

        With `frequency`, that of a word in the language, `_BESIDES` more texts are taken to hold one of both
        words of a pair whose other one the table lacks, as often as it is used: else neither could change.
        """
        self._offered = Counter[Flow]()  # texts that could change in this way
        pairs = set[Flow]()  # flows of places with one option alone
        for places in texts:
            # every order is that of the table, so that sums are equal to the last digit in every process
            of_text = dict[Flow, int]()
            for place in places:
                of_text.update((option.flow, 1) for option in place)
                if len(place) == 1:
                    pairs.add(place[0].flow)
            self._offered.update(of_text)

        # A flow and its opposite stand side by side: `_balanced` takes 0 and 1, 2 and 3 for opposites.
        both_ways = dict[Flow, None]()
        for flow in self._offered:
            both_ways.update({flow: None, flow[::-1]: None})
        flows = list(both_ways)
        self._besides = dict.fromkeys(flows, 0.0)
        if frequency:
            for flow in flows:
                is_pair = flow in pairs or flow[::-1] in pairs
                if is_pair and not (self._offered[flow] and self._offered[flow[::-1]]):
                    self._besides[flow] = _BESIDES * _share(flow, frequency)

        numbers = {flow: number for number, flow in enumerate(flows)}
        drawn = Counter[_Drawn]()
        for places in texts:
            if places:
                drawn[tuple(self._shares(place, numbers) for place in places)] += 1
        chances, expected = _balanced(drawn, [self._besides[flow] for flow in flows])
        self._chances = dict(zip(flows, chances, strict=True))
        if frequency:
            self._level(dict(zip(flows, expected, strict=True)), frequency)

    def _level(self, flows: Mapping[Flow, float], frequency: Callable[[str], float]) -> None:
        """Bound the drift of all pairs together to words that the language uses less, or more."""
        rarer = dict[Flow, float]()  # what comes is used less than what goes
        for flow, amount in flows.items():
            if frequency(flow[1]) < frequency(flow[0]):
                rarer[flow] = amount
        to_rarer = sum(rarer.values())
        to_frequent = sum(flows.values()) - to_rarer

        # The stronger direction is lowered to the weaker one.
        for flow in flows:
            this_way, other_way = (to_rarer, to_frequent) if flow in rarer else (to_frequent, to_rarer)
            if this_way > other_way:
                self._chances[flow] *= other_way / this_way

    def _weight(self, flow: Flow) -> float:
        """How often what comes stands in the table."""
        back = flow[::-1]
        return self._offered[back] + self._besides.get(back, 0.0)

    def _shares(self, place: Place, numbers: Mapping[Flow, int]) -> _Shares:
        """How probably each option of a place is the one that is drawn."""
        weights = [self._weight(option.flow) for option in place]
        total = sum(weights)
        if not total:
            return ()
        shares = list[tuple[int, float]]()
        for option, weight in zip(place, weights, strict=True):
            shares.append((numbers[option.flow], weight / total))
        return tuple(shares)

    def chosen(self, places: Sequence[Place], rng: Random) -> list[Edit]:
        """Edits of places of a text, in random order."""
        edits = list[Edit]()
        for place in shuffled(places, rng):
            weights = [self._weight(option.flow) for option in place]
            option = _drawn(place, weights, rng)
            if option is not None and rng.random() < self._chances[option.flow]:
                edits.append(option.edit)
        return edits


def _balanced(texts: Mapping[_Drawn, int], besides: Sequence[float]) -> tuple[list[float], list[float]]:
    """The chance of each flow at which it is as strong as its opposite, and how strong it was a round before.

    A flow and its opposite are two numbers side by side: 0 and 1, 2 and 3.
    """
    chances = [1.0] * len(besides)
    for _ in range(_ROUNDS):
        flows = _expected(texts, chances)
        # Texts beside the table take part by the chance of the flow.
        strengths = list[float]()
        for flow, more, chance in zip(flows, besides, chances, strict=True):
            strengths.append(flow + more * chance)
        for number, this_way in enumerate(strengths):
            # `number ^ 1` is the opposite flow. A small step, as each chance moves the strengths of others.
            factor = SLACK * strengths[number ^ 1] / this_way if this_way else 1.0
            chances[number] = min(1.0, chances[number] * min(max(factor, 1 / _FACTOR), _FACTOR))
    return chances, flows


def _expected(texts: Mapping[_Drawn, int], chances: Sequence[float]) -> list[float]:
    """For each flow the expected number of texts whose first edit it is; of each the shares of its places.

    Texts with the same places are counted together.
    """
    flows = [0.0] * len(chances)
    for places, count in texts.items():
        # The expected edits of the text by flow, and the chance that it gets none at all.
        of_text, none = dict[int, float](), 1.0
        for place in places:
            some = 0.0
            for flow, share in place:
                chance = share * chances[flow]
                of_text[flow] = of_text.get(flow, 0.0) + chance
                some += chance
            none *= 1 - some

        # Its first edit is of a flow as often as the flow has a share of all its edits.
        amount = sum(of_text.values())
        if amount:
            scale = count * (1 - none) / amount
            for flow, chance in of_text.items():
                flows[flow] += scale * chance
    return flows


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
