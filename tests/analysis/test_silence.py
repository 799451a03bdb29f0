"""A judge that says nothing has not seen anything: what it left unread is a tie."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import binomtest, mannwhitneyu, wilcoxon

import dhp
from dhp.core.records import RATING_STATUSES

Scores = Sequence[float | None]


def rated(
    scores: Mapping[str, Scores], status: str = "unparsed", metric: str = "m", **columns: object
) -> pd.DataFrame:
    """A table with the scores of each variant; what has none has this status."""
    rows = [
        (f"e{e:03}", variant, metric, score, "scored" if score is not None else status)
        for variant, each in scores.items()
        for e, score in enumerate(each)
    ]
    frame = pd.DataFrame(rows, columns=["example", "variant", "metric", "score", "status"])
    return frame.assign(**columns)


def compared(pairs: Sequence[tuple[str | None, str | None]], **columns: object) -> pd.DataFrame:
    rows = [(f"e{e:03}", "worse", *pair) for e, pair in enumerate(pairs)]
    names = ["example", "variant", "original_first", "original_second"]
    return pd.DataFrame(rows, columns=names).assign(**columns)


@pytest.mark.parametrize("status", ["unparsed", "refused", "out_of_scale"])
def test_what_a_judge_left_unread_is_a_tie(status: str) -> None:
    """Of ten pairs six fell, one rose, and three have no score on some side."""
    frame = rated(
        {"original": [4, 4, 4, 4, 4, 4, 2, None, 4, None], "worse": [1, 2, 3, 1, 2, 3, 3, 2, None, None]},
        status,
    )
    (result,) = dhp.analyze(frame)
    (row,), cell = result.variants, result.variants[0].metrics["m"]
    assert (row.n, cell.n, cell.unread, cell.missing) == (10, 10, 3, 0)
    assert (cell.fell, cell.tied, cell.rose) == (0.6, 0.3, 0.1)
    assert row.detection == pytest.approx(0.75)
    assert result.read == pytest.approx(16 / 20)
    assert (result.read_originals, result.read_damaged, row.read) == (0.8, 0.8, 0.8)
    drops = [3, 2, 1, 3, 2, 1, -1, 0, 0, 0]
    exact = wilcoxon(drops, alternative="greater", zero_method="pratt", method="approx").pvalue
    assert cell.p == pytest.approx(exact, rel=0.5)  # the exact test with ties, next to its approximation


def test_a_call_that_failed_is_left_out() -> None:
    frame = rated({"original": [4] * 10, "worse": [1] * 6 + [None] * 4}, "failed")
    (result,) = dhp.analyze(frame)
    cell = result.variants[0].metrics["m"]
    assert (cell.n, cell.missing, cell.unread, cell.detection) == (6, 4, 0, 1.0)
    assert result.read == 1.0


def test_silence_on_one_side_and_a_failure_on_the_other_are_left_out() -> None:
    frame = rated({"original": [4, 4, 4, 4, 4, 4], "worse": [1, 1, 1, 1, 1, None]})
    frame.loc[(frame["example"] == "e005") & (frame["variant"] == "original"), ["score", "status"]] = [
        None,
        "failed",
    ]
    assert dhp.analyze(frame)[0].variants[0].n == 5


def test_a_text_with_one_readable_sample_has_a_score() -> None:
    one = rated({"original": [4] * 6, "worse": [1] * 6}, sample=0)
    two = rated({"original": [None] * 6, "worse": [None] * 6}, sample=1)
    (result,) = dhp.analyze(pd.concat([one, two]))
    assert (result.variants[0].detection, result.variants[0].metrics["m"].unread) == (1.0, 0)
    assert result.read == 0.5


def test_the_area_counts_a_text_without_a_score_as_tied_with_every_other() -> None:
    good, bad = [5.0, 4, 3, 5, None, 2], [2.0, 3, None, 1, 1, 2]
    cell = dhp.analyze(rated({"original": good, "worse": bad}))[0].variants[0].metrics["m"]
    wins = [0.5 if x is None or y is None else (x > y) + (x == y) / 2 for x in good for y in bad]
    assert cell.auroc == pytest.approx(sum(wins) / len(wins))
    read = [x for x in good if x is not None], [y for y in bad if y is not None]
    assert cell.auroc < mannwhitneyu(*read).statistic / (len(read[0]) * len(read[1]))


def test_the_most_silent_judge_is_not_the_first() -> None:
    """One is right on 20 of 60 pairs and mute on the others, one is right on 48 of 60."""
    mute = rated({"original": [1] * 60, "worse": [0] * 20 + [None] * 40}, model="mute")
    seeing = rated({"original": [1] * 60, "worse": [0] * 48 + [1] * 12}, model="seeing")
    quiet, other = dhp.analyze(pd.concat([mute, seeing]))
    assert quiet.detection.avg == pytest.approx(40 / 60)
    assert other.detection.avg == pytest.approx(54 / 60)
    assert (quiet.mute, other.mute) == (True, False)
    assert quiet.d_avg is not None
    assert other.d_avg is not None
    assert quiet.d_avg < other.d_avg


def test_a_judge_without_any_score_is_mute_and_not_blind() -> None:
    (result,) = dhp.analyze(rated({"original": [None] * 30, "worse": [None] * 30}))
    assert (result.read, result.mute, result.blind) == (0.0, True, False)
    assert (result.detection.avg, result.variants[0].d) == (0.5, 0)


@pytest.mark.parametrize(("silent", "read"), [("original", 12 / 13), ("worse", 1 / 13)])
def test_a_judge_that_is_silent_on_one_side_alone_is_mute(silent: str, read: float) -> None:
    scores: dict[str, Scores] = {"original": [4] * 24} | {f"worse{k}": [2] * 24 for k in range(12)}
    held = {name: [None] * 24 if name.startswith(silent) else each for name, each in scores.items()}
    (result,) = dhp.analyze(rated(held))
    assert result.read == pytest.approx(read)
    assert result.mute
    assert result.detection.avg == 0.5


def test_statistics_of_the_paper_leave_pairs_out() -> None:
    frame = rated({"original": [4] * 30, "worse": [1] * 20 + [None] * 10})
    (result,) = dhp.analyze(frame, analysis=dhp.AnalysisConfig(statistics="paper"))
    cell = result.variants[0].metrics["m"]
    assert (cell.n, cell.missing, cell.unread) == (20, 10, 0)
    assert result.read == pytest.approx(50 / 60)
    drops = [3.0] * 20
    assert cell.p == pytest.approx(wilcoxon(drops, alternative="greater").pvalue)


def test_silence_is_no_proof_that_harmless_edits_leave_scores_alone() -> None:
    """The judge is silent on all harmless edits but one; those that it reads it marks down."""
    scores: dict[str, Scores] = {
        "original": [4, 5] * 30,
        "worse": [1, 2] * 30,
        "edited": [3, 4] * 5 + [None] * 50,
    }
    frame = rated(scores).assign(level=lambda t: t["variant"].map({"edited": "control", "worse": "word"}))
    (result,) = dhp.analyze(frame)
    assert result.controls[0].n == 10
    assert result.controls[0].verdict != "still"
    assert result.controls[0].read == pytest.approx(1 / 6)


def test_a_silent_order_is_a_tie_in_that_order() -> None:
    """Wins with a silent order count, contradictions and silence in both are ties."""
    pairs = [("original", None)] * 4 + [("original", "original")] * 3 + [(None, None)] * 2
    pairs += [("original", "degraded"), (None, "degraded")]
    (result,) = dhp.analyze(compared(pairs))
    cell = result.variants[0].metrics["overall"]
    assert (cell.n, cell.unread) == (11, 2)
    assert (cell.fell, cell.tied, cell.rose) == pytest.approx((7 / 11, 3 / 11, 1 / 11))
    assert result.read == pytest.approx((4 + 6 + 2 + 1) / 22)  # of orders, not of made-up originals
    assert result.read_originals is None
    assert result.ratings["asked"] == 11
    assert result.rules == {"agree": 3, "flip": 1, "one silent": 5}


@pytest.mark.parametrize("both_columns", [True, False])
def test_comparisons_in_one_order_are_read(both_columns: bool) -> None:
    pairs = [("original", None), (None, "original")] * 14 + [("degraded", None), (None, "degraded")] * 11
    if not both_columns:
        pairs = [(first or second, None) for first, second in pairs]
    frame = compared(pairs)
    (result,) = dhp.analyze(frame if both_columns else frame.drop(columns="original_second"))
    (row,) = result.variants
    assert (row.n, row.detection, result.read) == (50, pytest.approx(0.56), 1.0)
    assert result.rules == {"one order": 50}
    assert dhp.analyze(frame.assign(original_first=None))[0].read == (0.5 if both_columns else 0.0)


def test_each_judge_of_a_table_has_its_own_orders() -> None:
    one = compared([("original", None)] * 20, model="one order")
    two = compared([("original", None)] * 10 + [("original", "tie")] * 10, model="two orders")
    first, second = dhp.analyze(pd.concat([one, two], ignore_index=True))
    assert (first.read, second.read) == (1.0, 0.75)


def test_the_same_scores_with_other_reasons_have_another_digest() -> None:
    scores = {"original": [4] * 8, "worse": [1] * 6 + [None] * 2}
    results = {status: dhp.analyze(rated(scores, status))[0] for status in RATING_STATUSES[1:]}
    data = {status: result.signed.dataset for status, result in results.items()}
    assert data["unparsed"] == data["refused"] == data["out_of_scale"] != data["failed"]


@pytest.mark.realdata
def test_minimax_comes_last_on_judgebench(real: Path) -> None:
    """Published (devcomfort-research/JudgeBench): 59.3, 46.3 and 62.6 % of the pairs are right."""
    results = dhp.analyze(real / "judgebench_claude" / "verdicts.csv")
    by_model = {each.model: each for each in results}
    order = sorted(by_model, key=lambda name: by_model[name].detection.avg or 0)
    assert order == ["minimax-m2", "glm-4.7", "mercury-coder"]
    assert {name: round(each.read or 0, 2) for name, each in by_model.items()} == {
        "glm-4.7": 0.67,
        "minimax-m2": 0.52,
        "mercury-coder": 1.0,
    }
    right = {
        name: sum((row.metrics["overall"].fell or 0) * row.n for row in each.variants) / each.n
        for name, each in by_model.items()
    }
    published = {"glm-4.7": 0.593, "minimax-m2": 0.463, "mercury-coder": 0.626}
    assert right == pytest.approx(published, abs=5e-4)
    assert round(100 * (by_model["minimax-m2"].detection.avg or 0)) == 68
    assert json.loads(results.to_json())[1]["read"] == by_model["minimax-m2"].read


def test_texts_divide_into_pass_stopped_and_no_score() -> None:
    """Of 60 damaged texts 12 pass, 18 are stopped and 30 get no score; of the good ones 6 get none."""
    scores: dict[str, Scores] = {
        "original": [1] * 54 + [None] * 6,
        "worse": [1] * 12 + [0] * 18 + [None] * 30,
    }
    (result,) = dhp.analyze(rated(scores), analysis=dhp.AnalysisConfig(pass_mark=0.5))
    passes, fails = result.variants[0].passes, result.pass_mark.fails
    assert (passes.share, passes.rest, passes.no_score, passes.n) == pytest.approx((0.2, 0.3, 0.5, 60))
    assert (fails.share, fails.rest, fails.no_score) == pytest.approx((0, 0.9, 0.1))
    low = binomtest(12, 60).proportion_ci().low
    high = binomtest(42, 60).proportion_ci().high
    assert passes.ci == pytest.approx((low, high))
    assert "of texts with worse 20% pass, 30% are stopped, 50% get no score" in dhp_sentence(result)


def test_a_mute_judge_lets_pass_what_nobody_knows() -> None:
    scores: dict[str, Scores] = {"original": [1] * 60, "worse": [None] * 60}
    (result,) = dhp.analyze(rated(scores), analysis=dhp.AnalysisConfig(pass_mark=0.5))
    passes = result.variants[0].passes
    assert (passes.most, passes.rest, passes.ci) == (1, 0, pytest.approx((0, 1)))
    assert "0% of texts" not in dhp_sentence(result)
    (by_all_marks,) = dhp.analyze(rated(scores | {"other": [0] * 60}))
    assert by_all_marks.sweep.no_score == (0.5, 0.0)
    assert by_all_marks.sweep.elsewhere == pytest.approx((0.5, 0.0))


def dhp_sentence(result: dhp.Result) -> str:
    return dhp.Results([result]).sentence


def test_the_sentence_begins_with_silence_its_cause_and_what_would_help() -> None:
    worse = [1] * 40 + [None] * 20
    frame = rated({"original": [4] * 60, "worse": worse}).assign(raw="It depends.", rule=None)
    assert "gave a score in 83% of its answers (others: no rating in the words; `--answer json`" in (
        dhp_sentence(dhp.analyze(frame)[0])
    )
    frame["rule"] = (
        frame["rule"].astype(object).where(frame["status"] == "scored", "cut off at the token limit")
    )
    words = dhp_sentence(dhp.analyze(frame)[0])
    assert "cut off at the token limit; more answer tokens (`--max-tokens`)" in words
    assert words.index("gave a score") < words.index("notices")
    mute = dhp.analyze(rated({"original": [4] * 60, "worse": [1] * 20 + [None] * 40}))[0]
    assert dhp_sentence(mute).startswith(
        "the judge: mute: gave a score in 67% of its answers, in 33% of those"
    )
    nearly = dhp.analyze(rated({"original": [4] * 60, "worse": [1] * 57 + [None] * 3}))[0]
    assert "gave a score" not in dhp_sentence(nearly)


def test_one_order_and_one_cluster_are_told_of() -> None:
    one = dhp.analyze(compared([("original", None), (None, "degraded")] * 20))[0]
    assert "one order only: 50% [" in dhp_sentence(one)
    assert "the order is not controlled" in dhp_sentence(one)
    alike = dhp.analyze(rated({"original": [4] * 30, "worse": [1] * 30}, cluster="topic"))[0]
    assert "all examples are of one cluster" in dhp_sentence(alike)


def test_kinds_called_after_models_stay_apart() -> None:
    scores: dict[str, Scores] = {
        "original": [4] * 24,
        "answer of gpt-5.4": [1] * 24,
        "answer of gpt-5.5": [4] * 24,
    }
    words = dhp_sentence(dhp.analyze(rated(scores))[0])
    assert "notices answer of gpt-5.4" in words
    assert "answer of gpt-5.5" in words
