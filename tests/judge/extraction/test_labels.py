"""Words of the user's own as verdicts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.judge.extraction.rating import read_label

PASS_FAIL, LEVELS = ["fail", "pass"], ["Poor", "Very poor", "Good"]


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("PASS", 2),
        ("fail", 1),
        ("**Pass**.", 2),
        ('"FAIL"', 1),
        ("Verdict: PASS", 2),
        ("The answer keeps every fact.\n\nPASS", 2),
        ("FAIL\nThe summary would pass if the name were right.", 1),
        ("It should not pass, as the name is wrong. Final verdict: fail", 1),
        ("<think>pass? fail?</think>PASS", 2),
        ("I would let this pass.", 2),
        ('{"verdict": "PASS", "reason": "no fail"}', 2),
        ("My decision is **FAIL**", 1),
    ],
)
def test_a_clear_verdict_is_read(answer: str, score: int) -> None:
    read = read_label(answer, PASS_FAIL)
    assert (read.status, read.score) == ("scored", score)


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ("This does not pass.", "unparsed"),
        ("Either pass or fail.", "unparsed"),
        ("", "unparsed"),
        ("The passage failed to load.", "unparsed"),
        ("7", "unparsed"),
        ("I'm sorry, but I cannot help with that request.", "refused"),
    ],
)
def test_what_is_no_clear_verdict_is_none(answer: str, status: str) -> None:
    read = read_label(answer, PASS_FAIL)
    assert (read.status, read.score) == (status, None)


def test_the_longer_of_two_labels_is_meant() -> None:
    assert [read_label(answer, LEVELS).score for answer in ("poor", "very poor", "Rating: good")] == [1, 2, 3]


def test_an_answer_that_was_cut_counts_only_with_its_verdict() -> None:
    assert read_label("I let it pass", PASS_FAIL, cut_off=True).status == "unparsed"
    assert read_label("Verdict: pass. Because", PASS_FAIL, cut_off=True).score == 2


@given(st.text())
def test_it_never_raises_and_never_leaves_the_scale(answer: str) -> None:
    assert read_label(answer, PASS_FAIL).score in (None, 1, 2)
