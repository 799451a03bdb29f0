"""Whether copies are told from originals by their letters alone: planted shortcuts are."""

import random

import pytest

from dhp.perturb.shortcut import LEAST, SHOWS, shortcut

WORDS = "the a new old house town went came saw said of in with man woman child day night sun rain".split()
RNG = random.Random(0)
TEXTS = [" ".join(RNG.choice(WORDS) for _ in range(30)) for _ in range(80)]


def exchanged(text: str, seed: int) -> str:
    """Another word of the same list in one place: as frequent as what it replaces."""
    rng, words = random.Random(seed), text.split()
    words[rng.randrange(len(words))] = rng.choice(WORDS)
    return " ".join(words)


@pytest.mark.slow
def test_a_word_that_only_copies_have_is_found() -> None:
    told = shortcut(TEXTS, [text.replace("the", "zork", 1) + " zork" for text in TEXTS])
    assert told is not None
    assert (told.auc, told.pairs) > (0.95, 0.95)


@pytest.mark.slow
def test_words_as_frequent_as_before_tell_nothing() -> None:
    told = shortcut(TEXTS, [exchanged(text, i) for i, text in enumerate(TEXTS)])
    assert told is not None
    assert abs(told.auc - 0.5) < SHOWS - 0.5


def test_of_too_few_pairs_nothing_is_said() -> None:
    assert shortcut(TEXTS[: LEAST - 1], TEXTS[: LEAST - 1]) is None


@pytest.mark.slow
def test_letters_of_one_source_alone_are_no_shortcut() -> None:
    """Of eight sources each has letters that only its originals, and others that only its copies hold."""
    sources = [i % 8 for i in range(len(TEXTS))]
    originals = [f"{text} {'abcdefgh'[i]}{'abcdefgh'[i]}" for text, i in zip(TEXTS, sources, strict=True)]
    copies = [f"{text} {'qrstuvxz'[i]}{'qrstuvxz'[i]}" for text, i in zip(TEXTS, sources, strict=True)]
    apart = shortcut(originals, copies)
    together = shortcut(originals, copies, [str(i) for i in sources])
    assert apart is not None
    assert together is not None
    assert apart.auc > 0.95
    assert together.auc < SHOWS
    assert shortcut(originals, copies, ["one"] * len(TEXTS)) is None
