"""Features of how the sentences follow each other, each from a case to [0, 1]; higher is better.

None where there is nothing to go by.
"""

from collections.abc import Iterable
from itertools import combinations, pairwise

from dhp.core.english import CONNECTIVES, PRONOUNS
from dhp.judge.surface.document import Case, Text, ratio

_STEP = 0.15
"""Part of the source by which two sentences must differ in place before their order is beyond doubt."""
_FOCUS = 3
"""Power of the overlap with a source sentence: the best evidence counts far more than the rest."""


def _position(stems: Iterable[str], source: Text) -> float | None:
    """Where in the source (0 first sentence, 1 last) the evidence for these stems lies."""
    shared: dict[int, float] = {}
    for stem in stems:
        for number in source.places.get(stem, ()):
            shared[number] = shared.get(number, 0.0) + source.stems[stem]
    weights = {number: weight**_FOCUS for number, weight in shared.items()}
    mean = ratio(sum(number * weight for number, weight in weights.items()), sum(weights.values()))
    return None if mean is None else mean / max(1, len(source.sentences) - 1)


def source_order(case: Case) -> float | None:
    """1 if the sentences follow the order of the source, 0 if they run backwards."""
    positions = [_position(stems, case.source) for stems in case.text.sentence_stems]
    known = [position for position in positions if position is not None]
    steps = [max(-1.0, min(1.0, (b - a) / _STEP)) for a, b in combinations(known, 2)]
    mean = ratio(sum(steps), len(steps))
    return None if mean is None else (1 + mean) / 2


def ties(case: Case) -> float | None:
    """The share of sentences after the first that take up the one before, by a word or by a reference."""
    linked = 0
    for (before, after), sentence in zip(
        pairwise(case.text.sentence_stems), case.text.sentences[1:], strict=True
    ):
        linked += bool(before & after) or any(
            w.lower in PRONOUNS or w.lower in CONNECTIVES for w in sentence[:3]
        )
    return ratio(linked, len(case.text.sentences) - 1) if case.text.sentences else None


def introduction(case: Case) -> float | None:
    """1 if several sentences introduce things before they refer to them, less with each that is not.

    The antecedents of a single sentence may stand in the source.
    """
    if len(case.text.sentences) < 2:
        return None
    opening_word = case.text.sentences[0][0].lower
    faults = int(opening_word in CONNECTIVES or PRONOUNS.get(opening_word, "i") != "i")
    names: set[str] = set()
    definite: set[str] = set()
    for sentence in case.text.sentences:
        for left, right in pairwise(sentence):
            if left.capital and right.name:  # a full name after the short one
                faults += right.stem in names and left.stem not in names
            if left.lower in ("a", "an"):  # "a plan" after "the plan"
                faults += right.stem in definite
        names.update(word.stem for word in sentence if word.capital)
        definite.update(right.stem for left, right in pairwise(sentence) if left.lower == "the")
    return 1 / (1 + faults)


def opening(case: Case) -> float | None:
    """Whether the first sentence names the topic: its share in it against that of an average sentence."""
    salience = case.source.salience
    shares = [sum(salience.get(stem, 0.0) for stem in stems) for stems in case.text.sentence_stems]
    if len(shares) < 2:
        return None
    return ratio(shares[0], shares[0] + sum(shares[1:]) / (len(shares) - 1))


def no_repetition(case: Case) -> float | None:
    """The share of pairs of neighbouring content words that the text uses only once."""
    pairs = list(pairwise(word.stem for word in case.text.words if word.content))
    return ratio(len(set(pairs)), len(pairs))
