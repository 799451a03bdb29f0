"""Perturbers that put another text in its place: of another example, or the wrong ending of a dataset."""

from collections.abc import Sequence
from random import Random

from dhp.core.errors import NotApplicable
from dhp.core.records import Example
from dhp.perturb.api import perturber
from dhp.perturb.apply import other_texts


def _text_of_another(text: str, rng: Random, others: Sequence[Example]) -> str:
    candidates = other_texts(others, text)
    if not candidates:
        raise NotApplicable("no other example with another text")
    return candidates[int(rng.random() * len(candidates))]


@perturber(name="random_ending", level="sentence")
def random_ending(text: str, rng: Random, *, others: Sequence[Example]) -> str:
    """The ending of another story."""
    return _text_of_another(text, rng, others)


@perturber(name="random_answer", level="sentence")
def random_answer(text: str, rng: Random, *, others: Sequence[Example]) -> str:
    """The answer to another question."""
    return _text_of_another(text, rng, others)


@perturber(name="wrong_ending", level="sentence")
def wrong_ending(text: str, rng: Random, *, example: Example) -> str:
    """The wrong ending that the dataset gives (field `wrong_ending`)."""
    wrong = example.fields.get("wrong_ending")
    if not wrong:
        raise NotApplicable("the example has no field 'wrong_ending'")
    if wrong == text:
        raise NotApplicable("the wrong ending equals the right one")
    return wrong
