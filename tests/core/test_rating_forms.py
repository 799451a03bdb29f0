"""Recorded judgements in their three forms: scores by hand, what could not be read, what was not asked."""

from pathlib import Path

import pandas as pd
import pytest

import dhp
from dhp.core.errors import InputError
from dhp.core.rating_forms import as_ratings
from dhp.loaders.recorded_texts import recorded_texts


def rated(frame: pd.DataFrame) -> list[tuple[str, str, float | None, str]]:
    """Example, variant, score and status of each rating."""
    made = as_ratings(frame, "file")
    scores = [None if score != score else score for score in made["score"]]
    return list(zip(made["example"], made["variant"], scores, made["status"], strict=True))


def test_a_verdict_with_its_confidence_is_a_score() -> None:
    rows = [
        ("a", "original", "true", 0.9),
        ("a", "worse", "no", "0.75"),
        ("b", "original", True, None),
        ("b", "worse", None, 1.0),
    ]
    frame = pd.DataFrame(rows, columns=["example", "variant", "verdict", "confidence"])
    assert rated(frame) == [
        ("a", "original", 0.9, "scored"),
        ("a", "worse", 0.25, "scored"),
        ("b", "original", None, "unparsed"),
        ("b", "worse", None, "unparsed"),
    ]
    assert [score for _, _, score, _ in rated(frame.drop(columns="confidence"))] == [1.0, 0.0, 1.0, None]


def test_comparisons_are_two_order_scores() -> None:
    rows = [
        ("a", "original", "original"),
        ("b", "original", "tie"),
        ("c", "original", "degraded"),
        ("d", "degraded", "degraded"),
        ("e", "original", ""),
    ]
    frame = pd.DataFrame(rows, columns=["example", "original_first", "original_second"]).assign(variant="v")
    made = as_ratings(frame, "file")
    assert [row[2] for row in rated(frame)] == [0.0] * 5 + [-1.0, -0.5, 0.0, 1.0, -0.5]
    assert made["rule"].tolist()[5:] == ["agree", "one tie", "flip", "agree", "one silent"]
    result = dhp.analyze(frame)[0]
    assert (result.statistics, result.variants[0].n, result.ratings["unparsed"]) == ("sign-flip", 5, 0)
    assert result.variants[0].detection == (1 + 1 + 0.5 + 0 + 1) / 5


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"verdict": ["maybe"]}, "file: row 1: verdict is 'maybe'; allowed: true, yes, 1, false, no, 0, or"),
        ({"verdict": ["no"], "confidence": [70]}, "row 1: confidence is '70'; must be a number from 0 to 1"),
        ({"original_first": ["A"], "original_second": ["tie"]}, "original_first is 'A'; allowed: original"),
    ],
)
def test_other_values_are_refused_with_their_row(columns: dict[str, list[object]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_ratings(pd.DataFrame({"example": ["a"], "variant": ["v"], **columns}), "file")


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    """Ten originals; of the degraded texts six were asked about, of which one could not be read."""
    rows = [(f"e{i}", "original", 5) for i in range(10)]
    rows += [(f"e{i}", "worse", None if i == 3 else 2) for i in range(6)]
    frame = pd.DataFrame(rows, columns=["example", "variant", "score"])
    frame.assign(model="J").to_csv(tmp_path / "graded.csv", index=False)
    return tmp_path / "graded.csv"


def test_the_n_beside_a_figure_is_what_it_rests_on(graded: Path) -> None:
    (result,) = dhp.run(f"recorded/{graded}", progress=None)
    (row,) = result.variants
    assert (result.model, result.n, row.n, row.metrics["overall"].missing) == ("J", 10, 6, 0)
    assert result.ratings == {
        "asked": 16,
        "scored": 15,
        "unparsed": 1,
        "refused": 0,
        "out_of_scale": 0,
        "failed": 0,
    }


def test_the_texts_of_a_file_keep_their_order(graded: Path) -> None:
    texts = recorded_texts(graded)
    assert [example.id for example in texts.examples] == [f"e{i}" for i in range(10)]
    assert [text.example for text in texts.pairs] == [f"e{i}" for i in range(6)]


@pytest.mark.slow
def test_texts_without_a_judgement_are_not_asked_about(graded: Path) -> None:
    texts = [
        {"id": f"e{i}", "output": f"Text {i}.", "perturbed": f"Txt {i}.", "kind": "worse"} for i in range(49)
    ]
    (result,) = dhp.run(f"recorded/{graded}", texts, progress=None)
    assert (result.n, result.variants[0].n, result.ratings["asked"]) == (10, 6, 16)
    with pytest.raises(InputError, match="has no judgement of any of these texts"):
        dhp.run(f"recorded/{graded}", [{**row, "kind": "other"} for row in texts], progress=None)


@pytest.mark.slow
def test_each_judge_of_a_file_is_one(tmp_path: Path) -> None:
    rows = [(m, f"e{i}", v, s) for m in "AB" for i in range(6) for v, s in (("original", 5), ("worse", 2))]
    frame = pd.DataFrame(rows, columns=["model", "example", "variant", "score"])
    frame.to_json(tmp_path / "both.jsonl", orient="records", lines=True)
    assert [r.model for r in dhp.run(f"recorded/{tmp_path}/both.jsonl", progress=None)] == ["A", "B"]
    assert [r.model for r in dhp.run(f"recorded/{tmp_path}/both.jsonl?model=B", progress=None)] == ["B"]
    with pytest.raises(InputError, match="no model 'C' in the file"):
        dhp.run(f"recorded/{tmp_path}/both.jsonl?model=C", progress=None)
