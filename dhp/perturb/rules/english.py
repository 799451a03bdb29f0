"""English words with a form that grammar forbids where they stand, from a list, without a parser."""

import re
from collections.abc import Callable
from random import Random

from pydantic import Field

from dhp.core.errors import NotApplicable
from dhp.core.markdown import masked
from dhp.core.seeding import shuffled
from dhp.core.specs import Spec
from dhp.perturb.api import Edited, asked_edits, perturber

# "walks", "don't", but no part of a code, an address or a compound.
_WORD = re.compile(r"(?<![\w@#./'’-])[^\W\d_]+(?:['’][^\W\d_]+)*(?![\w@-]|[./]\w)")


class EnglishErrors(Spec):
    """What is put instead of English words."""

    errors: dict[str, str] = Field(min_length=1)
    """Word -> a form that grammar does not allow where the word stands."""


Lists = Callable[[str, type[EnglishErrors]], EnglishErrors]


@perturber(
    name="grammar_slips", level="word", degrees={"minor": {"k": 2}, "major": {"k": 5}}, languages=("en",)
)
def grammar_slips(
    text: str, rng: Random, *, lists: Lists, k: int | None = None, share: float | None = None
) -> Edited:
    """Give `k` words, or a `share` of those in a list, a form that grammar does not allow in their place.

    The list has verbs that agree with their subject, determiners, articles, pronouns, participles and
    prepositions. The errors of a smaller dose are among those of a larger one.
    """
    errors = lists("english_errors", EnglishErrors).errors
    places = list[tuple[int, str]]()
    for match in _WORD.finditer(masked(text).text):
        if _wrong(match[0], errors):
            places.append((match.start(), match[0]))
    asked = asked_edits(k, share, len(places))
    if not places:
        raise NotApplicable("no word whose wrong form is in the list")
    # From the end to the beginning, so that the places still to be changed stay right.
    for start, word in sorted(shuffled(places, rng)[:asked], reverse=True):
        text = text[:start] + _wrong(word, errors) + text[start + len(word) :]
    return Edited(text, asked, min(asked, len(places)))


def _wrong(word: str, errors: dict[str, str]) -> str:
    """The wrong form of a word, in its case; empty for other words and for those in capitals, as `A`."""
    wrong = errors.get(word.lower().replace("’", "'"), "")
    if wrong and "’" in word:
        wrong = wrong.replace("'", "’")
    if word.islower():
        return wrong
    return wrong.capitalize() if len(word) > 1 and word == word.capitalize() else ""
