"""Word-level rules."""

import random
import re

from dhp.core.errors import NotApplicable
from dhp.core.records import Example
from dhp.perturb.api import Edited, at_least_one, perturber

_TOKEN = re.compile(r"\S*\w\S*")


@perturber(name="word_deletions", level="word", degrees={"minor": {"k": 5}, "major": {"k": 25}})
def word_deletions(text: str, rng: random.Random, *, example: Example, k: int) -> Edited:
    """Delete `k` consecutive words (tokens between white space that hold a letter or digit).

    At most half of the words go. The words that a smaller `k` deletes are among those of a larger one.
    """
    at_least_one(k)
    spans = [m.span() for m in _TOKEN.finditer(text)]
    dose = min(k, len(spans) // 2)
    if dose == 0:
        raise NotApplicable("fewer than two words")
    first = int(rng.random() * (len(spans) - dose + 1))
    head, tail = text[: spans[first][0]].rstrip(), text[spans[first + dose - 1][1] :].lstrip()
    return Edited(f"{head} {tail}".strip(), k, dose)
