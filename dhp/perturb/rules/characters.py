"""Letters and digits deleted, and what rules of characters share."""

import functools
import re
import unicodedata
from itertools import islice
from random import Random

from dhp.core.errors import NotApplicable
from dhp.core.markdown import masked
from dhp.core.seeding import drawn
from dhp.perturb.api import Edited, asked_edits, perturber


def combining_marks(text: str) -> frozenset[str]:
    """The combining marks of a text, such as the accent of a letter that is written as two characters."""
    return frozenset() if text.isascii() else frozenset(_marks().findall(text))


@functools.cache
def _marks() -> re.Pattern[str]:
    """A combining mark of the scripts in use; made once, as asking of each character takes longer."""
    marks = filter(lambda c: unicodedata.category(c)[0] == "M", map(chr, range(0x300, 0xFFFF)))
    return re.compile(f"[{''.join(marks)}]")


def letters_dose(text: str, k: int | None, share: float | None) -> tuple[int, int]:
    """Edits asked for and to be made, which are at most half of the text's letters and digits."""
    letters = list(filter(str.isalnum, masked(text, codes=True).text))
    asked = asked_edits(k, share, len(letters))
    dose = min(asked, len(letters) // 2)
    if dose == 0:
        raise NotApplicable("fewer than two letters or digits")
    return asked, dose


@perturber(name="random_deletions", level="character", degrees={"minor": {"k": 10}, "major": {"k": 50}})
def random_deletions(text: str, rng: Random, *, k: int | None = None, share: float | None = None) -> Edited:
    """Delete `k` letters or digits, or a `share` of them, at distinct random positions.

    The positions of a smaller dose are among those of a larger one. At most half of them go. Combining marks
    go with their letter.
    """
    asked, dose = letters_dose(text, k, share)
    shown = masked(text, codes=True).text
    positions = [i for i, character in enumerate(shown) if character.isalnum()]
    marks = "".join(combining_marks(text))
    pieces, end = list[str](), 0
    for position in [*sorted(islice(drawn(positions, rng), dose)), len(text)]:
        piece = text[end:position]
        # A piece behind a deleted letter may begin with its accent.
        pieces.append(piece.lstrip(marks) if marks and end else piece)
        end = position + 1
    return Edited("".join(pieces), asked, dose)
