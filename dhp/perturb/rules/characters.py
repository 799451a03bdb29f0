"""Character-level rules: random deletions and random typographical errors."""

import functools
import importlib.util
import random
import threading
from types import ModuleType

from rapidfuzz.distance import OSA

from dhp.core.errors import NotApplicable
from dhp.core.records import Example
from dhp.core.seeding import shuffled
from dhp.perturb.api import Edited, asked_edits, perturber


def _dose(text: str, k: int | None, share: float | None) -> tuple[int, int]:
    """Edits asked for and to be made, which are at most half of the text's letters and digits."""
    letters = sum(map(str.isalnum, text))
    asked = asked_edits(k, share, letters)
    dose = min(asked, letters // 2)
    if dose == 0:
        raise NotApplicable("fewer than two letters or digits")
    return asked, dose


@perturber(name="random_deletions", level="character", degrees={"minor": {"k": 10}, "major": {"k": 50}})
def random_deletions(
    text: str, rng: random.Random, *, example: Example, k: int | None = None, share: float | None = None
) -> Edited:
    """Delete `k` letters or digits, or a `share` of them, at distinct random positions.

    The positions of a smaller dose are among those of a larger one. At most half of them go.
    """
    asked, dose = _dose(text, k, share)
    gone = set(shuffled([i for i, c in enumerate(text) if c.isalnum()], rng)[:dose])
    return Edited("".join(c for i, c in enumerate(text) if i not in gone), asked, dose)


_TYPOS = {
    "char_swap": 0,
    "missing_char": -1,
    "extra_char": 1,
    "nearby_char": 0,
    "similar_char": 0,
    "skipped_space": -1,
    "random_space": 1,
    "repeated_char": 1,
    "unichar": -1,
}
"""The error kinds of the `typo` package and how each must change the length of a text."""
_ON_A_KEYBOARD = ("extra_char", "nearby_char")
"""Those that need to know which keys lie side by side; the package knows the English keyboard alone."""

_LONG = 4_000
"""Characters from which typographical errors are made, and their distance measured, in pieces of a text."""
_PIECE = 60

_typo_lock = threading.Lock()


@functools.cache
def _private_typo() -> ModuleType:
    """A copy of the `typo` package's module that draws from a generator of its own.

    The package seeds and uses the global `random`; here that name leads to a private generator, so the
    caller's state stays untouched and other threads cannot disturb the stream.
    """
    generator = random.Random()
    modules = []
    for name in ("typo.keyboardlayouts.en_default", "typo.Errer"):
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            raise ImportError(f"the package 'typo' has no module '{name}'")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.random = generator  # type: ignore[attr-defined]
        modules.append(module)
    layout, errer = modules
    errer.en_default = layout  # type: ignore[attr-defined]
    return errer


def _equal_pieces(text: str) -> list[str]:
    """The text, or where it is long as many equal pieces as make them short."""
    count = 1 if len(text) <= _LONG else -(-len(text) // _PIECE)
    return [text[len(text) * i // count : len(text) * (i + 1) // count] for i in range(count)]


@perturber(name="random_typos", level="character", degrees={"minor": {"k": 10}, "major": {"k": 50}})
def random_typos(
    text: str,
    rng: random.Random,
    *,
    example: Example,
    language: str | None = None,
    k: int | None = None,
    share: float | None = None,
) -> Edited:
    """Make `k` typographical errors with the `typo` package, each of which takes the text further away.

    With `share` there are as many as that share of the letters and digits, at most half of them. In languages
    other than English no neighbouring key is hit, as the package knows no other keyboard; a text whose
    language is not known is taken to be typed on that keyboard.

    An error that changes nothing, undoes or merges with an earlier one (the optimal string alignment
    distance to the original must grow), or is no typographical error ('9' to '10') is drawn again. The
    errors of a smaller dose are the first of those of a larger one. In a text of over 4,000 characters each
    error falls within one of equal pieces of at most 60, and counts by its distance there.
    """
    asked, dose = _dose(text, k, share)
    kinds = [kind for kind in _TYPOS if language in (None, "en") or kind not in _ON_A_KEYBOARD]
    module = _private_typo()
    made = 0
    pieces = _equal_pieces(text)
    results, distances = pieces.copy(), [0] * len(pieces)
    with _typo_lock:
        errer = module.StrErrer(text, seed=rng.getrandbits(64))
        for _ in range(20 * dose + 100):
            kind = kinds[int(rng.random() * len(kinds))]
            i = int(rng.random() * len(pieces)) if len(pieces) > 1 else 0
            errer.result = results[i]
            try:
                getattr(errer, kind)()
            except KeyError:  # a digit that is on no keyboard of the package
                continue
            after: str = errer.result
            right_length = len(after) - len(results[i]) == _TYPOS[kind]
            further = OSA.distance(pieces[i], after) if right_length and after.strip() else 0
            if further <= distances[i]:
                continue
            results[i], distances[i] = after, further
            made += 1
            if made == dose:
                break
    if made == 0:
        raise NotApplicable("no typographical error is possible in this text")
    return Edited("".join(results), asked, made)
