"""What can be exchanged in a text that names next to nothing."""

import re
from collections.abc import Sequence

from dhp.perturb.entities.finder import PLURAL, WORD, overlaps
from dhp.perturb.entities.types import EntityLists, Mention, Piece, Span
from dhp.perturb.entities.words import technical

_DETERMINED = re.compile(r"\b(?:the|an?|his|her|their|my|our|its|this|that|your)\s+(?:[a-z-]+\s+)?$", re.I)
_LONG = 20
"""Words from which a text without names counts as technical."""


def find_things(text: str, lists: EntityLists, taken: Sequence[Span]) -> list[Mention]:
    """Things of everyday life outside the spans `taken`, each behind a determiner."""
    things = {thing for group in lists.swaps for thing in group}
    found = []
    for m in WORD.finditer(text):
        word = m.group()
        key = next((key for key in (word, word.removesuffix("s")) if key in things), "")
        determined = _DETERMINED.search(text[max(0, m.start() - 40) : m.start()])
        if key and determined and not overlaps(m.span(), taken):
            found.append(Mention((Piece(m.start(), m.start() + len(key), "noun", key),)))
    return found


def find_trade_words(text: str) -> list[Mention]:
    """In a text of some length, long nouns that are not common."""
    words = [m for m in WORD.finditer(text) if m.group().islower()]
    found = []
    for m in words:
        word = m.group()
        if len(words) > _LONG and technical(word) and word.isascii() and word.isalpha():
            key = word[:-1] if PLURAL.search(word) else word
            found.append(Mention((Piece(m.start(), m.start() + len(key), "term", key),)))
    return found
