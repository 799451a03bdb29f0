"""Several ratings in one JSON object."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.judge.extraction.rating import read_object

METRICS = {"tone": "tone", "answer_quality": "answer quality"}


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ('{"tone": 4, "answer_quality": 2}', {"tone": "4", "answer_quality": "2"}),
        ('```json\n{"Tone": "4", "Answer Quality": 2.5}\n```', {"tone": "4", "answer_quality": "2.5"}),
        ('So: {"tone": {"reason": "a", "score": 3}} done', {"tone": "3"}),
        ('{"scores": {"tone": 1}}', {"tone": "1"}),
        ('{"tone": 1} no: {"tone": 2}', {"tone": "2"}),
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
def test_it_never_raises(answer: str) -> None:
    assert read_object(answer, METRICS) is None or "tone" in answer


@given(st.dictionaries(st.sampled_from(sorted(METRICS)), st.integers(1, 5), min_size=1))
def test_what_was_written_is_read(scores: dict[str, int]) -> None:
    assert read_object(json.dumps(scores), METRICS) == {name: str(score) for name, score in scores.items()}
