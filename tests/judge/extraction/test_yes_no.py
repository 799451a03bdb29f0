"""Yes and No are ratings where, and only where, the question defines them as the ends of the scale."""

import pytest

from dhp.core.specs import Scale
from dhp.judge.extraction.rating import read_rating, yes_and_no

THREE = Scale(min=1.0, max=3.0)
UNIT = Scale(min=0.0, max=1.0)
ASKED = "1 (no) to 3 (yes)"


@pytest.mark.parametrize(
    "question",
    [
        "Does the reply fit? 1 (no) is an odd reply, 2 (somewhat) a fair one, 3 (yes) a fitting one.",
        "Is it natural? 1 = No, 3 = Yes.",
        "Is it natural? Answer no (1), partly (2) or yes (3).",
        "3 means yes and 1 means no.",
        "Yes: 3\nNo: 1",
        "自然吗？3分表示是，1分表示否。",
    ],
)
def test_a_question_may_define_both_ends(question: str) -> None:
    assert yes_and_no(question, THREE) == (3, 1)


@pytest.mark.parametrize(
    ("question", "scale"),
    [
        ("Does the reply fit, yes or no?", THREE),
        ("1 (no) to 3 (fully)", THREE),
        ("1 (no) to 5 (yes)", THREE),
        ("1 (note it) to 3 (yesterday)", THREE),
        ("1 (no), 13 (yes)", THREE),
    ],
)
def test_other_questions_do_not(question: str, scale: Scale) -> None:
    assert yes_and_no(question, scale) is None


def test_no_may_be_the_upper_end() -> None:
    assert yes_and_no("Are there errors? yes = 0, no = 1", UNIT) == (0, 1)


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("Yes", 3),
        ("yes.", 3),
        ("No", 1),
        ("**No**", 1),
        ("Yes. It names the fact.", 3),
        ("No, it does not.", 1),
        ("是。", 3),
    ],
)
def test_yes_and_no_are_the_ends(answer: str, score: float) -> None:
    read = read_rating(answer, THREE, "free-text", asked=ASKED)
    assert (read.status, read.score, read.rule) == ("scored", score, "yes-no")
    assert read_rating(answer, THREE, "free-text").status == "unparsed"


@pytest.mark.parametrize("answer", ["Yes, 2.", "No. Rating: 2", "No: 2"])
def test_a_number_counts_before_yes_and_no(answer: str) -> None:
    assert read_rating(answer, THREE, "free-text", asked=ASKED).score == 2


@pytest.mark.parametrize(
    "answer", ["Nobody knows.", "yes . do you know how they met ?", "The answer may be yes", "Yesterday"]
)
def test_other_words_are_no_ratings(answer: str) -> None:
    assert read_rating(answer, THREE, "free-text", asked=ASKED).status == "unparsed"
