"""Intervals and verdicts of a result: where there are some, where there are none, clusters, failures."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dhp
from dhp.core.errors import InputError
from dhp.report.columns import KINDS
from dhp.report.labels import percents
from dhp.report.notes import notes

JUDGE = "mock/noisy?sensitivity=0.5"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("run") / "r"
    dhp.run(JUDGE, "mini/summeval", controls=True, out=path)
    return path


@pytest.mark.slow
def test_every_detection_has_its_interval(folder: Path) -> None:
    result = json.loads((folder / "results.json").read_text())
    found = result["detection"]
    for value, (low, high) in [
        *((found[name], found["ci"][name]) for name in ("avg", "min")),
        *((row["detection"], row["detection_ci"]) for row in (*result["variants"], *result["controls"])),
        *((c["detection"], c["detection_ci"]) for row in result["variants"] for c in row["metrics"].values()),
    ]:
        assert 0 <= low <= value <= high <= 1
        assert low < high, "never of zero width"
    assert "ci" not in result, "D has none"
    levels: dict[str, list[float]] = {}
    for row in result["variants"]:
        levels.setdefault(row["level"], []).append(row["detection"])
    assert found["avg"] == pytest.approx(np.mean([np.mean(values) for values in levels.values()]))
    assert found["min"] == min(row["detection"] for row in result["variants"])
    assert found["min_variant"] in {row["variant"] for row in result["variants"]}


@pytest.mark.slow
def test_the_same_table_in_any_order_gives_the_same_intervals(folder: Path) -> None:
    table = pd.read_parquet(folder / "ratings.parquet")
    one = dhp.analyze(table, suite="summeval")
    two = dhp.analyze(table.sample(frac=1, random_state=5), suite="summeval")
    for name, ends in one.detection.ci.items():
        assert two.detection.ci[name] == pytest.approx(ends)


def test_the_interval_of_a_kind_is_that_of_its_best_metric_wherever_it_stands() -> None:
    """With several the choice costs something: no end lies above the highest of a metric."""
    single = table_of(24, 0.6, 6)
    (alone,) = dhp.analyze(single)
    (row,) = alone.variants
    assert row.detection_ci == row.best.detection_ci
    second = table_of(24, 0.5, 7).assign(metric="n")
    (both,) = dhp.analyze(pd.concat([single, second]))
    (chosen,) = both.variants
    metrics = chosen.metrics.values()
    for end in (0, 1):
        assert chosen.detection_ci[end] <= max(cell.detection_ci[end] for cell in metrics)
    assert chosen.detection <= max(cell.detection for cell in metrics)
    for kind, result in ((row, alone), (chosen, both)):
        (column,) = (each for each in KINDS if each.name == "detection")
        (held,) = result.to_dict()["variants"]
        assert column.ends(kind) == kind.detection_ci == tuple(held["detection_ci"])
        assert percents(kind.detection_ci) in str(dhp.Results([result]))


def test_clusters_widen_intervals_and_weaken_verdicts() -> None:
    """Examples copied five times tell no more than once, if the table says so."""
    single = table_of(12, 0.9, 6)
    copies = [
        single.assign(example=single["example"] + 1000 * k, cluster=single["example"]) for k in range(5)
    ]
    table = pd.concat(copies)
    alone, together = dhp.analyze(table.drop(columns="cluster"))[0], dhp.analyze(table)[0]
    assert (alone.clusters, together.clusters) == (None, 12)

    def width(result: dhp.Result) -> float:
        low, high = result.variants[0].detection_ci or (0, 0)
        return high - low

    assert width(together) > 1.7 * width(alone)
    assert together.variants[0].p > 10 * alone.variants[0].p
    twice = pd.concat([single.assign(cluster="a"), single.assign(cluster="b", variant="original")])
    with pytest.raises(InputError, match="example '0' is in two clusters"):
        dhp.analyze(twice)


def table_of(n: int, drop: float, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for example in range(n):
        good = rng.integers(3, 6)
        rows += [
            (example, "original", good),
            (example, "worse", good - (rng.random() < drop) + (rng.random() < 0.3)),
        ]
    return pd.DataFrame(rows, columns=["example", "variant", "score"]).assign(metric="m")


def test_too_few_pairs_are_undecided_and_never_the_minimum() -> None:
    table = table_of(30, 0.9, 3)
    rare = table[(table["example"] < 4) & (table["variant"] == "worse")].assign(variant="rare", score=5)
    result = dhp.analyze(pd.concat([table, rare]))[0]
    by_name = {row.variant: row for row in result.variants}
    assert by_name["rare"].verdict == "undecided"
    assert (result.d_min_variant, result.detection.min_variant) == ("worse", "worse")
    assert result.d_min == by_name["worse"].d > by_name["rare"].d


def test_two_examples_and_all_ties_are_no_verdict() -> None:
    two = dhp.analyze(table_of(2, 1.0, 3))[0]
    assert (two.variants[0].verdict, two.d_min, two.detection.min) == ("undecided", None, None)
    table = table_of(40, 0.0, 3)
    tied = dhp.analyze(table.assign(score=3))[0]
    assert (tied.detection.avg, tied.variants[0].verdict, tied.d_min) == (0.5, "missed", 0)
    assert tied.variants[0].metrics["m"].standardised_drop is None
    one = dhp.analyze(table.assign(cluster="x"))[0]
    assert (one.variants[0].detection_ci, one.variants[0].verdict) == (None, "undecided")


def test_failures_that_follow_the_damage_are_a_warning() -> None:
    table = table_of(60, 0.9, 4).assign(status="scored")
    lost = (table["variant"] == "worse") & (table["example"] % 3 == 0)
    table.loc[lost, ["score", "status"]] = [np.nan, "unparsed"]
    (result,) = dhp.analyze(table)
    said = "lack scores at different rates: worse (33% and 0%); failures depend on the damage"
    assert any(said in warning for warning in result.warnings)
    assert (result.variants[0].metrics["m"].unread, result.variants[0].n) == (20, 60)


def test_kinds_with_few_pairs_enter_no_average() -> None:
    table = table_of(30, 0.9, 3)
    rare = table[(table["example"] < 4) & (table["variant"] == "worse")].assign(variant="rare", score=9)
    with_rare, without = dhp.analyze(pd.concat([table, rare]))[0], dhp.analyze(table)[0]
    assert with_rare.detection == without.detection
    assert (with_rare.d_avg, with_rare.d_min) == (without.d_avg, without.d_min)


def test_weights_change_no_verdict() -> None:
    rows = [
        (f"{e}", variant, metric, 4 - (variant != "original") * (metric == "fluency") * (e % 5 > 0))
        for e in range(40)
        for variant in ("original", "reordering.major", "random_typos.minor")
        for metric in ("coherence", "consistency", "fluency", "relevance")
    ]
    table = pd.DataFrame(rows, columns=["example", "variant", "metric", "score"])
    plain, weighted = (
        dhp.analyze(table, suite="summeval", analysis=dhp.AnalysisConfig(weights=weights))[0]
        for weights in ("uniform", "design")
    )
    assert plain.detection == weighted.detection
    assert [(v.verdict, v.detection, v.d) for v in plain.variants] == [
        (v.verdict, v.detection, v.d) for v in weighted.variants
    ]
    assert plain.variants[0].best_metric == "fluency"
    assert plain.d_avg_ew != weighted.d_avg_ew


def test_a_control_has_one_state_and_damage_is_held_against_it() -> None:
    """The judge marks down whatever has changed, harmless edits like damage."""
    rows = [
        (f"{e}", variant, "m", 4 - (variant in ("harmless", "random_typos.minor")) * (e % 10 > 0))
        for e in range(60)
        for variant in ("original", "identity", "harmless", "random_typos.minor", "reordering.major")
    ]
    result = dhp.analyze(pd.DataFrame(rows, columns=["example", "variant", "metric", "score"]))[0]
    assert {row.variant: row.verdict for row in result.controls} == {
        "identity": "still",
        "harmless": "false alarm",
    }
    said = {row.variant: row.verdict for row in result.variants}
    assert said == {"random_typos.minor": "as harmless edits", "reordering.major": "missed"}
    assert result.warnings == ()


def test_damage_with_few_common_pairs_is_not_called_as_harmless_edits() -> None:
    """Every score of damage fell, none of harmless edits did; on either side a third of the calls failed."""
    rows = [
        (f"{e}", variant, "m", None if e % 3 == skipped else 4 - (variant == "reordering.major"))
        for e in range(18)
        for variant, skipped in (("original", None), ("harmless", 0), ("reordering.major", 1))
    ]
    table = pd.DataFrame(rows, columns=["example", "variant", "metric", "score"])
    table["status"] = np.where(table["score"].isna(), "failed", "scored")
    result = dhp.analyze(table)[0]
    (kind,) = result.variants
    assert (kind.detection, result.controls[0].detection) == (1.0, 0.5)
    assert kind.verdict == "noticed"


def test_damage_that_harmless_edits_may_match_is_as_harmless_edits() -> None:
    """Six in ten scores of damage fell, four in ten of harmless edits: the two copies are not told apart."""
    rows = [
        (f"{e}", variant, "m", 4 - (e * step % 10 < fell))
        for e in range(20)
        for variant, fell, step in (("original", 0, 1), ("harmless", 4, 3), ("reordering.major", 6, 1))
    ]
    result = dhp.analyze(pd.DataFrame(rows, columns=["example", "variant", "metric", "score"]))[0]
    (kind,) = result.variants
    assert kind.verdict == "as harmless edits"
    assert kind.detection_ci is not None
    assert kind.detection_ci[0] > 0.5


def test_damage_is_noticed_if_its_copy_scores_below_the_harmless_one() -> None:
    """Every score falls by a hair for harmless edits, and by a thousand times as much for damage."""
    rows = [
        (f"{e}", variant, "m", e % 7 - drop)
        for e in range(24)
        for variant, drop in (("original", 0), ("harmless", 0.001), ("reordering.major", 1))
    ]
    result = dhp.analyze(pd.DataFrame(rows, columns=["example", "variant", "metric", "score"]))[0]
    assert [row.verdict for row in result.variants] == ["noticed"]


def test_a_judge_of_which_no_score_moves_is_blind() -> None:
    """Texts differ in score, no copy does from its original."""
    table = [
        (f"{e}", variant, "m", e % 5)
        for e in range(20)
        for variant in ("original", "harmless", "reordering.major")
    ]
    result = dhp.analyze(pd.DataFrame(table, columns=["example", "variant", "metric", "score"]))[0]
    assert result.blind
    moved = [(*row[:3], row[3] - (row[:2] == ("3", "harmless"))) for row in table]
    assert not dhp.analyze(pd.DataFrame(moved, columns=["example", "variant", "metric", "score"]))[0].blind


def test_damage_may_be_noticed_by_a_hair() -> None:
    """Texts spread over 40 points: one point less is seen beside the original, and beside no other text."""
    rows = [
        (f"{e}", variant, "m", e - lost)
        for e in range(40)
        for variant, lost in (("original", 0), ("random_typos.minor", 1), ("reordering.major", 30))
    ]
    result = dhp.analyze(pd.DataFrame(rows, columns=["example", "variant", "metric", "score"]))[0]
    said = {row.variant: (row.verdict, row.by_a_hair) for row in result.variants}
    assert said == {"random_typos.minor": ("noticed", True), "reordering.major": ("noticed", False)}
    near = next(row.best for row in result.variants if row.by_a_hair)
    assert near is not None
    assert near.auroc == pytest.approx(1 - (39 / 40) ** 2 / 2, abs=0.01)


def test_an_attack_is_judged_by_the_metric_that_it_raised_most() -> None:
    rows = [
        (f"{e}", variant, metric, 3 + (variant == "flattery" and metric == "a" and e % 10 > 0))
        for e in range(60)
        for variant in ("original", "flattery", "worse")
        for metric in ("a", "b")
    ]
    table = pd.DataFrame(rows, columns=["example", "variant", "metric", "score"])
    table["level"] = table["variant"].map({"original": "", "flattery": "attack", "worse": "word"})
    (row,) = dhp.analyze(table)[0].attacks
    assert (row.verdict, row.best_metric) == ("raised", "a")
    assert row.detection == pytest.approx(0.05)
    assert row.metrics["a"].rose == pytest.approx(0.9)
    assert row.metrics["a"].detection == pytest.approx(0.05)
    assert row.metrics["a"].detection_ci[0] <= 0.05 <= row.metrics["a"].detection_ci[1] < 0.4
    assert row.detection_ci[0] <= row.detection <= row.detection_ci[1] < 0.4


@pytest.mark.parametrize("combination", ["hmp-asymptotic", "joint"])
def test_tests_take_whole_clusters(combination: str) -> None:
    config = dhp.AnalysisConfig(combination=combination)
    table = table_of(60, 0.85, 4)
    alone = dhp.analyze(table, analysis=config)[0].variants[0]
    found = dhp.analyze(table.assign(cluster=table["example"] // 6), analysis=config)[0]
    (together,) = found.variants
    assert together.p == together.metrics["m"].p > alone.p == alone.metrics["m"].p
    assert together.p >= 2**-10, "ten clusters have 1,024 sign patterns"
    assert any("clusters of examples as a whole: 10 of them" in note for note in notes(found))
