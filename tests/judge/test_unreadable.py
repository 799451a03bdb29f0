"""Answers that cannot be read: the likely remedy is named."""

from dataclasses import replace

import pytest

from dhp.content.catalog import own_metric, own_task
from dhp.core.records import Rating, RatingStatus
from dhp.judge.check import reasons, remedy, sample_answer

TASK = own_task([own_metric("tone", (1, 5))])


def rated(status: RatingStatus, *answers: str) -> list[Rating]:
    return [Rating(str(i), "original", "tone", 0, None, status, raw) for i, raw in enumerate(answers)]


@pytest.mark.parametrize(
    ("ratings", "cut_off", "own", "helps"),
    [
        (rated("out_of_scale", "7", "8"), 0, True, "7 and 8 lie outside 1-5: `scale` 1..10"),
        (rated("out_of_scale", "85"), 0, True, "85 lie outside 1-5: `scale` 1..100"),
        (rated("out_of_scale", "0"), 0, True, "`scale` 0..5"),
        (rated("out_of_scale", "7"), 0, False, "a prompt of your own with `scale` 1..7"),
        (
            rated("unparsed", "The text", "It is"),
            2,
            True,
            "cut at 16 tokens, they need more room: `max_tokens` 500",
        ),
        (rated("unparsed", "<think>Let me"), 1, False, "thinks before it answers: `max_tokens` 4000"),
        (rated("unparsed", "(no text within 16 tokens)"), 1, True, "`max_tokens` 4000"),
        (rated("unparsed", "Fine.\nPASS", "FAIL: name"), 0, True, "words: `labels` fail,pass"),
        (rated("unparsed", "Yes, it is.", "No."), 0, True, "`labels` no,yes"),
        (rated("unparsed", '{"a": 1}'), 0, True, "`answer` json, with the metrics as keys (tone)"),
        (rated("refused", "I cannot help."), 0, False, "the model refuses"),
        (rated("unparsed", "Hm."), 0, True, 'a last line such as "Rating: N"'),
        (rated("unparsed", "Hm."), 0, False, "`protocol` rate-explain"),
        (
            [replace(r, rule="impossible log-probabilities: 5 is none") for r in rated("unparsed", "4", "3")],
            0,
            False,
            "the server gives impossible log-probabilities: 5 is none: `extraction` parse reads the text",
        ),
    ],
)
def test_the_likely_remedy_is_named(ratings: list[Rating], cut_off: int, own: bool, helps: str) -> None:
    said = remedy(ratings, TASK, tokens=16, cut_off=cut_off, prompt_files=own)
    assert helps in said
    assert "\n" not in said


def test_reasons_are_counted_and_one_answer_is_shown_in_one_line() -> None:
    mixed = [*rated("unparsed", "a\nb\x1b[31m" + "x" * 900), *rated("refused", "no", "no")]
    assert reasons(mixed, 1) == "2 refused, 1 unparsed, 1 of the answers cut off at the limit"
    shown = sample_answer(mixed)
    assert shown.startswith('"a b')
    assert len(shown) < 200
    assert "\x1b" not in shown
    assert sample_answer(rated("unparsed", "")) == '"(an empty answer)"'
