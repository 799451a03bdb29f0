"""Diffs: what is deleted and what is inserted, and the one-line form of a change."""

import random
from functools import cache
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from dhp.core.diff import EXCERPT, LONG, Operation, audit, diff, excerpt, parts, snippet


def without(operation: str, found: list[tuple[Operation, str]]) -> str:
    return "".join(piece for each, piece in found if each != operation)


@pytest.mark.slow
@given(st.text(), st.text(), st.sampled_from(["character", "word"]))
def test_a_diff_holds_both_texts(before: str, after: str, level: str) -> None:
    found = diff(before, after, level)
    assert without("-", found) == after
    assert without("+", found) == before


@given(st.lists(st.sampled_from(["A <b> fell.", "It broke & burst.", "Who saw it?", "No one."]), max_size=5))
def test_a_diff_by_sentence(sentences: list[str]) -> None:
    before, after = "A <b> fell. Who saw it?", " ".join(sentences)
    found = diff(before, after, "sentence")
    assert without("-", found) == after
    assert without("+", found).split() == before.split()


def test_a_moved_sentence_is_deleted_where_it_was_and_inserted_where_it_is() -> None:
    found = diff("One came. Two went. Three stayed.", "Two went. One came. Three stayed.", "sentence")
    assert [(operation, piece.strip()) for operation, piece in found] in (
        [("+", "Two went."), ("=", "One came."), ("-", "Two went."), ("=", "Three stayed.")],
        [("-", "One came."), ("=", "Two went."), ("+", "One came."), ("=", "Three stayed.")],
    )


@pytest.mark.parametrize("level", ["word", "attack", "of my own"])
def test_what_is_gone_stands_before_what_came_for_it(level: str) -> None:
    found = diff("A cat sat, then slept.", "A dog lay, then slept.", level)
    assert found == [
        ("=", "A "),
        *(("-", "cat"), ("+", "dog"), ("=", " "), ("-", "sat"), ("+", "lay")),
        ("=", ", then slept."),
    ]
    assert diff("", "", level) == []


@cache
def long_text(seed: int, letters: int = 3 * LONG) -> str:
    """Sentences of random words, some of which stand once."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcdefgh", k=rng.randint(2, 7))) for _ in range(letters // 5)]
    sentences = (" ".join(words[i : i + 9]).capitalize() + "." for i in range(0, len(words), 9))
    return " ".join(sentences)


def scattered(text: str, share: float) -> str:
    """The text without a share of its characters."""
    rng = random.Random(0)
    return "".join(c for c in text if rng.random() >= share)


LONG_PAIRS = {
    "few characters gone": (long_text(0), scattered(long_text(0), 0.001)),
    "a fifth gone": (long_text(0), scattered(long_text(0), 0.2)),
    "another text": (long_text(0), long_text(1)),
    "start gone": (long_text(0), long_text(0)[5000:]),
    "grown": (long_text(0), long_text(0) + long_text(1)),
    "shuffled": (long_text(0), " ".join(random.Random(0).sample(long_text(0).split(), 1000))),
    "nothing stands once": ("ab " * LONG, "ab " * LONG + "b" * LONG),
    "one word": ("a" * 3 * LONG, "a" * 2 * LONG),
}


@pytest.mark.parametrize("level", ["character", "word", "sentence"])
@pytest.mark.parametrize("case", LONG_PAIRS)
def test_a_diff_in_parts_holds_both_texts(case: str, level: str) -> None:
    before, after = LONG_PAIRS[case]
    found = diff(before, after, level)
    assert without("-", found) == after
    assert without("+", found).split() == before.split() or level == "sentence"


@pytest.mark.parametrize("case", LONG_PAIRS)
def test_the_edit_distance_of_long_texts_is_at_least_the_true_one_and_hardly_more(case: str) -> None:
    before, after = LONG_PAIRS[case]
    true, found = Levenshtein.distance(before, after), audit(before, after).edit_distance
    assert true <= found <= 1.15 * true + 50
    assert found <= max(len(before), len(after))


@given(st.data())
def test_parts_cover_both_sequences_in_order_and_are_short(data: st.DataObject) -> None:
    sizes = st.integers(0, 3 * LONG)
    kinds, seed = data.draw(st.sampled_from([2, 50, 10**6])), data.draw(st.integers(0, 99))
    rng = random.Random(seed)
    old = [str(rng.randrange(kinds)) for _ in range(data.draw(sizes))]
    new = old[data.draw(sizes) :] + [str(rng.randrange(kinds)) for _ in range(data.draw(sizes))]
    found = list(parts(old, new))
    assert ([*chain(*(a for a, _ in found))], [*chain(*(b for _, b in found))]) == (old, new)
    assert all(max(len(a), len(b)) <= LONG for a, b in found)


def test_short_sequences_are_one_part() -> None:
    assert list(parts(["a"] * LONG, ["b"])) == [(["a"] * LONG, ["b"])]


PIECES = st.lists(st.tuples(st.sampled_from(["=", "-", "+"]), st.text(min_size=1, max_size=400)), max_size=8)


def test_the_first_change_shows_between_what_stands_around_it() -> None:
    before = f"{'The weather was mild. ' * 9}Anna met Paul at noon. {'They walked on. ' * 9}"
    found = snippet(diff(before, before.replace("Paul", "Peter"), "word"))
    assert [operation for operation, _ in found] == ["=", "-", "+", "="]
    assert found[0][1].startswith("… ")
    assert found[0][1].endswith("Anna met ")
    assert [text for _, text in found[1:3]] == ["Paul", "Peter"]
    assert found[3][1].startswith(" at noon. They")
    assert found[3][1].endswith(" …")


@given(PIECES)
def test_any_change_gives_one_short_line_that_begins_at_the_first_change(
    pieces: list[tuple[Operation, str]],
) -> None:
    found = snippet(pieces)
    assert sum(len(text) for _, text in found) <= 300
    assert not any(set(text) & set("\n\r\t\v\f") for _, text in found)
    changed = [operation for operation, _ in pieces if operation != "="]
    shown = [operation for operation, _ in found if operation != "="]
    assert shown[:1] == changed[:1]
    assert bool(found) == bool(changed)


def long_sentences(count: int) -> str:
    return " ".join(f"Sentence {i} says that it is number {i * 7}." for i in range(count))


@pytest.mark.parametrize("level", ["character", "word", "sentence", "attack"])
@pytest.mark.parametrize("place", [0, 15_000, 39_000])
def test_of_long_texts_the_first_changes_are_shown(level: str, place: int) -> None:
    before = long_sentences(1000)
    place = before.index(". ", place) + 2
    after = before[:place] + "Inserted here. " + before[place:]
    changes = excerpt(before, after, level)
    kept = "".join(piece for operation, piece in changes if operation != "-")
    assert "Inserted here." in "".join(piece for operation, piece in changes if operation == "+")
    assert len(kept) <= EXCERPT + 20
    assert kept.removeprefix("[…] ").removesuffix(" […]") in after
    assert kept.startswith("[…] ") == (place > 1000)
    assert "-" not in {operation for operation, _ in changes}


def test_texts_that_are_not_long_are_shown_whole() -> None:
    before = long_sentences(200)
    after = before.replace("number 70", "number 71")
    assert excerpt(before, after, "word") == diff(before, after, "word")


def test_of_a_long_text_that_did_not_change_the_start_is_shown() -> None:
    text = long_sentences(1000)
    assert excerpt(text, text, "control") == [("=", text[:EXCERPT]), ("=", " […]")]


def test_no_word_is_cut() -> None:
    around = "Incomprehensible weather prevailed. " * 9
    before = f"{around}Anna met Paul. {around}"
    found = snippet(diff(before, before.replace("Paul", "Peter"), "word"))
    words = {word for _, text in found for word in text.replace("…", "").split()}
    assert words <= {"Incomprehensible", "weather", "prevailed.", "Anna", "met", "Paul", "Peter", "."}
    unspaced = snippet([("=", "天" * 90), ("-", "地" * 90), ("+", "人")])
    assert [len(text) for _, text in unspaced] == [42, 82, 1]


def test_a_text_of_which_under_half_of_the_words_stay_is_an_old_block_and_a_new_one() -> None:
    before, after = "Your table is booked for two on Friday.", "That is a good question, ask the hotel."
    assert diff(before, after, "word") == [("-", before), ("+", after)]
    one_name = diff(before, before.replace("Friday", "Monday"), "word")
    assert [piece for operation, piece in one_name if operation == "-"] == ["Friday"]
