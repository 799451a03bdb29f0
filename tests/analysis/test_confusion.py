"""What a judge confused, and how steady it is, as results and reports say it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
import pytest

import dhp
from dhp.core.specs import Task
from dhp.report.notes import notes
from dhp.report.page import html_report
from dhp.runs.reader import read_run


class Confuses:
    """Lowers one metric by a point for every degraded text, whatever was done to it."""

    protocol = "none"

    def __init__(self, metric: str) -> None:
        self.model = f"own/{metric}"
        self.metric = metric

    def rate(self, candidates: Sequence[dhp.Candidate], task: Task) -> Iterator[dhp.Rating]:
        for c in candidates:
            for metric in task.metrics:
                fell = c.level not in (None, "control") and metric.name == self.metric
                yield dhp.Rating(c.example, c.variant, metric.name, 0, 3 if fell else 4)


@pytest.mark.slow
@pytest.mark.parametrize(("metric", "expected"), [("coherence", 0.2), ("fluency", 0.9), ("relevance", 1.0)])
def test_planted_confusion_is_found(metric: str, expected: float) -> None:
    """Reordering should hurt coherence (0.8), consistency and fluency (0.1 each)."""
    result = dhp.run(Confuses(metric), "mini/summeval", n=8, analysis=dhp.AnalysisConfig(weights="design"))
    (row,) = [v for v in result.variants if v.variant == "reordering.major"]
    assert row.misplaced == pytest.approx(expected)
    assert {m: c.weight for m, c in row.metrics.items()} == {
        "coherence": 0.8,
        "consistency": 0.1,
        "fluency": 0.1,
        "relevance": 0.0,
    }


@pytest.mark.slow
def test_without_expert_weights_nothing_is_misplaced() -> None:
    result = dhp.run(Confuses("fluency"), "mini/summeval", analysis=dhp.AnalysisConfig(weights="uniform"))
    assert {v.misplaced for v in result.variants} == {None}
    assert {c.weight for v in result.variants for c in v.metrics.values()} == {None}


@pytest.mark.slow
def test_steadiness_and_one_dominant_score(tmp_path: Path) -> None:
    noisy, steady = dhp.run(["mock/noisy?samples=5", "mock/ideal?samples=5"], "mini/story_cloze")
    assert noisy.repeats["fluency"]["identical"] < 0.2
    assert noisy.repeats["fluency"]["icc"] < 0.6
    assert steady.repeats["fluency"]["identical"] == steady.repeats["fluency"]["icc"] == 1
    constant = dhp.run("baseline/constant", "mini/story_cloze", out=tmp_path)
    assert constant.repeats["fluency"]["dominance"] == 1
    assert "fluency: 100% of all its scores are the same one" in notes(constant[0])
    assert "100% of all its scores" in html_report(read_run(tmp_path))


def test_failed_samples_are_no_scores() -> None:
    rows = [
        ("a", "original", 0, 4.0), ("a", "original", 1, None), ("a", "x", 0, 3.0), ("a", "x", 1, 3.0),
        ("b", "original", 0, 5.0), ("b", "original", 1, 5.0), ("b", "x", 0, None), ("b", "x", 1, None),
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["example", "variant", "sample", "score"]).assign(metric="m")
    frame["status"] = ["unparsed" if pd.isna(s) else "scored" for s in frame["score"]]
    (result,) = dhp.analyze(frame)
    assert result.repeats["m"]["identical"] == 1
    assert result.repeats["m"]["within"] == 0
    assert result.repeats["m"]["distinct"] == 3
