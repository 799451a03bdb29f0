"""Rule perturbers: exact doses, nested degrees, survival of any text, isolation from global state."""

import random
import string
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from dhp.core.errors import InputError, NotApplicable
from dhp.core.records import Example
from dhp.core.text import sentences
from dhp.perturb.api import Edited
from dhp.perturb.registry import builtin_perturbers

RULES = builtin_perturbers()
SUMMARY = (
    "The council of Hartwell voted 9 to 4 on 12 May to close the old library. It will move to Mill Street, "
    "where 300 square metres stand empty. Mayor Ines Calder called it a new start. Opponents collected 2,150 "
    "signatures and want a vote of all citizens."
)
# Anything but surrogates; weighted towards digits of other scripts, which the typo package trips over.
any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=80) | st.text(
    "aZ9٣½²ßİǅ é.\n", max_size=60
)


def apply(name: str, text: str, seed: int = 0, others: tuple[str, ...] = (), **params: object) -> Edited:
    perturber = RULES[name]
    example = Example("e", "source", text)
    extra: Mapping[str, object] = {}
    if perturber.wants("others"):
        extra = {"others": [Example(str(i), "", other) for i, other in enumerate(others)]}
    assert perturber.function is not None
    result = perturber.function(text, random.Random(seed), example=example, **extra, **params)
    return result if isinstance(result, Edited) else Edited(result, 1, 1)


def alphanumeric(text: str) -> int:
    return sum(map(str.isalnum, text))


def is_subsequence(short: str, long: str) -> bool:
    letters = iter(long)
    return all(c in letters for c in short)


@given(any_text, st.integers(1, 60), st.integers(0, 5))
def test_deletions_take_exactly_k_letters_or_digits(text: str, k: int, seed: int) -> None:
    if alphanumeric(text) < 2:
        with pytest.raises(NotApplicable):
            apply("random_deletions", text, seed, k=k)
        return
    result = apply("random_deletions", text, seed, k=k)
    dose = min(k, alphanumeric(text) // 2)
    assert (result.asked, result.made) == (k, dose)
    assert len(result.text) == len(text) - dose
    assert alphanumeric(result.text) == alphanumeric(text) - dose
    assert is_subsequence(result.text, text)


@given(st.integers(0, 10_000))
def test_minor_deletions_are_among_the_major_ones(seed: int) -> None:
    letters = "".join(random.Random(seed).sample(string.ascii_letters, 50))  # all distinct
    minor = apply("random_deletions", letters, seed, k=5).text
    major = apply("random_deletions", letters, seed, k=20).text
    assert is_subsequence(major, minor)


@given(any_text, st.integers(1, 30), st.integers(0, 5))
def test_typos_survive_any_text_and_change_it(text: str, k: int, seed: int) -> None:
    try:
        result = apply("random_typos", text, seed, k=k)
    except NotApplicable:
        assert alphanumeric(text) < 2
        return
    assert 1 <= result.made <= min(k, alphanumeric(text) // 2)
    assert OSA.distance(text, result.text) >= result.made


@pytest.mark.parametrize("k", [10, 50])
def test_typos_reach_the_dose_on_ordinary_text(k: int) -> None:
    results = [apply("random_typos", SUMMARY, seed, k=k) for seed in range(40)]
    assert {result.made for result in results} == {k}
    assert len({result.text for result in results}) == 40


def test_each_typo_takes_the_text_further_and_smaller_doses_come_first() -> None:
    texts = [apply("random_typos", SUMMARY, 7, k=k).text for k in range(1, 40)]
    distances = [OSA.distance(SUMMARY, text) for text in texts]
    assert all(0 < b - a <= 2 for a, b in pairwise([0, *distances]))
    assert all(abs(len(a) - len(b)) <= 1 for a, b in pairwise([SUMMARY, *texts])), "one edit at a time"


@pytest.mark.parametrize("name", ["random_typos", "random_deletions", "word_deletions"])
@pytest.mark.parametrize("k", [0, -3, True, 2.5, "ten", None])
def test_a_dose_that_is_none_is_refused(name: str, k: object) -> None:
    with pytest.raises(InputError, match="allowed: a whole number of at least 1"):
        apply(name, SUMMARY, k=k)


def test_nine_never_becomes_ten() -> None:
    for seed in range(200):
        assert "10" not in apply("random_typos", "9999 9999 9999", seed, k=1).text


@pytest.mark.parametrize("name", ["random_typos", "random_deletions"])
def test_the_callers_random_state_is_untouched(name: str) -> None:
    random.seed(11)
    expected = [random.random() for _ in range(3)]
    random.seed(11)
    first = random.random()
    one = apply(name, SUMMARY, 3, k=10).text
    random.seed(99)  # what the caller does to the global generator has no influence either
    two = apply(name, SUMMARY, 3, k=10).text
    random.seed(11)
    assert [random.random() for _ in range(3)] == expected
    assert first == expected[0]
    assert one == two


def test_typos_do_not_move_the_global_generator() -> None:
    state = random.getstate()
    apply("random_typos", SUMMARY, k=50)
    assert random.getstate() == state


@given(st.integers(0, 300), st.integers(2, 60))
def test_word_deletions_remove_consecutive_words_and_nest(seed: int, count: int) -> None:
    words = [f"w{i}" for i in range(count)]
    kept = {}
    for k in (5, 25):
        result = apply("word_deletions", " ".join(words), seed, k=k)
        kept[k] = result.text.split()
        gone = [w for w in words if w not in kept[k]]
        assert len(gone) == result.made == min(k, count // 2)
        start = words.index(gone[0])
        assert words[start : start + len(gone)] == gone
    assert set(kept[25]) <= set(kept[5])


@pytest.mark.parametrize("text", ["", "word", "...", "?! -"])
def test_too_short_to_lose_words(text: str) -> None:
    with pytest.raises(NotApplicable):
        apply("word_deletions", text, k=5)


@given(st.integers(0, 200), st.integers(2, 7))
def test_reordering_moves_sentences(seed: int, count: int) -> None:
    parts = [f"Sentence number {i} stands here." for i in range(count)]
    for how, moved in ((2, 2), ("all", count)):
        result = apply("reordering", " ".join(parts), seed, count=how)
        after = sentences(result.text)
        assert Counter(after) == Counter(parts)
        assert sum(a != b for a, b in zip(after, parts, strict=True)) == moved == result.made


@pytest.mark.parametrize(
    "text", ["Only one sentence here.", "Same again. Same again.", "", "No end mark at all"]
)
def test_nothing_to_reorder(text: str) -> None:
    with pytest.raises(NotApplicable):
        apply("reordering", text, count=2)


def test_reordering_keeps_white_space_between_places() -> None:
    assert (
        apply("reordering", "One is first.\n\nTwo is second.", count="all").text
        == "Two is second.\n\nOne is first."
    )


@pytest.mark.parametrize("name", ["random_ending", "random_answer"])
def test_texts_of_others_are_never_the_own_text(name: str) -> None:
    others = ("Right.", "Other one.", "Other two.", "Right.")
    drawn = {apply(name, "Right.", seed, others=others).text for seed in range(50)}
    assert drawn == {"Other one.", "Other two."}
    with pytest.raises(NotApplicable):
        apply(name, "Right.", others=("Right.",))


def test_wrong_ending_is_the_datasets() -> None:
    function = RULES["wrong_ending"].function
    assert function is not None
    rng = random.Random(0)
    assert function("Right.", rng, example=Example("1", "", "Right.", {"wrong_ending": "Wrong."})) == "Wrong."
    for fields in ({}, {"wrong_ending": "Right."}):
        with pytest.raises(NotApplicable):
            function("Right.", rng, example=Example("1", "", "Right.", fields))
