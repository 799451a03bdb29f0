"""Distinct-n: how seldom a text repeats its n-grams."""

import math

from dhp.core.errors import InputError
from dhp.core.text import words
from dhp.judge.metrics.overlap import Score


def distinct(n: str) -> Score:
    """Distinct-n (Li et al. 2016): the number of different n-grams of words, divided by that of all words.

    Parameters
    ----------
    n
        Words in an n-gram: a whole number from 1.

    Returns
    -------
    Score
        In [0, 1]. Not a number for a text of fewer than `n` words.

    Raises
    ------
    InputError
        For another `n`.
    """
    if not n.isdecimal() or int(n) < 1:
        raise InputError(f"metric/distinct: n '{n}'; allowed: a whole number from 1")
    size = int(n)

    def score(text: str, _: str) -> float:
        own = words(text)
        if len(own) < size:
            return math.nan
        return len({tuple(own[i : i + size]) for i in range(len(own) - size + 1)}) / len(own)

    return score
