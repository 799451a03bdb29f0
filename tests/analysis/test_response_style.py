"""Response style, halo and what judges share, planted and found."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
import pytest

import dhp
from dhp.analysis.ratings import RatingsArray
from dhp.analysis.scale_use import halo, response_styles
from dhp.analysis.split_ratings import split_ratings
from dhp.core.specs import Task
from dhp.report.notes import notes


def found_words(model: str) -> set[str]:
    result = dhp.run(model, "mini/summeval")[0]
    return {word for style in result.styles.values() for word in style.words}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("ideal", set()),
        ("harsh", {"harsh", "compressed"}),
        ("compressed", {"compressed"}),
        ("lenient?sensitivity=0.1", {"lenient", "compressed"}),
    ],
)
def test_planted_styles_are_named(kind: str, words: set[str]) -> None:
    assert found_words(f"mock/{kind}") == words


@pytest.mark.slow
def test_without_a_scale_no_style_is_named(tmp_path: Path) -> None:
    dhp.run("mock/harsh", "mini/summeval", out=tmp_path / "r")
    unknown = dhp.analyze(tmp_path / "r/ratings.parquet")[0]
    known = dhp.analyze(tmp_path / "r/ratings.parquet", suite="summeval")[0]
    assert {style.words for style in unknown.styles.values()} == {None}
    assert all("harsh" in style.words for style in known.styles.values())
    assert any("response style: harsh" in note for note in notes(known))


class Halo:
    """Gives every metric of a text the same score."""

    model, protocol = "own/halo", "none"

    def rate(self, candidates: Sequence[dhp.Candidate], task: Task) -> Iterator[dhp.Rating]:
        for c in candidates:
            for metric in task.metrics:
                yield dhp.Rating(c.example, c.variant, metric.name, 0, 1 + sum(map(ord, c.text)) % 5)


@pytest.mark.slow
def test_a_halo_is_found() -> None:
    result = dhp.run(Halo(), "mini/summeval")[0]
    for side in ("originals", "degraded"):
        assert all(r == pytest.approx(1) for row in result.halo[side].values() for r in row.values())
    assert any("halo" in note for note in notes(result))
    apart = dhp.run("mock/noisy?sensitivity=0", "mini/summeval")[0]
    assert not any("halo" in note for note in notes(apart))
    assert abs(apart.halo["degraded"]["fluency"]["coherence"]) < 0.3


@pytest.mark.slow
def test_one_metric_has_no_halo() -> None:
    assert dhp.run("mock/ideal", "mini/summeval", metrics=["fluency"])[0].halo == {}


def test_a_halo_of_two_metrics() -> None:
    table = pd.DataFrame(
        [(str(e), "original", metric, s) for metric in ("a", "b") for e, s in enumerate((1, 4, 2, 3))],
        columns=["example", "variant", "metric", "score"],
    )
    (ratings,) = split_ratings(table)
    assert halo(ratings, [])["originals"]["a"]["b"] == pytest.approx(1)


def rated(scores: dict[str, list[float]]) -> RatingsArray:
    rows = [
        {"example": str(e), "variant": v, "metric": "m", "score": score}
        for v, each in scores.items()
        for e, score in enumerate(each)
    ]
    (ratings,) = split_ratings(pd.DataFrame(rows))
    return ratings


def test_the_styles_of_a_metric_are_the_spread_of_either_side() -> None:
    ratings = rated({"original": [1, 2, 3, 5], "a": [1, 1, 2, 2]})
    style = response_styles(ratings, ["a"], None)["m"]
    assert (style.originals.mean, style.degraded.mean, style.words) == (2.75, 1.5, None)
