"""Whether copies are told from originals by their letters alone: planted shortcuts are."""

import random

from dhp.perturb.shortcut import LEAST, SHOWS, shortcut

WORDS = "the a new old house town went came saw said of in with man woman child day night sun rain".split()
RNG = random.Random(0)
TEXTS = [" ".join(RNG.choice(WORDS) for _ in range(30)) for _ in range(80)]


def exchanged(text: str, seed: int) -> str:
    """Another word of the same list in one place: as frequent as what it replaces."""
    rng, words = random.Random(seed), text.split()
    words[rng.randrange(len(words))] = rng.choice(WORDS)
    return " ".join(words)


def test_a_word_that_only_copies_have_is_found() -> None:
    told = shortcut(TEXTS, [text.replace("the", "zork", 1) + " zork" for text in TEXTS])
    assert told is not None
    assert (told.auc, told.pairs) > (0.95, 0.95)


def test_words_as_frequent_as_before_tell_nothing() -> None:
    told = shortcut(TEXTS, [exchanged(text, i) for i, text in enumerate(TEXTS)])
    assert told is not None
    assert abs(told.auc - 0.5) < SHOWS - 0.5


def test_of_too_few_pairs_nothing_is_said() -> None:
    assert shortcut(TEXTS[: LEAST - 1], TEXTS[: LEAST - 1]) is None
