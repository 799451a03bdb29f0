"""Balance over the table: what is put in does not stand out by its frequency.

A wrong word that comes from a list shifts the frequencies of words, and who counts them tells the copy from
the original without reading. So word a becomes b with a chance in proportion to n(b) / n(a) in the texts of
the table, as in the rule of Metropolis and Hastings (1953, 1970): both directions flow alike. Else the word
stays. The within-pair AUC of such a kind tends to the share of its larger direction, which `ratio` bounds:
1.5 leaves 60 % of the edits in one direction.
"""

from collections.abc import Mapping, Sequence
from random import Random

RATIO = 1.5
"""How many times as often a word may be put in as it is taken out."""
_UNSEEN = 0.5
"""Counts as so many occurrences of a word that the table has not."""


def balanced(
    old: str, words: Sequence[str], counts: Mapping[str, int], rng: Random, ratio: float = RATIO
) -> str | None:
    """One of the words, each as often as the table has it; None if that would become too frequent."""
    amounts = [counts.get(word, 0) + _UNSEEN for word in words]
    draw, place = rng.random() * sum(amounts), 0
    while place < len(words) - 1 and draw >= amounts[place]:
        draw -= amounts[place]
        place += 1
    total = sum(amounts) + counts.get(old, 0) + _UNSEEN
    chance = ratio * sum(amounts) / (total - amounts[place])
    return words[place] if rng.random() < chance else None


def may_flow(this_way: int, other_way: int, rng: Random, ratio: float = 1.0) -> bool:
    """Whether an edit is made of which the table allows so many, and so many of its opposite."""
    return rng.random() * this_way < ratio * other_way
