"""The sentences of a table by what they are about, so that one on the topic of another text can be found.

Bounds without another source were chosen; docs/degraded-texts.md says how far each kind reaches with them.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from random import Random

from dhp.perturb.facts.lists import FactLists
from dhp.perturb.facts.words import content_words

_SHORT, _LONG = 25, 400
"""Characters of a sentence that can be a claim."""
_LABELLED = re.compile(r"[^.,:]{1,40}[:：]|[(\[]?\w{1,2}[.)\]] ")
"""The beginning of an item, or of what somebody says."""
_ENOUGH = 4
"""Words from which on a claim can be told to say the same as a text: fewer may deny it."""
_FIGURE = re.compile(r"\d+")
_ALIKE = 0.5
"""Share of the words of a claim that a text has: it says the same then, maybe in other words."""
_COMMON = 0.05
"""Words in a larger share of the sentences say nothing about a topic."""
_SHARED = 2
"""Words that a sentence has in common with a text on its topic."""
_TELLING = 1.45
"""So many times as telling as a word of one sentence alone are the words together."""
_NEAREST, _MOST = 20, 60
"""Sentences on a topic, and any others, that are looked at for one text."""


def is_claim(sentence: str, lists: FactLists) -> bool:
    """Whether a sentence states something by itself."""
    return (
        _SHORT <= len(sentence) <= _LONG
        and sentence.rstrip("\"'”’» ").endswith((".", "!", "。", "！"))
        and not lists.points_back.match(sentence)
        and not _LABELLED.match(sentence)
    )


def says_the_same(claim: str, text: str) -> bool:
    """Whether a text has most words of a claim already, and all of its figures."""
    words = content_words(claim)
    figures = set(_FIGURE.findall(claim))
    if len(words) < _ENOUGH or not figures <= set(_FIGURE.findall(text)):
        return False
    return len(words & content_words(text)) > _ALIKE * len(words)


class Topics:
    """The claims of a table, and the words that they have in common with a text."""

    def __init__(self, sentences: Sequence[str], lists: FactLists) -> None:
        claims = [sentence for sentence in sentences if is_claim(sentence, lists)]
        self._claims = list(dict.fromkeys(claims))

    @cached_property
    def _held(self) -> Mapping[str, list[int]]:
        """Content word -> the claims that have it; but words that many have."""
        held: dict[str, list[int]] = {}
        for number, claim in enumerate(self._claims):
            for word in content_words(claim):
                held.setdefault(word, []).append(number)
        most = max(_COMMON * len(self._claims), _SHARED)
        return {word: numbers for word, numbers in held.items() if len(numbers) <= most}

    def nearest(self, text: str) -> list[str]:
        """The claims that share most with a text, weighed by the rarity of the words; best first."""
        # Number of a claim -> words that it shares with the text, and the sum of their rarities.
        shared, weight = Counter[int](), defaultdict[int, float](float)
        for word in sorted(content_words(text) & self._held.keys()):
            numbers = self._held[word]
            rarity = math.log(len(self._claims) / len(numbers))
            for number in numbers:
                shared[number] += 1
                weight[number] += rarity
        least = _TELLING * math.log(max(len(self._claims), 1))
        near = list[str]()
        for number, together in sorted(weight.items(), key=lambda one: -one[1]):
            claim = self._claims[number]
            if shared[number] >= _SHARED and together >= least and claim not in text:
                near.append(claim)
            if len(near) == _NEAREST:
                break
        return near

    def any_of(self, rng: Random) -> list[str]:
        """Some of the claims, at random."""
        if not self._claims:
            return []
        return [self._claims[int(rng.random() * len(self._claims))] for _ in range(_MOST)]
