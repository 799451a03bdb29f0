"""Whatever a judge returns, no failure becomes a score and no nonsense becomes a result."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dhp
from dhp.content.own_task import own_metric, own_task
from dhp.core.errors import InputError
from dhp.core.records import Rating, RatingStatus
from dhp.core.specs import Task
from dhp.judge.unreadable import reasons, remedy, sample_answer

Twist = Callable[[dhp.Rating], dhp.Rating | None]


class Twisted:
    """Gives everything a 3, after `twist` had its way with each rating."""

    model = "own/twisted"
    protocol = "none"

    def __init__(self, twist: Twist) -> None:
        self.twist = twist

    def rate(self, candidates: Sequence[dhp.Candidate], task: Task) -> Iterator[dhp.Rating]:
        for c in candidates:
            for metric in task.metrics:
                rating = self.twist(dhp.Rating(c.example, c.variant, metric.name, 0, 3.0))
                if rating is not None:
                    yield rating


def run(twist: Twist) -> dhp.Result:
    return dhp.run(Twisted(twist), "mini/answer_equivalence", n=6, controls=False)[0]


def test_off_the_scale_is_no_score() -> None:
    result = run(lambda r: replace(r, score=99) if r.variant == "original" else r)
    assert (result.ratings["out_of_scale"], result.ratings["scored"]) == (6, 54)
    # No pair says which text is worse.
    assert {(v.d, v.detection) for v in result.variants} == {(0, 0.5)}
    assert result.mute


def test_what_a_judge_leaves_out_is_failed_and_counted() -> None:
    result = run(lambda r: None if r.example == "qa-01" and r.variant != "original" else r)
    dropped = 6 - result.variants[0].metrics["answer_quality"].n
    assert result.ratings["asked"] == 60
    assert result.ratings["failed"] == 9 * dropped
    for variant in result.variants:
        assert (variant.metrics["answer_quality"].missing, variant.not_applicable) == (dropped, 0)


def test_a_judge_that_says_nothing_has_no_figures() -> None:
    result = run(lambda r: None)
    assert (result.ratings["failed"], result.d_avg, result.d_min) == (60, None, None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metric": "quality"}, "unknown metric 'quality'.*'answer_quality'"),
        ({"example": "qa-99"}, "not asked to rate"),
        ({"variant": "random_typo.minor"}, "not asked to rate"),
        ({"sample": "a"}, "sample 'a' is not a whole number"),
        ({"score": 10**400}, "is not a number"),
        ({"score": np.True_}, "is not a number"),
        ({"score": "4"}, "score '4' is not a number"),
        ({"score": True}, "score True is not a number"),
        ({"score": float("nan")}, "score nan is not a number"),
        ({"score": None}, "score None is not a number"),
        ({"status": "ok"}, "unknown status 'ok'"),
    ],
)
def test_a_broken_judge_is_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        run(lambda r: replace(r, **change))  # type: ignore[arg-type]
    assert str(caught.value).startswith("judge 'own/twisted', example 'qa-")


def test_what_is_no_rating_is_named() -> None:
    with pytest.raises(InputError, match=r"judge 'own/twisted': yielded a tuple; must yield"):
        run(lambda r: ("qa-01", 3))  # type: ignore[arg-type, return-value]


def test_a_sample_given_twice_is_named() -> None:
    class Twice(Twisted):
        def rate(self, candidates: Sequence[dhp.Candidate], task: Task) -> Iterator[dhp.Rating]:
            return (rating for rating in super().rate(candidates, task) for _ in range(2))

    with pytest.raises(InputError, match="metric 'answer_quality': duplicate sample 0"):
        dhp.run(Twice(lambda r: r), "mini/answer_equivalence", n=2)


@pytest.mark.parametrize("number", [np.int64(3), np.float32(2.5), 4])
def test_numbers_of_numpy_are_numbers(number: float) -> None:
    assert run(lambda r: replace(r, score=number)).ratings["scored"] == 60


def test_what_returns_no_ratings_is_refused() -> None:
    class Silent(Twisted):
        def rate(self, candidates: Sequence[dhp.Candidate], task: Task) -> Iterator[dhp.Rating]:
            return None  # type: ignore[return-value]

    with pytest.raises(InputError, match=r"rate\(\) returned None"):
        dhp.run(Silent(lambda r: r), "mini/answer_equivalence", n=2)


@pytest.mark.slow
def test_an_odd_raw_answer_is_kept_as_text(tmp_path: Path) -> None:
    twisted = Twisted(lambda r: replace(r, raw="\ud800" if r.variant == "original" else {"answer": 3}))  # type: ignore[arg-type]
    dhp.run(twisted, "mini/answer_equivalence", n=2, out=tmp_path / "r")
    assert "{'answer': 3}" in set(pd.read_parquet(tmp_path / "r" / "ratings.parquet")["raw"])


def test_a_judge_can_not_reach_the_original_or_another_copy() -> None:
    seen: list[dhp.Candidate] = []

    class Spy(Twisted):
        def rate(self, candidates: Sequence[dhp.Candidate], task: Task) -> Iterator[dhp.Rating]:
            seen.extend(candidates)
            return super().rate(candidates, task)

    dhp.run(Spy(lambda r: r), "mini/story_cloze", n=6)
    originals = {c.example: c.text for c in seen if c.variant == "original"}
    wrong = {c.example: c.text for c in seen if c.variant == "wrong_ending"}
    for candidate in [c for c in seen if c.variant == "random_typos"]:
        for shown in (candidate.source, *candidate.fields.values()):
            assert originals[candidate.example] not in shown
            assert wrong[candidate.example] not in shown


# Answers that cannot be read ---------------------------------------------------------------------------

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
