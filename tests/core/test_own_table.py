"""Tables of ratings as other programs write them give what the same ratings give in our form."""

import json
import logging
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dhp
from dhp.core.errors import InputError
from dhp.core.own_table import RatingsForm
from dhp.report.notes import notes

rng = np.random.default_rng(3)
GOOD = rng.integers(3, 6, 30)
WIDE = pd.DataFrame(
    {
        "id": [f"e{k}" for k in range(30)],
        "original": GOOD,
        "typos": GOOD - rng.integers(0, 2, 30),
        "wrong_facts": GOOD - rng.integers(-1, 2, 30),
    }
)
LONG = (
    WIDE.rename(columns={"id": "example"})
    .melt(id_vars="example", var_name="variant", value_name="score")
    .assign(metric="overall")
)


def figures(results: dhp.Results) -> list[tuple[str, float | None, float | None]]:
    return [(row.variant, row.d, row.detection) for each in results for row in each.variants]


@pytest.mark.slow
def test_a_wide_table_is_the_long_one(tmp_path: Path) -> None:
    WIDE.to_csv(tmp_path / "wide.csv", index=False)
    wanted = figures(dhp.analyze(LONG))
    assert figures(dhp.analyze(WIDE)) == wanted
    assert figures(dhp.analyze(tmp_path / "wide.csv")) == wanted
    assert figures(dhp.analyze(WIDE.drop(columns="id"))) == wanted
    assert len({score for _, _, score in wanted}) == 2
    assert figures(dhp.analyze(WIDE.rename(columns={"id": "ID", "original": "Original"}))) == wanted
    assert figures(dhp.analyze(LONG.rename(columns=str.title))) == wanted


@pytest.mark.parametrize("table", [WIDE, LONG])
def test_decimal_commas_of_a_spreadsheet_are_points(tmp_path: Path, table: pd.DataFrame) -> None:
    tenths = table.copy()
    scores = [name for name in ("original", "typos", "wrong_facts", "score") if name in table]
    tenths[scores] = tenths[scores] / 10
    tenths.to_csv(tmp_path / "german.csv", index=False, sep=";", decimal=",")
    assert "," in (tmp_path / "german.csv").read_text()
    assert figures(dhp.analyze(tmp_path / "german.csv")) == figures(dhp.analyze(LONG))


def test_a_comma_that_may_be_of_thousands_is_named() -> None:
    with pytest.raises(InputError, match=r"score '1,234' is not a number \(its comma may be decimal or of"):
        dhp.analyze(LONG.assign(score="1,234"))


def test_errors_of_a_spreadsheet_are_missing_scores() -> None:
    holed = [WIDE.astype({"typos": object}) for _ in range(2)]
    for frame, cell in zip(holed, ("#N/A", ""), strict=True):
        frame.loc[int((WIDE["typos"] < WIDE["original"]).idxmax()), "typos"] = cell
    assert figures(dhp.analyze(holed[0])) == figures(dhp.analyze(holed[1])) != figures(dhp.analyze(WIDE))


@pytest.mark.slow
def test_a_table_without_metrics_has_one(tmp_path: Path) -> None:
    plain = LONG.drop(columns="metric")
    plain.to_csv(tmp_path / "long.csv", index=False)
    plain.to_parquet(tmp_path / "long.parquet", row_group_size=40)
    for table in (plain, tmp_path / "long.csv", tmp_path / "long.parquet"):
        assert figures(dhp.analyze(table)) == figures(dhp.analyze(LONG))
    with pytest.raises(InputError, match=r"column 'metric' is missing; did you mean 'metrics'"):
        dhp.analyze(LONG.rename(columns={"metric": "metrics"}))


def test_a_wide_table_may_name_metrics_and_hold_texts_which_are_told_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    both = pd.concat([WIDE.assign(metric=name) for name in ("fluency", "facts")])
    with caplog.at_level(logging.WARNING, "dhp"):
        (found,) = dhp.analyze(both.assign(text="words"))
    assert set(found.variants[0].metrics) == {"fluency", "facts"}
    assert "left out, as they hold no scores: text" in caplog.text


def test_an_empty_cell_of_a_wide_table_is_a_tie() -> None:
    holed = WIDE.astype({"typos": object})
    holed.loc[4, "typos"] = ""
    (found,) = dhp.analyze(holed)
    assert {row.variant: row.n for row in found.variants} == {"typos": 30, "wrong_facts": 30}
    assert {row.variant: row.metrics["overall"].unread for row in found.variants} == {
        "typos": 1,
        "wrong_facts": 0,
    }


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (WIDE.astype({"typos": object}).replace({"typos": {int(WIDE["typos"][0]): "bad"}}), "typos is 'bad'"),
        (WIDE.assign(original="text"), "column 'original' holds no scores"),
    ],
)
def test_a_wide_table_with_something_else_in_it_is_refused(frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(InputError, match=message):
        dhp.analyze(frame)


THEIRS = {"example": "item_id", "variant": "condition", "metric": "criterion", "score": "rating"}


def test_columns_of_other_names_are_named_by_fields(tmp_path: Path) -> None:
    theirs = LONG.rename(columns=THEIRS)
    theirs.to_csv(tmp_path / "r.csv", index=False)
    form = RatingsForm(fields=THEIRS)
    assert figures(dhp.analyze(tmp_path / "r.csv", form=form)) == figures(dhp.analyze(LONG))
    assert figures(dhp.analyze(theirs, form=form)) == figures(dhp.analyze(LONG))
    with pytest.raises(InputError, match="column 'ratings' is missing; did you mean 'rating'"):
        dhp.analyze(theirs, form=RatingsForm(fields=THEIRS | {"score": "ratings"}))


def test_a_field_reaches_into_nested_values(tmp_path: Path) -> None:
    rows = [
        {"example": row.example, "variant": row.variant, "answer": {"parsed": {"score": int(row.score)}}}
        for row in LONG.itertuples()
    ]
    path = tmp_path / "r.jsonl"
    path.write_text("\n".join(json.dumps(row | {"metric": "m", "tags": ["a"]}) for row in rows))
    form = RatingsForm(fields={"score": "answer.parsed.score"})
    assert figures(dhp.analyze(path, form=form)) == figures(dhp.analyze(LONG.assign(metric="m")))
    with pytest.raises(InputError, match=r"line 1: .answer.parsed. holds a dict"):
        dhp.analyze(path, form=RatingsForm(fields={"score": "answer.parsed"}))


def test_names_of_judge_and_data_are_given_once() -> None:
    (found,) = dhp.analyze(WIDE, form=RatingsForm(name="mine", dataset="tickets"))
    assert (found.model, found.dataset) == ("mine", "tickets")
    with pytest.raises(InputError, match="column 'model' says it already"):
        dhp.analyze(LONG.assign(model="theirs"), form=RatingsForm(name="mine"))


def test_kinds_with_an_empty_level_are_one_level_and_told_of() -> None:
    levels = LONG["variant"].map({"typos": "character"})
    (found,) = dhp.analyze(LONG.assign(level=levels))
    assert {row.variant: row.level for row in found.variants} == {"typos": "character", "wrong_facts": "all"}
    assert "level unknown, together one level more: wrong facts" in notes(found)
    (none,) = dhp.analyze(LONG.assign(level=""))
    assert none.levels == "none"
    (some,) = dhp.analyze(LONG.assign(level=levels.where(LONG["example"] != "e3")))
    assert some.variants[0].level == "character", "another row of the kind says it"


PAIRS = [
    {"id": i, "kind": kind, "scores": {"whole": 0.9, "broken": 0.9 - loss * (i + 1)}}
    for i in range(8)
    for kind, loss in (("number", 0.05), ("name", 0.0))
]


def test_a_row_may_hold_the_score_of_a_degraded_text_and_of_its_original(tmp_path: Path) -> None:
    """One damage lowers the score of every pair, the other of none."""
    path = tmp_path / "pairs.jsonl"
    pd.DataFrame(PAIRS).to_json(path, orient="records", lines=True)
    fields = {"variant": "kind", "original": "scores.whole", "score": "scores.broken", "cluster": "id"}
    (result,) = dhp.analyze(path, form=RatingsForm(fields=fields))
    assert {v.variant: v.detection for v in result.variants} == {"number": 1.0, "name": 0.5}
    with pytest.raises(InputError, match=r"column 'scores\.brokn' is missing"):
        dhp.analyze(path, form=RatingsForm(fields=fields | {"score": "scores.brokn"}))


def test_two_scores_in_a_row_need_no_name_of_the_damage(tmp_path: Path) -> None:
    """Scores of the undamaged text are never passed over."""
    path = tmp_path / "two.csv"
    pd.DataFrame({"item": [*"abcdefgh"], "good": 8, "bad": [7, 6, 8, 7, 9, 5, 6, 7]}).to_csv(
        path, index=False
    )
    (result,) = dhp.analyze(path, form=RatingsForm(fields={"original": "good", "score": "bad"}))
    assert [(v.variant, v.detection) for v in result.variants] == [("perturbed", (6 + 0.5) / 8)]
    with pytest.raises(InputError, match="of two scores in a row: --field original=COLUMN --field score="):
        dhp.analyze(path)


@pytest.mark.realdata
@pytest.mark.slow
def test_published_scores_of_bump(real: Path) -> None:
    """Kinds are those that the authors count by; truth is the file itself, and scipy's test."""
    path = real / "bump" / "task1_dataset.json"
    fields = {
        "variant": "corrected_error_type",
        "original": "scores.QAFactEval_reference",
        "score": "scores.QAFactEval_edited",
        "cluster": "article_id",
    }
    (result,) = dhp.analyze(path, form=RatingsForm(fields=fields))
    rows = pd.DataFrame(json.loads(path.read_text()))
    rows["apart"] = [s["QAFactEval_reference"] - s["QAFactEval_edited"] for s in rows["scores"]]
    assert len(result.variants) == 7
    for variant in result.variants:
        apart = rows.loc[rows["corrected_error_type"] == variant.variant, "apart"]
        assert variant.detection == pytest.approx((apart > 0).mean() + (apart == 0).mean() / 2)
        p = stats.wilcoxon(apart, alternative="greater", zero_method="wilcox", method="exact").pvalue
        if p > 1e-14:  # scipy's tail sums lose themselves beyond
            assert variant.d == pytest.approx(math.log(p) / math.log(0.05), abs=0.1)
