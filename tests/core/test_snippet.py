"""The one-line form of a change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.diff import EXCERPT, Operation, diff, excerpt, snippet

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
