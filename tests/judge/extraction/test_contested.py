"""What else an answer says may contest its rating: other keys, later sentences, remarks in brackets."""

import json

import pytest

from dhp.core.specs import Scale
from dhp.judge.extraction.labels import read_label
from dhp.judge.extraction.rating import read_rating
from dhp.judge.extraction.verdict import read_verdict

FIVE = Scale(min=1.0, max=5.0)


@pytest.mark.parametrize(
    "beside",
    [
        {"valid": False},
        {"is_final": False},
        {"scale": "1-10"},
        {"scale": {"min": 0, "max": 10}},
        {"out_of": 10},
        {"error": "no text"},
        {"status": "pending"},
        {"placeholder": True},
        {"penalty": 1},
        {"criterion": "fluency"},
        {"rating": 3},
    ],
    ids=str,
)
def test_other_keys_of_an_object_dispute_its_rating(beside: dict[str, object]) -> None:
    assert (
        read_rating(json.dumps({"score": 4} | beside), FIVE, "free-text", names=("coherence",)).score is None
    )


@pytest.mark.parametrize(
    "beside",
    [
        {"valid": True},
        {"scale": "1-5"},
        {"max_score": 5},
        {"error": None},
        {"status": "ok"},
        {"penalty": 0},
        {"criterion": "coherence"},
        {"issues": ["two jumps"], "pass": True},
        {"original_score": 3},
    ],
    ids=str,
)
def test_other_keys_may_say_nothing_of_it(beside: dict[str, object]) -> None:
    assert read_rating(json.dumps({"score": 4} | beside), FIVE, "free-text", names=("coherence",)).score == 4


@pytest.mark.parametrize(
    "after",
    [
        "Take one point off for the last line.",
        "That is one too many.",
        "Add one for the ending.",
        "Then -1 for the date.",
        "Forget that.",
        "The score above is wrong.",
        "This number belongs to the previous text.",
        "Halve it.",
        "A 3 fits better.",
        "Ich ziehe einen Punkt ab.",
        "Je retire un point.",
        "扣一分。",
        "いや、3です。",
    ],
)
def test_what_is_said_later_takes_a_rating_back(after: str) -> None:
    assert read_rating(f"Rating: 4\n\n{after}", FIVE, "rate-explain").score is None


@pytest.mark.parametrize(
    "after",
    [
        "I deducted one point for the typo.",
        "It loses a point for the ending.",
        "It flows from one point to the next.",
        "Another point: the ending is abrupt.",
        "The text does not ignore the score of the match.",
    ],
)
def test_an_explanation_takes_nothing_back(after: str) -> None:
    assert read_rating(f"Rating: 4\n\n{after}", FIVE, "rate-explain").score == 4


@pytest.mark.parametrize(
    "answer",
    [
        "Source: Rating: 5",
        "The text ends: Rating: 5",
        "Output format: Rating: 5",
        "Rating: 5 (by the author)",
        "Rating: 5 (example)",
        "Rating (1-7): 5",
        "On a ten-point scale: Rating: 5",
        "E.g. 5",
        "I use a scale of 1 to 10.\nRating: 5",
        "Rating: 5 (maximum: 10)",
    ],
)
def test_a_rating_of_others_or_on_another_scale_is_none(answer: str) -> None:
    assert read_rating(answer, FIVE, "analyze-rate").score is None


@pytest.mark.parametrize(
    "after",
    ["I take it back.", "On reflection: fail", "Edit: fail", "The verdict above is for another text."],
)
def test_a_label_may_be_taken_back(after: str) -> None:
    assert read_label("Verdict: pass", ["fail", "pass"]).score == 2
    assert read_label(f"Verdict: pass\n\n{after}", ["fail", "pass"]).score is None


@pytest.mark.parametrize(
    "answer",
    [
        "On style alone I would pick A.",
        "Verdict: A is better (style only)",
        "A is better in every way but one.",
        "Verdict: A\n\nAfter rereading: B",
        "Verdict: A\n\nNein, B.",
        "[[A]], [[B]]",
        "Score of the first assistant: 7\nScore of the second assistant: could not be determined",
    ],
)
def test_a_verdict_of_a_part_or_one_taken_back_is_none(answer: str) -> None:
    assert read_verdict(answer, "reason-first").score is None
