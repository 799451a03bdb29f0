"""Scores that ship with published pairs: small files of their form, and the published ones."""

import json
from pathlib import Path

import pytest

import dhp
from dhp.core.errors import InputError
from dhp.loaders.recorded_scores import read_recorded_scores


def test_bump_scores_are_one_model_a_metric(tmp_path: Path) -> None:
    rows = [
        {
            "article_id": article,
            "error_type": kind,
            "scores": {"A_reference": 0.9, "A_edited": 0.1, "B-2_reference": 0.5, "B-2_edited": "n/a"},
        }
        for article in (7, 8)
        for kind in ("Entity Error", "Circumstance Error")
    ]
    (tmp_path / "bump.json").write_text(json.dumps(rows))
    frame = read_recorded_scores("bump", tmp_path / "bump.json")
    assert len(frame) == 2 * 2 * 3  # metrics, articles, original and two kinds
    chosen = frame[(frame["model"] == "A") & (frame["example"] == "7")]
    assert dict(zip(chosen["variant"], chosen["score"], strict=True)) == {
        "original": 0.9,
        "Entity Error": 0.1,
        "Circumstance Error": 0.1,
    }
    assert frame[frame["model"] == "B-2"]["score"].isna().sum() == 4


def test_the_better_output_of_llmbar_is_the_original(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pairs = [{"id": f"p{i}", "subset": "Natural", "label": 1 + i % 2} for i in range(2)]
    answers = [
        {"id": "p0", "model": "m", "protocol": "Rating", "score_1": "9", "score_2": "2"},
        {"id": "p1", "model": "m", "protocol": "Rating", "score_1": "3", "score_2": "none"},
        {"id": "p0", "model": "m", "protocol": "Vanilla", "answer_as_given": "a", "answer_swapped": "b"},
    ]
    for name, rows in (("pairs", pairs), ("answers-m", answers)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    frame = read_recorded_scores("llmbar", tmp_path)
    assert frame[["example", "variant", "score"]].astype(object).values.tolist()[:3] == [
        ["p0", "original", 9.0],
        ["p0", "Natural", 2.0],
        ["p1", "original", pytest.approx(float("nan"), nan_ok=True)],
    ]
    found = dhp.analyze(frame)
    assert (found.ratings["scored"], found.ratings["unparsed"], found.ratings["failed"]) == (3, 1, 0)
    assert "1 rows have no score" in caplog.text
    assert read_recorded_scores("llmbar", tmp_path / "answers-m.jsonl").equals(frame)


def test_errors(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"article_id": 1, "error_type": "x", "scores": 3}]')
    with pytest.raises(InputError, match="row 1: column 'scores' holds no object"):
        read_recorded_scores("bump", tmp_path / "a.json")
    with pytest.raises(InputError, match="`format` 'bumb': unknown; did you mean 'bump'"):
        read_recorded_scores("bumb", tmp_path / "a.json")
    with pytest.raises(InputError, match=r"pairs\.jsonl: no such file; the labels of LLMBar must lie beside"):
        read_recorded_scores("llmbar", tmp_path)


@pytest.mark.realdata
def test_recorded_ratings_of_llmbar(real: Path) -> None:
    frame = read_recorded_scores("llmbar", real / "llmbar")
    results = dhp.analyze(frame[frame["protocol"] == "Rating"])
    d = {r.model: {v.variant: round(v.d or 0, 2) for v in r.variants} for r in results}
    kinds = ("GPTInst", "GPTOut", "Manual", "Neighbor", "Natural")
    assert d["GPT-4"] == dict(zip(kinds, (11.96, 2.73, 5.35, 10.11, 16.32), strict=True))
    assert d["ChatGPT"] == dict(zip(kinds, (0.00, 0.29, 0.04, 0.00, 5.66), strict=True))
    (chatgpt,) = [r for r in results if r.model == "ChatGPT"]
    assert chatgpt.variants[0].effect == pytest.approx(-0.39, abs=0.005)


@pytest.mark.realdata
def test_recorded_scores_of_bump(real: Path) -> None:
    frame = read_recorded_scores("bump", real / "bump" / "task1_dataset.json")
    chosen = frame[frame["model"].isin(["QAFactEval", "CoCo", "DAE"])]
    d = {r.model: [v.d or 0 for v in r.variants] for r in dhp.analyze(chosen)}
    ends = {model: (round(min(each), 1), round(max(each), 1)) for model, each in d.items()}
    assert ends == {"QAFactEval": (4.5, 19.7), "CoCo": (11.2, 20.9), "DAE": (11.4, 19.8)}
