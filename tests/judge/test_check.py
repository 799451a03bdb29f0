"""Whatever a judge returns, no failure becomes a score and no nonsense becomes a result."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dhp
from dhp.core.errors import InputError
from dhp.core.specs import Task

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
    assert {v.d for v in result.variants} == {None}
    assert result.d_avg is None


def test_what_a_judge_leaves_out_is_failed_and_counted() -> None:
    result = run(lambda r: None if r.example == "qa-01" and r.variant != "original" else r)
    dropped = 6 - result.variants[0].metrics["answer_quality"].n
    assert result.ratings["asked"] == 60
    assert result.ratings["failed"] == 9 * dropped
    assert all(
        v.metrics["answer_quality"].missing == dropped and v.not_applicable == 0 for v in result.variants
    )


def test_a_judge_that_says_nothing_has_no_figures() -> None:
    result = run(lambda r: None)
    assert (result.ratings["failed"], result.d_avg, result.d_min) == (60, None, None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metric": "quality"}, "unknown metric 'quality'; did you mean 'answer_quality'"),
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


def test_what_is_no_judge_is_refused() -> None:
    class Silent(Twisted):
        def rate(self, candidates: Sequence[dhp.Candidate], task: Task) -> Iterator[dhp.Rating]:
            return None  # type: ignore[return-value]

    with pytest.raises(InputError, match=r"rate\(\) returned None"):
        dhp.run(Silent(lambda r: r), "mini/answer_equivalence", n=2)
    for thing in (object(), Twisted, 7):
        with pytest.raises(InputError, match="of an unknown shape"):
            dhp.run(thing, "mini/answer_equivalence", n=2)  # type: ignore[arg-type]


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
    for c in (c for c in seen if c.variant == "random_typos"):
        reachable = [c.source, *c.fields.values()]
        assert not any(text in r for r in reachable for text in (originals[c.example], wrong[c.example]))
