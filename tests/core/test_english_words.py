"""Frequencies of English words agree with the list that they come from."""

import pytest
import wordfreq

from dhp.core.language import FUNCTION_WORDS, PRONOUNS, zipf


@pytest.mark.parametrize("word", ["the", "house", "photosynthesis", "it's"])
def test_zipf_is_that_of_the_list_unrounded(word: str) -> None:
    assert zipf(word) == pytest.approx(wordfreq.zipf_frequency(word, "en", "large"), abs=0.0051)


def test_an_unlisted_word_has_frequency_0() -> None:
    assert zipf("krelbomtex") == 0.0


def test_every_pronoun_is_a_function_word() -> None:
    assert "herself" in PRONOUNS
    assert PRONOUNS <= FUNCTION_WORDS
