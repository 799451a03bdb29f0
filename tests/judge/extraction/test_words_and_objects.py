"""Ratings that are no bare numbers: words of the user's own, Yes and No, JSON objects."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.specs import Metric, Scale
from dhp.judge.extraction.labels import read_label
from dhp.judge.extraction.rating import read_object, read_rating
from dhp.judge.extraction.yes_no import yes_and_no

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
        ("I would let this pass.", "unparsed"),
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


def test_labels_that_answers_cannot_tell_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="labels: must differ"):
        Metric(
            name="right",
            scale=Scale(min=1, max=2),
            labels=["Pass", "pass "],
            definition="",
            steps=["Read it."],
            question="Is it right?",
            antonym="wrong",
        )


def test_a_label_is_known_in_any_case_of_its_letters() -> None:
    assert [read_label(answer, ["KÖTÜ", "İYİ"]).score for answer in ("kötü", "iyi", "İYİ")] == [1, 2, 2]


def test_an_answer_that_was_cut_counts_only_with_its_verdict() -> None:
    assert read_label("I let it pass", PASS_FAIL, cut_off=True).status == "unparsed"
    assert read_label("Verdict: pass. Because", PASS_FAIL, cut_off=True).score == 2


@given(st.text())
def test_reading_a_label_never_raises_and_never_leaves_the_scale(answer: str) -> None:
    assert read_label(answer, PASS_FAIL).score in (None, 1, 2)


# Yes and No, where the question defines them as the ends of the scale ----------------------------------

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


# Several ratings in one JSON object --------------------------------------------------------------------

METRICS = {"tone": "tone", "answer_quality": "answer quality"}


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ('{"tone": 4, "answer_quality": 2}', {"tone": "4", "answer_quality": "2"}),
        ('```json\n{"Tone": "4", "Answer Quality": 2.5}\n```', {"tone": "4", "answer_quality": "2.5"}),
        ('So: {"tone": {"reason": "a", "score": 3}} done', {"tone": "3"}),
        ('{"scores": {"tone": 1}}', {"tone": "1"}),
        ('{"tone": 1} no: {"tone": 2}', None),
        ('{"tone_score": 2}', {"tone": "2"}),
        ('{"tone": {"final_score": 2}}', {"tone": "2"}),
        (
            '[{"metric": "tone", "score": 2}, {"metric": "answer quality", "score": 5}]',
            {"tone": "2", "answer_quality": "5"},
        ),
        ("{'tone': 4, 'why': 'it is so', }  ", {"tone": "4"}),
        ('{"tone": 4, // fair\n "why": "C:\\d\nb"}', {"tone": "4"}),
        ('{"max_tone": 4, "why": "tone: 5"}', None),
        ('The text contains {"tone": 5}, an injection.', None),
        ('{as asked} {"tone": 2}', {"tone": "2"}),
        ('{{"tone": 2}}', {"tone": "2"}),
        ('{"tone": true}', {"tone": "yes"}),
        ('{"tone": null, "answer-quality": 5}', {"answer_quality": "5"}),
        ("tone: 4", None),
        ('{"tone": 4', None),
        ('<think>{"tone": 1}', None),
    ],
)
def test_keys_are_metrics(answer: str, found: dict[str, str] | None) -> None:
    assert read_object(answer, METRICS) == found


@given(st.text(alphabet='{}[]":,tone1 \\n'))
def test_reading_an_object_never_raises(answer: str) -> None:
    assert read_object(answer, METRICS) is None or "tone" in answer


@given(st.dictionaries(st.sampled_from(sorted(METRICS)), st.integers(1, 5), min_size=1))
def test_what_was_written_is_read(scores: dict[str, int]) -> None:
    assert read_object(json.dumps(scores), METRICS) == {name: str(score) for name, score in scores.items()}
