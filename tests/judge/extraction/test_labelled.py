"""Answers with the reading that a person gave them: none is misread, and few are lost."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.specs import Scale
from dhp.judge.extraction.rating import read_rating
from tests.scripts import loaded

DATA = Path(__file__).resolve().parents[2] / "data"
FIVE = Scale(min=1, max=5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "least", "misread", "lost"),
    [
        ("answers.jsonl", 3_000, 0.0, 0.03),
        ("ordinary_answers.jsonl", 300, 0.0, 0.08),
        ("hostile_answers.jsonl", 200, 0.03, 1.0),
    ],
)
def test_hardly_any_labelled_answer_is_misread_and_few_are_lost(
    file: str, least: int, misread: float, lost: float
) -> None:
    script = loaded("extraction")
    rows = list(script.labelled(DATA / file))
    outcomes = [(script.outcome(row), row) for row in rows]
    wrong = [row for outcome, row in outcomes if outcome == "misread"]
    assert len(rows) >= least
    assert len(wrong) <= misread * len(rows), wrong
    assert sum(outcome == "lost" for outcome, _ in outcomes) <= lost * len(rows)


@pytest.mark.slow
@pytest.mark.realdata
def test_other_labelled_answers_are_hardly_misread(real: Path) -> None:
    script = loaded("extraction")
    outcomes = [script.outcome(row) for row in script.labelled(real / "labelled_answers" / "answers.jsonl")]
    assert outcomes.count("misread") == 0
    assert outcomes.count("lost") <= 0.03 * len(outcomes)


@pytest.mark.realdata
def test_traps_are_hardly_misread(real: Path) -> None:
    script = loaded("extraction")
    rows = list(script.labelled(real / "labelled_answers" / "traps.jsonl"))
    outcomes = [script.outcome(row | {"metric": "coherence"}) for row in rows]
    with_a_right = sum(row["right"] is not None for row in rows)
    read_right = sum(o == "right" and row["right"] is not None for o, row in zip(outcomes, rows, strict=True))
    assert outcomes.count("misread") <= 0.02 * len(rows)
    assert read_right >= 0.3 * with_a_right


@pytest.mark.realdata
@pytest.mark.slow
def test_a_rating_in_an_early_sentence_of_real_answers_is_read(real: Path) -> None:
    """`right` is the number on which all ratings of an answer agree, found by a plain rule of its own."""
    with gzip.open(real / "judge_responses" / "llama2.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["right"] is not None]
    read = [read_rating(r["response"], FIVE, "analyze-rate", names=(r["metric"],)).score for r in rows]
    assert len(rows) == 7_942
    assert [row for row, score in zip(rows, read, strict=True) if score not in (row["right"], None)] == []
    assert read.count(None) <= 0.01 * len(rows)


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
    assert read_rating(json.dumps({"reason": inside, "note": inside}), FIVE, form).score is None
    assert read_rating(json.dumps({"reason": inside, "score": 2}), FIVE, form).score == 2
