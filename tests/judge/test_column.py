"""`column/NAME`: what stands in a table of texts, and nothing where nothing stands there."""

import json
import math
from pathlib import Path

import pandas as pd
import pytest
from scipy import stats

import dhp
from dhp.core.errors import InputError
from dhp.judge.judges.column import column_judge


@pytest.fixture
def texts(tmp_path: Path) -> str:
    rows = [
        {"id": "a", "system": "x", "source": "S", "output": "O", "BLEURT": "-0.5"},
        {"id": "a", "system": "y", "source": "S", "output": "P", "BLEURT": "1.25"},
        {"id": "b", "system": "x", "source": "T", "output": "Q", "BLEURT": ""},
        {"id": "b", "system": "y", "source": "T", "output": "R", "BLEURT": "high"},
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "texts.csv", index=False)
    return str(tmp_path / "texts.csv")


@pytest.mark.parametrize(("query", "sign"), [("", 1), ("?better=lower", -1)])
def test_scores_of_a_column(texts: str, query: str, sign: int) -> None:
    frame = dhp.judge(f"column/BLEURT{query}", texts)
    assert set(frame["metric"]) == {"bleurt"}
    assert list(frame["score"][:2]) == [-0.5 * sign, 1.25 * sign]
    assert list(frame["status"][2:]) == ["failed", "unparsed"]


def test_faults(texts: str) -> None:
    with pytest.raises(InputError, match="no column 'BLUERT'; did you mean 'BLEURT'"):
        dhp.judge("column/BLUERT", texts)
    with pytest.raises(InputError, match=r"has no scores of degraded texts; allowed: \?perturbed=COLUMN"):
        dhp.run("column/BLEURT", "mini/summeval", n=2)
    for name, message in (
        ("column/", "its column is missing"),
        ("column/x?worse=1", "unknown setting 'worse'"),
    ):
        with pytest.raises(InputError, match=message):
            column_judge(name)
    with pytest.raises(InputError, match="better 'up'; allowed: higher, lower"):
        column_judge("column/x?better=up")


PAIRS = [
    {
        "id": str(i),
        "source": "S",
        "output": f"O{i}",
        "perturbed": f"P{i}{kind}",
        "kind": kind,
        "scores": {"whole": 0.9, "broken": 0.9 - loss * (i + 1)},
    }
    for i in range(8)
    for kind, loss in (("number", 0.05), ("name", 0.0))
]


def test_scores_beside_pairs_are_a_judge_of_the_benchmark(tmp_path: Path) -> None:
    """One damage lowers the score of every pair, the other of none."""
    pd.DataFrame(PAIRS).to_json(tmp_path / "pairs.jsonl", orient="records", lines=True)
    judge = "column/scores.whole?perturbed=scores.broken"
    (result,) = dhp.run(judge, str(tmp_path / "pairs.jsonl"), task="summarization")
    assert {v.variant: v.detection for v in result.variants} == {"number": 1.0, "name": 0.5}
    (turned,) = dhp.run(f"{judge}&better=lower", str(tmp_path / "pairs.jsonl"), task="summarization")
    assert {v.variant: v.detection for v in turned.variants} == {"number": 0.0, "name": 0.5}
    for wrong, message in (
        (
            "column/scores.whole?perturbed=scores.brokn",
            "no column 'scores.brokn' with numbers beside the pairs",
        ),
        ("column/kind?perturbed=scores.broken", "no column 'kind' with numbers"),
    ):
        with pytest.raises(InputError, match=message):
            dhp.run(wrong, str(tmp_path / "pairs.jsonl"), task="summarization")


@pytest.mark.realdata
@pytest.mark.slow
def test_published_scores_of_bump(real: Path) -> None:
    """Kinds are those that the authors count by; truth is the file itself, and scipy's test."""
    judge = "column/scores.QAFactEval_reference?perturbed=scores.QAFactEval_edited"
    (result,) = dhp.run(judge, "bump", data=real / "bump")
    rows = pd.DataFrame(json.loads((real / "bump" / "task1_dataset.json").read_text()))
    rows["apart"] = [s["QAFactEval_reference"] - s["QAFactEval_edited"] for s in rows["scores"]]
    rows["text"] = rows["edited_summary"].str.strip()
    rows = rows.drop_duplicates(["article_id", "corrected_error_type", "text"])
    assert len(result.variants) == 7
    for variant in result.variants:
        apart = rows.loc[rows["corrected_error_type"] == variant.variant, "apart"]
        assert variant.detection == pytest.approx((apart > 0).mean() + (apart == 0).mean() / 2)
        p = stats.wilcoxon(apart, alternative="greater", zero_method="wilcox", method="exact").pvalue
        if p > 1e-14:  # scipy's tail sums lose themselves beyond
            assert variant.d == pytest.approx(math.log(p) / math.log(0.05), abs=0.1)
