"""Typographical errors are those of the package `typo`, letter by letter."""

import random

from hypothesis import given
from hypothesis import strategies as st

from dhp.perturb.rules.characters import TYPOS, TypedText

TEXTS = st.one_of(
    st.text("abzAZ019 _.,'\n\u00e9\u00df", max_size=40),
    st.sampled_from(
        ["", " ", "a", "Happy  birthday, Ms_O'Neill!", "10 + 9 = 19", "Stra\u00dfe \u0663", "\u0661 is one"]
    ),
)


@given(TEXTS, st.integers(0, 2**64 - 1), st.lists(st.sampled_from(sorted(TYPOS)), max_size=12))
def test_errors_are_those_of_the_package(text: str, seed: int, kinds: list[str]) -> None:
    from typo import Errer, StrErrer
    from typo.keyboardlayouts import en_default

    state, own = random.getstate(), random.Random(seed)
    try:
        theirs, typed = StrErrer(text, seed=seed), TypedText(text)
        assert Errer.random is en_default.random is random
        for kind in kinds:
            draw, _ = TYPOS[kind]
            try:
                getattr(theirs, kind)()
            except KeyError:
                try:
                    draw(typed, own)
                except KeyError:
                    continue
                raise AssertionError("the package knows no such key") from None
            if (edit := draw(typed, own)) is not None:
                typed.change(edit)
            assert typed.text == theirs.result
    finally:
        random.setstate(state)
