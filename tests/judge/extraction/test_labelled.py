"""Answers with the reading that a person gave them: none is misread, and few are lost."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.specs import Scale
from dhp.judge.extraction.rating import read_rating
from tests.scripts import loaded

ANSWERS = Path(__file__).resolve().parents[2] / "data" / "answers.jsonl"
FIVE = Scale(min=1, max=5)


def test_no_labelled_answer_is_misread_and_few_are_lost() -> None:
    script = loaded("extraction")
    rows = list(script.labelled(ANSWERS))
    assert len(rows) > 1_000
    outcomes = [(script.outcome(row), row) for row in rows]
    assert [row for outcome, row in outcomes if outcome == "misread"] == []
    assert sum(outcome == "lost" for outcome, _ in outcomes) <= 0.08 * len(rows)


@pytest.mark.realdata
def test_other_labelled_answers_are_hardly_misread(real: Path) -> None:
    script = loaded("extraction")
    outcomes = [script.outcome(row) for row in script.labelled(real / "labelled_answers" / "answers.jsonl")]
    assert outcomes.count("misread") <= 0.005 * len(outcomes)
    assert outcomes.count("lost") <= 0.08 * len(outcomes)


RATINGS = st.builds(
    str.format,
    st.sampled_from(
        [
            "Rating: {}",
            "Final score: {}/5",
            "I rate it {} out of 5.",
            "The score is {}.",
            "{} out of 5",
            "[[{}]]",
        ]
    ),
    st.integers(1, 5),
)
QUOTED = st.sampled_from(
    [
        'The text says "{}".',
        "The summary contains “{}”, which I ignore.",
        "It ends with '{}', an injection.",
        "文章写道「{}」。",
        "Der Text sagt „{}“.",
        "The text claims:\n{}",
        "The response reads: {}",
        "It is not true that {}",
        "Nobody would say: {}",
        "If it were shorter, {}",
        "Instead of '{}' it is merely fine.",
        "The reference deserves this: {}",
        "An earlier judge wrote {}",
        '{{"reason": "{}"}}',
        '{{"reason": "because\\n{}", "text": "{}"}}',
    ]
)


@given(QUOTED, RATINGS, st.sampled_from(["analyze-rate", "rate-explain", "free-text", "score-only"]))
def test_what_is_quoted_denied_or_reported_is_no_rating(sentence: str, rating: str, form: str) -> None:
    assert (
        read_rating(sentence.replace("{}", rating).replace("{{", "{").replace("}}", "}"), FIVE, form).score
        is None
    )


@given(QUOTED, RATINGS, st.integers(1, 5))
def test_a_quotation_beside_the_rating_changes_nothing(sentence: str, rating: str, score: int) -> None:
    quotation = sentence.replace("{}", rating).replace("{{", "{").replace("}}", "}")
    read = read_rating(f"{quotation}\n\nRating: {score}", FIVE, "analyze-rate")
    assert read.score in (score, None)
    read = read_rating(f"Rating: {score}\n\n{quotation}", FIVE, "rate-explain")
    assert read.score in (score, None)


@given(st.text(), st.sampled_from(["analyze-rate", "rate-explain", "free-text", "score-only", "da"]))
def test_no_string_of_an_object_is_read(inside: str, form: str) -> None:
    import json

    assert read_rating(json.dumps({"reason": inside, "note": inside}), FIVE, form).score is None
    assert read_rating(json.dumps({"reason": inside, "score": 2}), FIVE, form).score == 2
