"""Ratings in, discernment out: against scipy, hand-made tables and planted judges."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import mannwhitneyu, wilcoxon

import dhp
from dhp.core.errors import InputError
from dhp.stats.wilcoxon import signed_rank

METRICS = ("coherence", "consistency", "fluency", "relevance")


def table(
    drops: dict[str, dict[str, float]], n: int = 30, samples: int = 1, seed: int = 0, noise: float = 0.4
) -> pd.DataFrame:
    """Ratings in which `variant` lowers `metric` by `drops[variant][metric]` points on average."""
    rng = np.random.default_rng(seed)
    rows = []
    for variant, by_metric in {"original": {}, **drops}.items():
        for example in range(n):
            for metric in METRICS:
                for sample in range(samples):
                    score = 4 - by_metric.get(metric, 0.0) + rng.normal(0, noise)
                    rows.append((f"e{example}", variant, metric, sample, float(np.clip(round(score), 1, 5))))
    return pd.DataFrame(rows, columns=["example", "variant", "metric", "sample", "score"])


def integer_differences(frame: pd.DataFrame, variant: str, metric: str) -> np.ndarray:
    sums = frame[frame["metric"] == metric].pivot_table(
        index="example", columns="variant", values="score", aggfunc="sum"
    )
    return (sums["original"] - sums[variant]).to_numpy()


def plain_differences(frame: pd.DataFrame, variant: str, metric: str) -> np.ndarray:
    """Of the means as floating point has them, without rounding."""
    means = frame[frame["metric"] == metric].pivot_table(index="example", columns="variant", values="score")
    return (means["original"] - means[variant]).to_numpy()


def test_paper_preset_is_scipy_and_the_printed_equation() -> None:
    frame = table({"random_typos.minor": {"fluency": 0.3}, "reordering.major": {"coherence": 0.6}}, samples=5)
    result = dhp.analyze(
        frame, suite="summeval", analysis=dhp.AnalysisConfig(statistics="paper", weights="uniform")
    )
    for row in result.variants:
        p = [
            wilcoxon(plain_differences(frame, row.variant, m), alternative="greater").pvalue for m in METRICS
        ]
        assert [row.metrics[m].p for m in METRICS] == pytest.approx(p, abs=1e-12)
        assert [row.metrics[m].log10_p for m in METRICS] == pytest.approx(np.log10(p))
        assert row.p == pytest.approx(1 / sum(1 / x for x in p), rel=1e-9)
        assert row.d == pytest.approx(math.log(row.p, 0.05), rel=1e-9)


@pytest.mark.parametrize("samples", [3, 5, 7])
def test_means_of_samples_are_compared_on_their_exact_grid(samples: int) -> None:
    frame = table({"v": {"fluency": 0.2}}, n=60, samples=samples)
    means = dhp.analyze(frame).variants[0].metrics["fluency"]
    whole = integer_differences(frame, "v", "fluency")
    assert means.p == pytest.approx(math.exp(signed_rank(whole)), rel=1e-9)
    assert means.tied == pytest.approx(np.mean(whole == 0))
    paper = dhp.analyze(frame, analysis=dhp.AnalysisConfig(statistics="paper")).variants[0].metrics["fluency"]
    assert paper.detection == means.detection


def test_separation_is_that_of_scipy_and_cohens_d() -> None:
    frame = table({"v": {"fluency": 0.5}, "w": {"fluency": 0.1}})
    fluency = frame[frame["metric"] == "fluency"].pivot(index="example", columns="variant", values="score")
    for row in dhp.analyze(frame).variants:
        cell, better, worse = row.metrics["fluency"], fluency["original"], fluency[row.variant]
        assert cell.auroc == pytest.approx(mannwhitneyu(better, worse).statistic / 30**2)
        spread = math.sqrt((better.var() + worse.var()) / 2)
        assert cell.standardised_drop == pytest.approx((better - worse).mean() / spread)
        outcomes = np.sign(better - worse)
        assert [cell.fell, cell.tied, cell.rose] == pytest.approx(
            [(outcomes == k).mean() for k in (1, 0, -1)]
        )


def test_planted_sensitivity_and_confusion_are_found() -> None:
    frame = table({"random_typos.major": {"fluency": 2.0}, "reordering.major": {"fluency": 2.0}})
    result = dhp.analyze(frame, suite="summeval", analysis=dhp.AnalysisConfig(weights="design"))
    typos, order = result.variants
    assert typos.metrics["fluency"].detection == 1.0
    means = frame[frame["metric"] == "fluency"].groupby("variant")["score"].mean()
    assert typos.metrics["fluency"].mean_drop == pytest.approx(
        means["original"] - means["random_typos.major"]
    )
    assert typos.d > 5
    # The whole drop is on fluency, which counts 1/4 without and 1/10 with expert weights.
    assert order.d - order.d_ew == pytest.approx(math.log(2.5) / math.log(20), abs=1e-6)
    (least,) = [row.variant for row in result.variants if row.d_ew == result.d_min_ew]
    assert (least, result.weights) == ("reordering.major", "design")


def test_levels_come_from_the_suite() -> None:
    frame = table(
        {"random_typos.minor": {}, "random_deletions.minor": {}, "reordering.minor": {"coherence": 1.0}}
    )
    result = dhp.analyze(frame, suite="summeval")
    by_name = {v.variant: v for v in result.variants}
    characters = (by_name["random_typos.minor"].d + by_name["random_deletions.minor"].d) / 2
    assert result.d_avg == pytest.approx((characters + by_name["reordering.minor"].d) / 2)
    assert result.levels == "suite"
    assert "grammatical_errors.minor" in result.left_out


@pytest.mark.slow
def test_levels_come_from_the_column_else_there_is_one() -> None:
    frame = table({"a": {"fluency": 2.0}, "b": {}, "c": {}})
    levels = {"original": "", "a": "word", "b": "sentence", "c": "sentence"}
    d = {v.variant: v.d for v in dhp.analyze(frame).variants}
    assert dhp.analyze(frame).levels == "none"
    assert dhp.analyze(frame).d_avg == pytest.approx(sum(d.values()) / 3)
    with_levels = dhp.analyze(frame.assign(level=frame["variant"].map(levels)))
    assert with_levels.levels == "column"
    assert with_levels.d_avg == pytest.approx((d["a"] + (d["b"] + d["c"]) / 2) / 2)


def test_a_failed_rating_costs_its_pair_and_nothing_else() -> None:
    frame = table({"v": {"fluency": 1.0}}).assign(status="scored")
    lost = (frame["example"] == "e3") & (frame["variant"] == "v") & (frame["metric"] == "fluency")
    frame.loc[lost, ["score", "status"]] = [None, "failed"]
    result = dhp.analyze(frame)
    cells = result.variants[0].metrics
    assert (cells["fluency"].n, cells["fluency"].missing) == (29, 1)
    assert (cells["coherence"].n, cells["coherence"].missing) == (30, 0)
    assert (result.ratings["failed"], result.read) == (1, 1.0)
    assert result.ratings["scored"] == result.ratings["asked"] - 1
    without = dhp.analyze(frame[frame["example"] != "e3"])
    assert without.variants[0].metrics["fluency"].p == cells["fluency"].p


def test_a_metric_without_any_pair_leaves_d_undefined() -> None:
    frame = table({"v": {}, "w": {"fluency": 1.0}}).assign(status="scored")
    lost = (frame["variant"] == "v") & (frame["metric"] == "fluency")
    frame.loc[lost, "score"] = None
    frame.loc[lost, "status"] = "failed"
    result = dhp.analyze(frame)
    undefined, defined = result.variants
    assert (undefined.d, undefined.p, undefined.metrics["fluency"].p) == (None, None, None)
    assert result.d_avg == defined.d


def test_sides_rated_different_numbers_of_times() -> None:
    once = table({"v": {"fluency": 1.0}}, noise=0.0)
    thrice = pd.concat([once[once["variant"] == "v"].assign(sample=s) for s in range(3)])
    mixed = pd.concat([once[once["variant"] == "original"], thrice])
    assert dhp.analyze(mixed).variants == dhp.analyze(once).variants
    assert dhp.analyze(mixed.drop(columns="sample")).variants == dhp.analyze(once).variants


def test_a_variant_that_not_every_example_has() -> None:
    frame = table({"v": {"fluency": 1.0}})
    result = dhp.analyze(frame[~((frame["variant"] == "v") & frame["example"].isin(["e1", "e2"]))])
    assert (result.variants[0].not_applicable, result.variants[0].metrics["fluency"].n) == (2, 28)


def test_several_models_give_several_results() -> None:
    blind, keen = (
        table({"v": {}}, seed=1).assign(model="blind"),
        table({"v": {"fluency": 2.0}}).assign(model="keen"),
    )
    results = dhp.analyze(pd.concat([blind, keen]))
    assert [r.model for r in results] == ["blind", "keen"]
    assert results[0].d_avg < 1 < results[1].d_avg
    assert isinstance(results.to_dict(), list)
    assert isinstance(results[:1].to_dict(), dict)
    assert list(results.to_frame()["model"]) == ["blind"] * 4 + ["keen"] * 4
    assert list(results.to_frame().index) == list(range(8))
    with pytest.raises(AttributeError, match="there are 2 results"):
        _ = results.d_avg


def test_uniform_weights_equal_the_plain_figures_and_are_the_fallback() -> None:
    result = dhp.analyze(table({"my_own_damage": {"fluency": 0.3}}))
    assert result.weights == "uniform"
    assert (result.d_avg_ew, result.d_min_ew) == (result.d_avg, result.d_min)


def test_constant_judge_has_d_zero_under_default_and_046_under_the_printed_equation() -> None:
    frame = table({"v": {}}, noise=0.0)
    assert dhp.analyze(frame).d_avg == 0.0
    assert dhp.analyze(frame, analysis=dhp.AnalysisConfig(statistics="paper")).d_avg == pytest.approx(
        0.46, abs=0.005
    )
    assert dhp.analyze(frame, analysis=dhp.AnalysisConfig(combination="printed")).d_avg == pytest.approx(
        0.46, abs=0.005
    )


def test_rows_in_any_order_and_ids_of_any_type() -> None:
    frame = table({"v": {"fluency": 0.4}, "w": {}}, samples=2)
    shuffled = frame.sample(frac=1, random_state=1)
    shuffled["example"] = shuffled["example"].str[1:].astype(int)
    by_name = {v.variant: v for v in dhp.analyze(shuffled).variants}
    for row in dhp.analyze(frame).variants:
        for metric, cell in row.metrics.items():
            assert by_name[row.variant].metrics[metric].p == pytest.approx(cell.p, rel=1e-12)


def test_a_file_serves_as_well_as_a_frame(tmp_path: Path) -> None:
    frame = table({"v": {"fluency": 0.5}})
    frame.to_csv(tmp_path / "r.csv", index=False)
    assert dhp.analyze(tmp_path / "r.csv").variants == dhp.analyze(frame).variants


def test_a_status_column_of_categories_serves() -> None:
    frame = table({"v": {"fluency": 0.5}})
    status = pd.Categorical([None] * len(frame), categories=["failed"])
    assert dhp.analyze(frame.assign(status=status)).variants == dhp.analyze(frame).variants


def test_one_outlier_does_not_blur_the_others() -> None:
    frame = table({"v": {"fluency": 1.0}})
    clean = dhp.analyze(frame).variants[0].metrics["fluency"]
    frame.loc[frame.index[0:1], "score"] = 4.0
    row = (frame["example"] == "e5") & (frame["metric"] == "fluency") & (frame["variant"] == "original")
    frame.loc[row, "score"] = 1e10
    assert dhp.analyze(frame).variants[0].metrics["fluency"].tied <= clean.tied


@pytest.mark.slow
def test_any_magnitude_gives_the_same_test() -> None:
    frame = table({"v": {"fluency": 0.5}}, samples=3)
    expected = dhp.analyze(frame).variants[0].metrics["fluency"].p
    for factor in (1e-300, 1e-12, 0.1, 1e12, 1e300):
        scaled = dhp.analyze(frame.assign(score=frame["score"] * factor))
        assert scaled.variants[0].metrics["fluency"].p == pytest.approx(expected, rel=1e-9)


def change(frame: pd.DataFrame, row: int, **values: object) -> pd.DataFrame:
    frame = frame.astype(object)
    for column, value in values.items():
        frame.loc[row - 1, column] = value
    return frame


BASE = table({"v": {"fluency": 1.0}}, n=5)


def test_empty_scores_without_a_status_count_as_unparsed(caplog: pytest.LogCaptureFixture) -> None:
    found = dhp.analyze(change(BASE, 7, score=None))
    assert (found.ratings["unparsed"], found.ratings["scored"]) == (1, len(BASE) - 1)
    assert "1 rows have no score, and no column 'status' says why; they count as unparsed" in caplog.text
    given = dhp.analyze(change(BASE.assign(status="scored"), 7, score=None, status="unparsed"))
    assert [v.d for v in found.variants] == [v.d for v in given.variants]


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        (BASE.rename(columns={"score": "scores"}), {}, "column 'score' is missing.*'scores'"),
        (BASE.iloc[:0], {}, "no rows"),
        (change(BASE, 7, score="four"), {}, "row 7: score 'four' is not a number"),
        (change(BASE, 7, score=math.inf), {}, "row 7: score inf is not a number"),
        (
            change(BASE.assign(status="scored"), 3, status="scord"),
            {},
            "row 3: unknown status 'scord'",
        ),
        (
            change(BASE.assign(status="scored"), 3, status="failed"),
            {},
            "row 3: status is 'failed' but there is a score",
        ),
        (
            change(BASE.assign(status="scored"), 3, score=""),
            {},
            "row 3: status is 'scored' but the score is empty",
        ),
        (change(BASE, 2, metric=""), {}, "row 2: metric is empty"),
        (BASE[BASE["variant"] != "original"], {}, "no rows of the variant 'original'"),
        (
            BASE[(BASE["variant"] != "original") | (BASE["example"] != "e2")],
            {},
            "example 'e2' has no rating of its original",
        ),
        (
            BASE[(BASE["variant"] != "original") | ~BASE["example"].isin(["e2", "e3"])],
            {},
            "example 'e2' has no rating of its original",
        ),
        (change(BASE, 7, score=1e307), {}, "a score is larger than 1e"),
        (
            pd.concat([BASE, BASE.iloc[[4]]]),
            {},
            "sample 0 of example 'e1', variant 'original'.*is rated twice",
        ),
        (BASE, {"suite": "summeval"}, "variant 'v' is not in the suite"),
        (
            BASE.replace("fluency", "fluencey"),
            {"suite": "summeval"},
            "row 3: unknown metric 'fluencey'",
        ),
        (
            change(BASE, 7, score=99),
            {"suite": "summeval"},
            "row 7: score 99 is off the scale of metric 'fluency'",
        ),
        (BASE.assign(score=BASE["score"] > 3), {}, "column 'score' is of type bool"),
        (BASE.assign(score=BASE["score"] + 1j), {}, "column 'score' is of type complex128"),
        ([1, 2], {}, "a list; must be a pandas DataFrame"),
        (change(BASE, 7, score=np.True_), {}, "row 7: score .*True_? is not a number"),
        (change(BASE, 7, score=True), {}, "row 7: score True is not a number"),
        (BASE[BASE["variant"] == "original"], {}, "no rows of any variant besides 'original'"),
        (BASE, {"suite": "sumeval"}, "unknown suite 'sumeval'.*'summeval'"),
        (BASE.assign(level=["a", "b"] * 20), {}, "variant 'v' has two levels"),
    ],
)
def test_bad_tables_are_refused_in_one_line(
    frame: pd.DataFrame, options: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        dhp.analyze(frame, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"statistics": "papers"}, "`statistics` 'papers': unknown.*'paper'"),
        ({"combination": "hmpp"}, "`combination` 'hmpp': unknown.*'hmp'"),
        ({"weights": "desing"}, "unknown weights 'desing'.*'design'"),
        ({"weights": "design"}, "weights 'design' hold several tasks"),
    ],
)
def test_bad_settings_are_refused_in_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        dhp.analyze(BASE, analysis=dhp.AnalysisConfig(**options))
    assert "\n" not in str(caught.value)


def test_weights_without_a_row_or_with_other_metrics_are_refused(tmp_path: Path) -> None:
    typos = BASE.replace({"variant": {"v": "random_typos.minor"}})
    with pytest.raises(InputError, match="gives weight to metrics without ratings"):
        dhp.analyze(
            typos[typos["metric"] != "fluency"],
            suite="summeval",
            analysis=dhp.AnalysisConfig(weights="design"),
        )
    row = "{coherence: 1, consistency: 0, fluency: 0, relevance: 0}"
    file = tmp_path / "own.yaml"
    file.write_text(
        f"weights: own\nversion: 1\nprovenance: x\ntasks: {{summarization: {{reordering: {row}}}}}\n"
    )
    with pytest.raises(InputError, match="no row for perturber 'random_typos' under task 'summarization'"):
        dhp.analyze(typos, suite="summeval", analysis=dhp.AnalysisConfig(weights=str(file)))
    ordered = typos.replace({"variant": {"random_typos.minor": "reordering.minor"}})
    result = dhp.analyze(ordered, suite="summeval", analysis=dhp.AnalysisConfig(weights=str(file))).variants[
        0
    ]
    assert 0.05**result.d_ew == pytest.approx(result.metrics["coherence"].p)


def test_weights_of_one_task_serve_ratings_whose_task_is_unknown(tmp_path: Path) -> None:
    row = "{coherence: 1.0, consistency: 0.0, fluency: 0.0, relevance: 0.0}"
    file = tmp_path / "own.yaml"
    file.write_text(
        f"weights: own\nversion: 1\nprovenance: x\ntasks: {{summarization: {{reordering: {row}}}}}\n"
    )
    frame = table({"reordering.major": {"coherence": 1.0}})
    (found,) = dhp.analyze(frame, analysis=dhp.AnalysisConfig(weights=str(file))).variants
    assert 0.05**found.d_ew == pytest.approx(found.metrics["coherence"].p)
    assert 0.05**found.d_ew < found.p


def test_sign_flips_are_for_halves_and_a_missing_pair_is_none() -> None:
    """Of the 16 signs of 1, 1, 1/2, 1/2 one sum is as large as theirs."""
    scores = {"original": [1, 1, 1, 1, None], "worse.minor": [0, 0, 0.5, 0.5, 0]}
    rows = [
        (str(e), v, "m", score, "failed" if score is None else "scored")
        for v, each in scores.items()
        for e, score in enumerate(each)
    ]
    frame = pd.DataFrame(rows, columns=["example", "variant", "metric", "score", "status"])
    analysis = dhp.AnalysisConfig(statistics="sign-flip")
    (found,) = dhp.analyze(frame, analysis=analysis).variants
    assert (found.metrics["m"].n, found.p) == (4, pytest.approx(1 / 16))
    with pytest.raises(InputError, match="multiples of 1/2"):
        dhp.analyze(frame.replace({"score": {0.5: 0.75}}), analysis=analysis)


@pytest.mark.slow
@pytest.mark.parametrize("harmless", [False, True])
def test_a_curve_goes_from_harmless_copies_through_75_per_cent(harmless: bool) -> None:
    """Of 200 scores fall as many as at a threshold of 4 and a power of 1; the others rise.

    Every harmless copy scores a hair below its original, which takes no dose to a higher detection.
    """
    fell = {1: 116, 2: 129, 4: 150, 8: 175, 16: 194}
    rows = [(f"e{i}", "original", 3, "") for i in range(200)]
    rows += [(f"e{i}", "harmless", 2.9, "control") for i in range(200) if harmless]
    for dose, count in fell.items():
        rows += [(f"e{i}", f"random_typos.k{dose}", 2 if i < count else 4, "character") for i in range(200)]
    frame = pd.DataFrame(rows, columns=["example", "variant", "score", "level"]).assign(metric="fluency")
    (curve,) = dhp.analyze(frame).curves
    assert curve.detection == pytest.approx([count / 200 for count in fell.values()])
    assert curve.t75 is not None
    assert curve.t75.value == pytest.approx(4, rel=0.1)
