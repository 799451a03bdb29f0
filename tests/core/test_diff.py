"""Before and after: what is marked as gone and as come."""

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.diff import changes, marked


def plain(html: str, without: str) -> str:
    return unescape(re.sub(rf"<{without}>.*?</{without}>|<[^>]+>", "", html, flags=re.S))


@given(st.text(), st.text(), st.sampled_from(["character", "word"]))
def test_marks_show_both_texts(before: str, after: str, level: str) -> None:
    html = marked(before, after, level)
    assert plain(html, "del") == after
    assert plain(html, "ins") == before


@given(st.lists(st.sampled_from(["A <b> fell.", "It broke & burst.", "Who saw it?", "No one."]), max_size=5))
def test_marks_by_sentence(sentences: list[str]) -> None:
    before, after = "A <b> fell. Who saw it?", " ".join(sentences)
    html = marked(before, after, "sentence")
    assert plain(html, "del") == after
    assert plain(html, "ins").split() == before.split()
    assert set(re.findall(r"<[^>]*>", html)) <= {"<del>", "</del>", "<ins>", "</ins>"}


def test_a_moved_sentence_is_marked_where_it_was_and_where_it_is() -> None:
    html = marked("One came. Two went. Three stayed.", "Two went. One came. Three stayed.", "sentence")
    assert re.sub(r"\s+", " ", html) in (
        "<ins>Two went. </ins>One came. <del> Two went. </del>Three stayed.",
        "<del> One came. </del>Two went. <ins>One came. </ins>Three stayed.",
    )


@pytest.mark.parametrize("level", ["word", "attack", "of my own"])
def test_what_is_gone_stands_before_what_came_for_it(level: str) -> None:
    found = changes("A cat sat, then slept.", "A dog lay, then slept.", level)
    assert found == [
        ("=", "A "),
        *(("-", "cat"), ("+", "dog"), ("=", " "), ("-", "sat"), ("+", "lay")),
        ("=", ", then slept."),
    ]
    assert changes("", "", level) == []
