"""Sentence-level rules: reordering, and endings or answers that belong elsewhere."""

import random
from collections.abc import Sequence

from dhp.core.errors import InputError, NotApplicable
from dhp.core.records import Example
from dhp.core.text import sentence_spans
from dhp.perturb.api import Edited, perturber


@perturber(name="reordering", level="sentence", degrees={"minor": {"count": 2}, "major": {"count": "all"}})
def reordering(text: str, rng: random.Random, *, example: Example, count: int | str) -> Edited:
    """Shuffle `count` sentences (or "all") so that none of them stays in its place."""
    if count != "all" and not (isinstance(count, int) and count >= 2):
        raise InputError(
            f"perturber 'reordering': count must be 'all' or an integer of at least 2, not {count!r}"
        )
    spans = sentence_spans(text)
    parts = [text[start:end] for start, end in spans]
    if len(set(parts)) < 2:
        raise NotApplicable("fewer than two different sentences")
    asked = len(parts) if count == "all" else int(count)
    moved = min(asked, len(parts))
    for _ in range(1000):
        places = sorted(rng.sample(range(len(parts)), moved))
        order = _deranged(places, rng)
        shuffled = parts.copy()
        for place, origin in zip(places, order, strict=True):
            shuffled[place] = parts[origin]
        if shuffled != parts:
            break
    else:
        raise NotApplicable("no other order found")
    pieces, end = [], 0
    for (start, following), part in zip(spans, shuffled, strict=True):
        pieces += [text[end:start], part]
        end = following
    return Edited("".join([*pieces, text[end:]]), asked, moved)


def _deranged(places: Sequence[int], rng: random.Random) -> list[int]:
    """A uniformly random order of at least two items in which none stays in its place."""
    order = list(places)
    while any(a == b for a, b in zip(order, places, strict=True)):
        rng.shuffle(order)
    return order


def _text_of_another(text: str, rng: random.Random, others: Sequence[Example]) -> str:
    candidates = sorted({other.output for other in others} - {text})
    if not candidates:
        raise NotApplicable("no other example with another text")
    return candidates[int(rng.random() * len(candidates))]


@perturber(name="random_ending", level="sentence")
def random_ending(text: str, rng: random.Random, *, example: Example, others: Sequence[Example]) -> str:
    """The ending of another story."""
    return _text_of_another(text, rng, others)


@perturber(name="random_answer", level="sentence")
def random_answer(text: str, rng: random.Random, *, example: Example, others: Sequence[Example]) -> str:
    """The answer to another question."""
    return _text_of_another(text, rng, others)


@perturber(name="wrong_ending", level="sentence")
def wrong_ending(text: str, rng: random.Random, *, example: Example) -> str:
    """The wrong ending that the dataset gives (field `wrong_ending`)."""
    wrong = example.fields.get("wrong_ending")
    if not wrong:
        raise NotApplicable("the example has no field 'wrong_ending'")
    if wrong == text:
        raise NotApplicable("the wrong ending equals the right one")
    return wrong
