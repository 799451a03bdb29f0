"""Diffs: what is deleted and what is inserted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.diff import Operation, diff


def without(operation: str, found: list[tuple[Operation, str]]) -> str:
    return "".join(piece for each, piece in found if each != operation)


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
