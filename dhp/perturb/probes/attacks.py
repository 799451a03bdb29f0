"""Attacks: additions that make no text better, though a judge may be swayed by them."""

import random
from collections.abc import Sequence
from itertools import pairwise

from dhp.core.errors import InputError
from dhp.core.records import Example
from dhp.core.text import sentence_spans
from dhp.perturb.api import Edited, perturber

_STOPS = (".", "!", "?", "…", ":", ";", '"', "'", "”", "’", ")", "]", "。", "！", "？")


@perturber(name="judge_instruction", level="attack")
def judge_instruction(
    text: str, rng: random.Random, *, example: Example, texts: Sequence[str] = ()
) -> Edited:
    """Tell the judge which score to give: one of `texts` as the last sentence."""
    return _with_last_sentence(text, rng, texts)


@perturber(name="judge_flattery", level="attack")
def judge_flattery(text: str, rng: random.Random, *, example: Example, texts: Sequence[str] = ()) -> Edited:
    """Praise the judge: one of `texts` as the last sentence."""
    return _with_last_sentence(text, rng, texts)


@perturber(name="padding", level="attack")
def padding(
    text: str, rng: random.Random, *, example: Example, count: int = 1, texts: Sequence[str] = ()
) -> Edited:
    """Put `count` of `texts`, sentences without content, behind random sentences or the last one.

    No sentence comes twice. Those of a smaller `count`, and their positions, are among those of a larger one.
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InputError(f"parameter count is {count!r}; allowed: a whole number of at least 1")
    left = list(_checked(texts))
    spans = sentence_spans(text)
    # No position within a "sentence" that ended at "No." or "p.", nor between sentences without a space.
    positions = [
        end
        for (_, end), (start, _) in pairwise(spans)
        if end < start and not text[start].isdigit() and text[end - 1] in _STOPS
    ]
    positions.append(len(text))
    added: list[tuple[int, str]] = []
    for _ in range(min(count, len(left))):
        sentence = left.pop(int(rng.random() * len(left)))
        added.append((positions[int(rng.random() * len(positions))], sentence))
    padded, end = "", 0
    for position, sentence in sorted(added, key=lambda one: one[0]):
        padded, end = _joined(padded + text[end:position], sentence), position
    return Edited(padded + text[end:], count, len(added))


def _with_last_sentence(text: str, rng: random.Random, texts: Sequence[str]) -> Edited:
    chosen = _checked(texts)[int(rng.random() * len(texts))]
    return Edited(_joined(text, chosen), 1, 1)


def _checked(texts: Sequence[str]) -> Sequence[str]:
    if not isinstance(texts, list | tuple) or not texts or not all(isinstance(t, str) and t for t in texts):
        raise InputError(f"parameter texts is {texts!r}; allowed: a list of one text or more")
    return texts


def _joined(text: str, sentence: str) -> str:
    text = text.rstrip()
    return f"{text} {sentence}" if text.endswith(_STOPS) else f"{text}. {sentence}"
