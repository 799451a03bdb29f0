"""What scores say without damaged copies: figures by hand, and the logs of which they are read."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy.stats import binomtest

from dhp.analysis.score_profile import score_profiles
from dhp.core.errors import InputError
from dhp.core.ratings_table import ScoresAlone, read_ratings
from tests.cli.conftest import Run

SCORES = [8, 8, 8, 7, 9, 8, 7, 8]


def table(scores: list[Any] = SCORES, **columns: object) -> pd.DataFrame:
    return pd.DataFrame({"metric": "quality", "score": scores, **columns})


def test_ties_points_and_what_passes_by_hand() -> None:
    (profile,) = score_profiles(table(), {"": "8"})
    pairs = list(combinations(SCORES, 2))
    assert profile.ties == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
    assert list(profile.points.items()) == [(8.0, 5 / 8), (7.0, 2 / 8), (9.0, 1 / 8)]
    assert profile.passes is not None
    assert profile.passes.value == 6 / 8
    assert (profile.texts, profile.repeated) == (8, None)


def test_the_interval_of_what_passes_is_that_of_wilson_with_many_texts() -> None:
    (profile,) = score_profiles(table(SCORES * 50), {"": "8"})
    assert profile.passes is not None
    wilson = binomtest(300, 400).proportion_ci(method="wilson")
    assert profile.passes.ci == pytest.approx((wilson.low, wilson.high), abs=0.001)


def test_without_a_mark_only_verdicts_pass() -> None:
    assert score_profiles(table())[0].passes is None
    (verdicts,) = score_profiles(table([1, 1, 0, 1, None]))
    assert verdicts.passes is not None
    assert (verdicts.passes.value, verdicts.unscored) == (0.75, 1)
    with pytest.raises(InputError, match="pass_mark"):
        score_profiles(table(), {"style": "8"})


def test_repeated_judgements_of_a_text_agree_as_often_as_two_of_them() -> None:
    """Two of three alike: one pair of three; both alike; both different."""
    frame = table([5, 5, 4, 3, 3, 2, 1, 9], example=[*"aaabbcc", "d"])
    (profile,) = score_profiles(frame)
    assert profile.texts == 4
    assert profile.repeated is not None
    assert (profile.repeated.value, profile.repeated.n) == (pytest.approx((1 / 3 + 1 + 0) / 3), 3)
    assert profile.mean == pytest.approx(((14 / 3) + 3 + 1.5 + 9) / 4)


def test_judges_and_metrics_stand_apart() -> None:
    frame = pd.concat([table(model="a"), table([1] * 8, model="b"), table(model="a").assign(metric="tone")])
    found = {(each.judge, each.metric): len(each.points) for each in score_profiles(frame)}
    assert found == {("a", "quality"): 3, ("b", "quality"): 1, ("a", "tone"): 3}


LANGSMITH = [
    {
        "id": str(n),
        "inputs": json.dumps({"question": f"q{n}"}),
        "outputs": json.dumps({"answer": f"a{n}"}),
        "reference_outputs": "",
        "status": "success",
        "latency": 1.5,
        "total_cost": 0.01,
        "quality": score,
    }
    for n, score in enumerate(SCORES)
]
PANDAS = [
    {"inputs.question": f"q{n}", "outputs.answer": f"a{n}", "execution_time": 2, "feedback.quality": score}
    for n, score in enumerate(SCORES)
]
LANGFUSE = [
    {"traceId": f"t{n}", "name": "quality", "value": score, "dataType": "NUMERIC", "source": "EVAL"}
    for n, score in enumerate(SCORES)
]
EVENT = "gen_ai.evaluation"
EVENTS = [
    {"name": f"{EVENT}.result", "attributes": {f"{EVENT}.name": "quality", f"{EVENT}.score.value": score}}
    for score in SCORES
]
FLAT = [each["attributes"] for each in EVENTS]
SPANS = [{"name": "chat", "attributes": {}, "events": [event]} for event in EVENTS]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("langsmith.csv", LANGSMITH),
        ("pandas.csv", PANDAS),
        ("langsmith.jsonl", PANDAS),
        ("langfuse.csv", LANGFUSE),
        ("langfuse.jsonl", LANGFUSE),
        ("langfuse.json", {"data": LANGFUSE, "meta": {"page": 1}}),
        ("events.jsonl", EVENTS),
        ("flat.jsonl", FLAT),
        ("spans.jsonl", SPANS),
        ("own.csv", [{"id": n, "score": score} for n, score in enumerate(SCORES)]),
    ],
)
def test_logs_without_copies_are_answered(dhp: Run, tmp_path: Path, name: str, rows: Any) -> None:
    path = tmp_path / name
    if path.suffix == ".csv":
        pd.DataFrame(rows).to_csv(path, index=False)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        path.write_text(json.dumps(rows))
    done = dhp("analyze", name, "--pass-mark", "8")
    assert done.code == 0, done.err
    first, *_ = done.out.splitlines()
    assert "uses 3 points of its scale, 62% of scores are 8; two texts tie in 39% of pairs; 75% (" in first
    assert "dhp perturb --dataset" in done.out
    assert "same again" not in done.out
    (profile,) = json.loads(dhp("analyze", name, "--json").out)["profiles"]
    assert (profile["metric"], profile["texts"]) == ("overall" if name == "own.csv" else "quality", 8)


def test_people_in_langfuse_stand_apart_and_words_are_no_numbers(tmp_path: Path) -> None:
    rows = [
        {"trace_id": "t", "name": "ok", "value": 1, "data_type": "BOOLEAN", "source": "EVAL"},
        {"trace_id": "t", "name": "ok", "value": 0, "data_type": "BOOLEAN", "source": "ANNOTATION"},
        {
            "trace_id": "t",
            "name": "tone",
            "string_value": "polite",
            "value": None,
            "data_type": "CATEGORICAL",
        },
    ]
    path = tmp_path / "scores.json"
    path.write_text(json.dumps(rows))
    with pytest.raises(ScoresAlone) as alone:
        read_ratings(path)
    found = {row.metric: (row.score, row.status) for row in alone.value.frame.itertuples()}
    assert found == {"ok": (1.0, "scored"), "ok (people)": (0.0, "scored"), "tone": (None, "failed")}


def test_people_beside_a_judge_are_sent_to_correlate(dhp: Run) -> None:
    pd.DataFrame({"id": [1, 2], "text": "t", "judge": [7, 8], "thumb": ["up", "down"]}).to_csv("t.csv")
    done = dhp("analyze", "t.csv")
    assert done.code == 2
    assert "column 'score' is missing" in done.err
    assert "dhp correlate t.csv" in done.err


def test_a_misspelt_variant_is_no_log_without_copies(dhp: Run) -> None:
    pd.DataFrame({"example": [1, 1], "varient": ["original", "typos"], "score": [7, 6]}).to_csv("t.csv")
    done = dhp("analyze", "t.csv")
    assert (done.code, "'varient'" in done.err) == (2, True)
