"""Character-level rules: random deletions and random typographical errors."""

from itertools import compress, islice, pairwise
from random import Random

from rapidfuzz.distance import OSA

from dhp.core.errors import NotApplicable
from dhp.core.seeding import drawn
from dhp.perturb.api import Edited, asked_edits, perturber
from dhp.perturb.rules.typos import ON_A_KEYBOARD, TYPOS, TypedText


def _dose(text: str, k: int | None, share: float | None) -> tuple[int, int]:
    """Edits asked for and to be made, which are at most half of the text's letters and digits."""
    letters = sum(map(str.isalnum, text))
    asked = asked_edits(k, share, letters)
    dose = min(asked, letters // 2)
    if dose == 0:
        raise NotApplicable("fewer than two letters or digits")
    return asked, dose


@perturber(name="random_deletions", level="character", degrees={"minor": {"k": 10}, "major": {"k": 50}})
def random_deletions(text: str, rng: Random, *, k: int | None = None, share: float | None = None) -> Edited:
    """Delete `k` letters or digits, or a `share` of them, at distinct random positions.

    The positions of a smaller dose are among those of a larger one. At most half of them go.
    """
    asked, dose = _dose(text, k, share)
    positions = list(compress(range(len(text)), map(str.isalnum, text)))
    gone = sorted(islice(drawn(positions, rng), dose))
    kept = (text[a + 1 : b] for a, b in pairwise([-1, *gone, len(text)]))
    return Edited("".join(kept), asked, dose)


_LONG = 4_000
"""Characters from which typographical errors are made, and their distance measured, in pieces of a text."""
_PIECE = 60


def _equal_pieces(text: str) -> list[str]:
    """The text, or where it is long as many equal pieces as make them short."""
    count = 1 if len(text) <= _LONG else -(-len(text) // _PIECE)
    return [text[len(text) * i // count : len(text) * (i + 1) // count] for i in range(count)]


@perturber(name="random_typos", level="character", degrees={"minor": {"k": 10}, "major": {"k": 50}})
def random_typos(
    text: str, rng: Random, *, language: str | None = None, k: int | None = None, share: float | None = None
) -> Edited:
    """Make `k` typographical errors as the `typo` package does, each of which takes the text further away.

    With `share` there are as many as that share of the letters and digits, at most half of them. In languages
    other than English no neighbouring key is hit, as the package knows no other keyboard; a text whose
    language is not known is taken to be typed on that keyboard.

    An error that changes nothing, undoes or merges with an earlier one (the optimal string alignment
    distance to the original must grow), or is no typographical error ('9' to '10') is drawn again. The
    errors of a smaller dose are the first of those of a larger one. In a text of over 4,000 characters each
    error falls within one of equal pieces of at most 60, and counts by its distance there.
    """
    asked, dose = _dose(text, k, share)
    kinds = [kind for name, kind in TYPOS.items() if language in (None, "en") or name not in ON_A_KEYBOARD]
    made = 0
    pieces = _equal_pieces(text)
    results: dict[int, TypedText] = {}
    distances = [0] * len(pieces)
    errors = Random(rng.getrandbits(64))
    for _ in range(20 * dose + 100):
        draw, growth = kinds[int(rng.random() * len(kinds))]
        i = int(rng.random() * len(pieces)) if len(pieces) > 1 else 0
        if (typed := results.get(i)) is None:
            typed = results[i] = TypedText(pieces[i])
        try:
            edit = draw(typed, errors)
        except KeyError:  # a digit that is on no keyboard of the package
            continue
        if edit is None or len(edit[2]) - (edit[1] - edit[0]) != growth:
            continue
        after = typed.changed(edit)
        further = OSA.distance(pieces[i], after) if after.strip() else 0
        if further <= distances[i]:
            continue
        typed.change(edit)
        distances[i] = further
        made += 1
        if made == dose:
            break
    if made == 0:
        raise NotApplicable("no typographical error is possible in this text")
    joined = "".join(results[i].text if i in results else piece for i, piece in enumerate(pieces))
    return Edited(joined, asked, made)
