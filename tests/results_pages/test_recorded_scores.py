"""Scores that ship with published pairs: small files of their form, and the published ones."""

import json
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from results_pages.recorded_scores import read_recorded_scores
from scipy.stats import wilcoxon

import dhp
from dhp.analysis.results import VariantResult
from dhp.core.errors import InputError


def test_bump_scores_are_one_model_a_metric(tmp_path: Path) -> None:
    rows = [
        {
            "article_id": article,
            "corrected_error_type": kind,
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


def test_an_article_of_bump_may_have_several_errors_of_one_kind(tmp_path: Path) -> None:
    scores = [{"A_reference": 0.9, "A_edited": edited} for edited in (0.1, 0.2)]
    rows = [{"article_id": 7, "corrected_error_type": "Entity Error", "scores": each} for each in scores]
    (tmp_path / "bump.json").write_text(json.dumps(rows))
    frame = read_recorded_scores("bump", tmp_path / "bump.json")
    worse = frame[frame["variant"] == "Entity Error"]
    assert worse[["example", "score", "cluster"]].values.tolist() == [["7", 0.1, "7"], ["7~2", 0.2, "7"]]


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
    assert caplog.text == ""
    assert read_recorded_scores("llmbar", tmp_path / "answers-m.jsonl").equals(frame)


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def prompt(name: str, *answers: object, subset: str = "Math", judge: str = "J") -> dict[str, object]:
    return {"id": name, "subset": subset, "judge": judge, "scores": list(answers)}


def variants(file: Path, form: str, **chosen: str) -> dict[str, VariantResult]:
    frame = read_recorded_scores(form, file)
    for column, value in chosen.items():
        frame = frame[frame[column] == value]
    (result,) = dhp.analyze(frame)
    return {row.variant: row for row in result.variants}


def test_each_worse_answer_is_a_pair_with_the_good_one(tmp_path: Path) -> None:
    """Means by hand: 7 against 6.5, 7 (null left out) and 8; the id stands in another subset, too."""
    file = lines(
        tmp_path / "a.jsonl",
        prompt("1", [8, 6], [6, 7], [7, None], [8, 8]),
        prompt("1", [5, 5], [1, 1], [None, None], subset="Safety"),
    )
    frame = read_recorded_scores("rewardbench2", file)
    assert set(frame["cluster"]) == {"Math/1", "Safety/1"}
    assert set(frame["example"]) == {"Math/1", "Math/1~2", "Math/1~3", "Safety/1", "Safety/1~2"}
    found = variants(file, "rewardbench2")
    math, safety = (found[name].metrics["score"] for name in ("Math", "Safety"))
    assert (math.n, math.fell, math.tied, math.rose) == (3, *(pytest.approx(1 / 3),) * 3)
    assert (safety.n, safety.unread, safety.fell, safety.tied) == (2, 1, 0.5, 0.5)  # silence is a tie
    (result,) = dhp.analyze(frame)
    assert (result.clusters, result.ratings["unparsed"]) == (2, 3)


def test_several_files_are_several_judges(tmp_path: Path) -> None:
    files = [
        lines(tmp_path / f"{judge}.jsonl", prompt("1", [good], [3], judge=judge))
        for judge, good in (("high", 4), ("low", 2))
    ]
    results = dhp.analyze(read_recorded_scores("rewardbench2", *files))
    assert {r.model: r.variants[0].metrics["score"].fell for r in results} == {"high": 1.0, "low": 0.0}


def test_answers_to_one_prompt_are_not_taken_for_independent(tmp_path: Path) -> None:
    """Where every worse answer of a prompt gets one and the same score, three of them tell what one does."""
    scores = [(5, 3), (5, 6), (4, 2), (7, 1), (3, 3), (6, 2), (5, 8), (6, 4), (7, 5), (9, 2)]
    once, thrice = (
        lines(tmp_path / f"{k}.jsonl", *(prompt(str(i), [a], *[[b]] * k) for i, (a, b) in enumerate(scores)))
        for k in (1, 3)
    )
    one, three = (variants(file, "rewardbench2")["Math"] for file in (once, thrice))
    assert three.metrics["score"].n == 30
    assert three.detection == one.detection == 0.75
    assert one.detection_ci
    assert three.detection_ci
    apart = dhp.analyze(read_recorded_scores("rewardbench2", thrice).drop(columns="cluster"))
    naive = apart[0].variants[0].detection_ci
    assert naive
    width, same, narrow = (ci[1] - ci[0] for ci in (one.detection_ci, three.detection_ci, naive))
    assert same > 0.9 * width > 1.2 * narrow


ratings = st.lists(st.none() | st.integers(-3, 10), min_size=1, max_size=4)


@given(st.lists(st.lists(ratings, min_size=2, max_size=4), min_size=1, max_size=5))
def test_any_file_of_ratings_comes_back_whole(
    tmp_path_factory: pytest.TempPathFactory, prompts: list[list[list[int | None]]]
) -> None:
    file = lines(
        tmp_path_factory.mktemp("rb2") / "a.jsonl", *(prompt(str(i), *p) for i, p in enumerate(prompts))
    )
    frame = read_recorded_scores("rewardbench2", file).astype({"score": float})
    found: dict[tuple[str, str, str], list[int | None]] = {}
    for row in frame.itertuples():
        assert (row.status == "unparsed") == bool(np.isnan(row.score))
        scores = found.setdefault((row.cluster, row.example, row.variant), [])
        assert row.sample == len(scores)
        scores.append(None if np.isnan(row.score) else int(row.score))
    expected = {}
    for i, (good, *worse) in enumerate(prompts):
        for k, own in enumerate(worse, 1):
            about = (f"Math/{i}", f"Math/{i}" + (f"~{k}" if k > 1 else ""))
            expected |= {(*about, "original"): good, (*about, "Math"): own}
    assert found == expected


def test_reward_models_on_judgebench(tmp_path: Path) -> None:
    """A model that one pair lacks has a pair less; one whose score is null has a tie, and that is counted."""
    row = {"kind": "code", "better": "A"}
    file = lines(
        tmp_path / "r.jsonl",
        {
            **row,
            "pair_id": "a",
            "scores": {"M.1": {"better": 2.5, "worse": 2}, "N": {"better": 1, "worse": 3}},
        },
        {**row, "pair_id": "b", "scores": {"M.1": {"better": 1, "worse": None}}},
    )
    m, n = (variants(file, "judgebench", model=model)["code"].metrics["score"] for model in ("M.1", "N"))
    assert (m.n, m.unread, m.fell, m.tied) == (2, 1, 0.5, 0.5)
    assert (n.n, n.unread, n.fell) == (1, 0, 0.0)


def agent(folder: Path) -> Path:
    runs = [("i1", None, True), ("i1", "lies", True), ("i1", "stops", False), ("i2", None, True)]
    runs += [("i2", "lies", False), ("i3", "lies", True)]
    lines(
        folder / "trajectories.jsonl",
        *(
            {
                "trajectory_id": f"{instance}-{fault or 'clean'}",
                "instance_id": instance,
                "label": {"faulty": bool(fault), "failure_type": fault, "outcome_correct": correct},
            }
            for instance, fault, correct in runs
        ),
    )
    said = {
        "i1-clean": (False, 0.9),  # sound: .9
        "i1-lies": (True, 0.9),  # .1
        "i1-stops": (False, 0.9),  # .9: a tie
        "i2-clean": (True, 0.6),  # .4
        "i2-lies": (False, 0.7),  # .7: the faulty run is preferred
    }
    rows = [
        {"trajectory_id": run, "judge_id": "J", "faulty": faulty, "confidence": confidence, "error": None}
        for run, (faulty, confidence) in said.items()
    ]
    lines(folder / "verdicts.jsonl", *rows)
    return folder


def test_a_faulty_run_is_a_pair_with_its_sound_twin(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    found = variants(agent(tmp_path), "trajectory")
    assert {kind: (row.level, row.detection) for kind, row in found.items()} == {
        "lies.silent": ("silent", 1.0),
        "stops.loud": ("loud", 0.5),
        "lies.loud": ("loud", 0.0),
    }
    assert "left out of 4 faulty runs: 1 without a sound one" in caplog.text
    assert read_recorded_scores("trajectory", tmp_path / "verdicts.jsonl").equals(
        read_recorded_scores("trajectory", tmp_path)
    )


def test_a_verdict_that_is_missing_failed(tmp_path: Path) -> None:
    file = agent(tmp_path) / "verdicts.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    lines(file, *rows[:2], {**rows[3], "faulty": None}, {**rows[4], "error": "time-out"})
    (result,) = dhp.analyze(read_recorded_scores("trajectory", tmp_path))
    counts = [result.ratings[name] for name in ("asked", "scored", "unparsed", "failed")]
    assert counts == [5, 2, 1, 2]  # i1-stops has no verdict, i2-lies an error


GOOD = prompt("1", [1], [2])
WRONG_TABLES: list[tuple[str, list[Any], str]] = [
    ("rewardbench2", [{k: v for k, v in GOOD.items() if k != "judge"}], "column 'judge' is missing"),
    ("rewardbench2", [{**GOOD, "judge": " "}], "line 1: column 'judge' is empty"),
    (
        "rewardbench2",
        [GOOD, prompt("2", [1])],
        "line 2: column 'scores' holds no list of two answers or more",
    ),
    ("rewardbench2", [prompt("1", [1], [])], "line 1: column 'scores' holds an answer without ratings"),
    ("rewardbench2", [prompt("1", [1], [True])], "line 1: column 'scores' holds True; allowed: numbers"),
    ("rewardbench2", [prompt("1", [1], [[1]])], r"line 1: column 'scores' holds \[1\]; allowed: numbers"),
    ("rewardbench2", [prompt("1", [1], [1e999])], "line 1: column 'scores' holds inf; allowed: numbers"),
    ("rewardbench2", [GOOD, GOOD], "a second score of J, none, for 'Math' of 'Math/1'; allowed: one"),
    ("judgebench", [GOOD], "column 'pair_id' is missing"),
    ("judgebench", [{"pair_id": "a", "kind": "k", "scores": [1]}], "line 1: column 'scores' holds no object"),
    (
        "judgebench",
        [{"pair_id": "a", "kind": "k", "scores": {"M": {"best": 1}}}],
        "line 1: column 'scores' names no judge; allowed: NAME.better and NAME.worse",
    ),
]


@pytest.mark.parametrize(("form", "rows", "message"), WRONG_TABLES)
def test_a_wrong_table_is_one_line(tmp_path: Path, form: str, rows: list[Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as fault:
        read_recorded_scores(form, lines(tmp_path / "a.jsonl", *rows))
    assert "\n" not in str(fault.value)
    assert str(fault.value).startswith(str(tmp_path / "a.jsonl"))


def test_one_file_twice_is_refused(tmp_path: Path) -> None:
    file = lines(tmp_path / "a.jsonl", GOOD)
    with pytest.raises(InputError, match="a second score of J"):
        read_recorded_scores("rewardbench2", file, file)


VERDICT = {"trajectory_id": "i1-lies", "judge_id": "J", "faulty": True, "confidence": 0.5}
RUN = {"trajectory_id": "i1-clean", "instance_id": "i1"}
SOUND = {"faulty": False, "failure_type": None, "outcome_correct": True}
WRONG_RUNS: list[tuple[str, list[Any], str]] = [
    ("verdicts", [{**VERDICT, "confidence": 92}], "line 1: column 'confidence' is 92; allowed: 0 to 1"),
    ("verdicts", [{**VERDICT, "faulty": "no"}], "line 1: 'faulty' is 'no'; allowed: true or false"),
    ("verdicts", [VERDICT, VERDICT], "line 2: a second verdict of J on 'i1-lies'; allowed: one"),
    ("trajectories", [{**RUN, "label": SOUND}], "no faulty run has a sound one of the same instance"),
    ("trajectories", [{**RUN, "label": {}}], "line 1: 'label.faulty' is None; allowed: true or false"),
    ("trajectories", [{**RUN, "label": SOUND}] * 2, "line 2: duplicate run 'i1-clean'"),
    (
        "trajectories",
        [{**RUN, "label": SOUND}, {**RUN, "trajectory_id": "x", "label": SOUND}],
        "line 2: a second run of 'i1' that is sound; allowed: one",
    ),
]


@pytest.mark.parametrize(("name", "rows", "message"), WRONG_RUNS)
def test_wrong_runs_of_agents_are_one_line(tmp_path: Path, name: str, rows: list[Any], message: str) -> None:
    lines(agent(tmp_path) / f"{name}.jsonl", *rows)
    with pytest.raises(InputError, match=message) as fault:
        read_recorded_scores("trajectory", tmp_path)
    assert "\n" not in str(fault.value)


def test_errors(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"article_id": 1, "corrected_error_type": "x", "scores": 3}]')
    with pytest.raises(InputError, match="row 1: column 'scores' holds no object"):
        read_recorded_scores("bump", tmp_path / "a.json")
    with pytest.raises(InputError, match=r"unknown form 'bumb'.*'bump'"):
        read_recorded_scores("bumb", tmp_path / "a.json")
    with pytest.raises(
        InputError, match=r"pairs\.jsonl: no such file; it must be in the folder of the answers"
    ):
        read_recorded_scores("llmbar", tmp_path)


@pytest.mark.slow
@pytest.mark.realdata
def test_recorded_ratings_of_llmbar(real: Path) -> None:
    frame = read_recorded_scores("llmbar", real / "llmbar")
    results = dhp.analyze(frame[frame["protocol"] == "Rating"])
    d = {r.model: {v.variant: round(v.d or 0, 2) for v in r.variants} for r in results}
    kinds = ("GPTInst", "GPTOut", "Manual", "Neighbor", "Natural")
    assert d["GPT-4"] == dict(zip(kinds, (11.96, 2.73, 5.35, 10.11, 16.32), strict=True))
    assert d["ChatGPT"] == dict(zip(kinds, (0.00, 0.29, 0.04, 0.00, 5.66), strict=True))
    (chatgpt,) = [r for r in results if r.model == "ChatGPT"]
    assert (chatgpt.variants[0].verdict, chatgpt.variants[0].best_metric) == ("preferred", "rating")


@pytest.mark.slow
@pytest.mark.realdata
def test_recorded_scores_of_bump(real: Path) -> None:
    path = real / "bump" / "task1_dataset.json"
    rows = json.loads(path.read_text())
    frame = read_recorded_scores("bump", path)
    (found,) = dhp.analyze(frame[frame["model"] == "QAFactEval"])
    assert {v.variant: v.n for v in found.variants} == Counter(row["corrected_error_type"] for row in rows)
    assert found.clusters == 99
    kind = "Coreference Error"  # an article has one at most, so scipy's test holds
    own = [row["scores"] for row in rows if row["corrected_error_type"] == kind]
    drops = [each["QAFactEval_reference"] - each["QAFactEval_edited"] for each in own]
    p = wilcoxon([d for d in drops if d], alternative="greater", method="exact").pvalue
    (row,) = [v for v in found.variants if v.variant == kind]
    assert row.p == pytest.approx(p)


SUBSETS = ("Factuality", "Focus", "Math", "Precise IF", "Safety")
SHARES = {
    "gpt-5.4": (94.55, 92.29, 88.98, 67.61, 96.70),
    "gpt-5.4-mini": (92.79, 91.68, 82.70, 63.63, 96.54),
    "claude-sonnet-4.6": (93.72, 93.57, 93.44, 75.83, 93.07),
    "skywork-reward-v2-llama-3.1-8b": (93.68, 99.39, 89.44, 81.46, 98.37),
}
"""Rejected answers of RewardBench 2 that were rated lower, in per cent, counted apart from this package.

Ties count half, and so does a pair of which one answer has no rating: 45 pairs of claude-sonnet-4.6.
"""


@pytest.mark.realdata
@pytest.mark.slow
@pytest.mark.parametrize("judge", SHARES)
def test_shares_of_judges_on_rewardbench_2(real: Path, judge: str) -> None:
    frame = read_recorded_scores("rewardbench2", real / "rewardbench2_judges" / f"{judge}.jsonl")
    (result,) = dhp.analyze(frame)
    found = {row.variant: row.detection for row in result.variants}
    assert [100 * (found[name] or 0) for name in SUBSETS] == pytest.approx(SHARES[judge], abs=0.006)
    assert result.clusters == len(set(frame["cluster"])) == (1730 if "gpt" in judge else 1763)
    (apart,) = dhp.analyze(frame.drop(columns="cluster"))
    for row, naive in zip(result.variants, apart.variants, strict=True):
        assert row.detection_ci
        assert naive.detection_ci
        assert np.diff(row.detection_ci) > 1.05 * np.diff(naive.detection_ci)


KINDS = ("knowledge", "reasoning", "math", "code")
ACCURACY = (59.74, 66.33, 83.93, 50.00, 64.29)
"""Published for Skywork-Reward-Gemma-2-27B, by kind and over all pairs, in per cent."""


@pytest.mark.slow
@pytest.mark.realdata
def test_published_accuracies_on_judgebench(real: Path) -> None:
    frame = read_recorded_scores("judgebench", real / "judgebench" / "reward_models.jsonl")
    results = {r.model: r for r in dhp.analyze(frame)}
    assert len(results) == 3
    rows = {row.variant: row.metrics["score"] for row in results["Skywork-Reward-Gemma-2-27B"].variants}
    n = [rows[kind].n for kind in KINDS]
    fell = [round(rows[kind].n * (rows[kind].fell or 0)) for kind in KINDS]
    shares = [round(100 * k / of, 2) for k, of in zip((*fell, sum(fell)), (*n, sum(n)), strict=True)]
    assert shares == list(ACCURACY)


@pytest.mark.slow
@pytest.mark.realdata
def test_a_judge_of_steps_sees_all_six_faults_of_agents(real: Path) -> None:
    frame = read_recorded_scores("trajectory", real / "trajectory_judge")
    assert (len(set(frame["example"])), len(set(frame["variant"]))) == (66, 8)
    seen = {
        r.model.partition(":")[0]: {row.variant.partition(".")[0]: row.detection or 0 for row in r.variants}
        for r in dhp.analyze(frame)
    }
    assert [fault for fault, share in seen["outcome"].items() if share > 0.6] == ["premature_stop"]
    assert len(seen["step"]) == 6
    assert min(seen["step"].values()) > 0.6


@pytest.mark.slow
@pytest.mark.realdata
def test_small_scores_of_bump_are_compared_as_they_stand(real: Path) -> None:
    """BLEU goes down to 1e-36; the truth is in exact decimals."""
    path = real / "bump" / "task1_dataset.json"
    drops = defaultdict(list)
    for row in json.loads(path.read_text(), parse_float=Decimal):
        scores = row["scores"]
        drops[row["corrected_error_type"]].append(scores["BLEU_reference"] - scores["BLEU_edited"])
    frame = read_recorded_scores("bump", path)
    (found,) = dhp.analyze(frame[frame["model"] == "BLEU"])
    assert {v.variant: v.detection for v in found.variants} == {
        kind: pytest.approx(sum((1 + (d > 0) - (d < 0)) / 2 for d in each) / len(each))
        for kind, each in drops.items()
    }
