"""One sheet with a judge beside people, as they keep it, gives the figures of two tables."""

import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr

from dhp.stats.krippendorff import krippendorff_alpha
from tests.cli.conftest import Run

N = 40
_RNG = np.random.default_rng(5)
TRUTH = _RNG.normal(size=N)


def rounded(noise: float) -> list[int]:
    return [round(v) for v in np.clip(6 + 2 * TRUTH + _RNG.normal(scale=noise, size=N), 1, 10)]


SHEET = pd.DataFrame(
    {
        "Ticket": [f"T-{i}" for i in range(N)],
        "text": [f"a text, number {i}" for i in range(N)],
        "gpt": rounded(1.5),
        "anna": rounded(1.0),
        "ben": rounded(1.0),
        "thumb": np.where(TRUTH > -0.3, "👍", "👎"),
    }
)


def found(dhp: Run, frame: pd.DataFrame, *options: str) -> dict[str, Any]:
    frame.to_csv("sheet.csv", index=False)
    done = dhp("correlate", "sheet.csv", *options, "--json")
    assert done.code == 0, done.err
    figures: dict[str, Any] = json.loads(done.out)
    return figures


def pooled(figures: dict[str, Any]) -> float:
    (metric,) = figures["judges"][0]["metrics"]
    (value,) = (
        c["value"] for c in metric["correlations"] if (c["level"], c["coefficient"]) == ("pooled", "pearson")
    )
    return float(value)


def test_the_usual_names_need_no_option(dhp: Run) -> None:
    names = {"Ticket": "id", "gpt": "judge", "anna": "human"}
    figures = found(dhp, SHEET.rename(columns=names)[["id", "text", "judge", "human"]])
    assert pooled(figures) == pytest.approx(pearsonr(SHEET["gpt"], SHEET["anna"]).statistic)


def test_the_usual_names_are_names_of_fields_too(dhp: Run) -> None:
    asked = ("--field", "id=Ticket", "--field", "judge=gpt", "--field", "human=anna")
    assert pooled(found(dhp, SHEET, *asked)) == pytest.approx(pearsonr(SHEET["gpt"], SHEET["anna"]).statistic)


@pytest.mark.slow
def test_several_columns_of_people_are_raters_and_say_what_they_allow(dhp: Run) -> None:
    asked = ("--field", "source=Ticket", "--field", "score=gpt", "--field", "human=anna,ben")
    figures = found(dhp, SHEET, *asked)
    mean = SHEET[["anna", "ben"]].mean(axis=1)
    r = pearsonr(SHEET["gpt"], mean).statistic
    assert pooled(figures) == pytest.approx(r)
    alpha = krippendorff_alpha(SHEET[["anna", "ben"]].to_numpy(float).T)
    assert alpha is not None
    ceiling = (2 * alpha / (1 + alpha)) ** 0.5
    said = dhp("correlate", "sheet.csv", *asked).out
    first = said.splitlines()[0]
    assert first.startswith(f"judge agrees with people: r = {r:.2f} (")
    assert first.endswith(f"over {N} texts; people among themselves allow {ceiling:.2f}")
    assert not re.search(r"undefined|within sources|systems|–", said)


@pytest.mark.slow
def test_a_row_for_each_rater_is_the_same_sheet(dhp: Run) -> None:
    wide = found(dhp, SHEET, "--field", "source=Ticket", "--field", "score=gpt", "--field", "human=anna,ben")
    rows = SHEET.melt(["Ticket", "gpt"], ["anna", "ben"], var_name="rater", value_name="human")
    long = found(dhp, rows.rename(columns={"Ticket": "id", "gpt": "judge"}))
    assert long == wide


def test_several_columns_of_judges_are_judges(dhp: Run) -> None:
    figures = found(dhp, SHEET, "--field", "score=gpt,ben", "--field", "human=anna")
    assert [judge["judge"] for judge in figures["judges"]] == ["gpt", "ben"]
    assert len(figures["pairs"]) == 1


@pytest.mark.slow
def test_thumbs_correlate_and_have_error_rates_at_a_mark(dhp: Run) -> None:
    asked = ("--field", "source=Ticket", "--field", "score=gpt", "--field", "human=thumb")
    good = SHEET["thumb"] == "👍"
    assert pooled(found(dhp, SHEET, *asked)) == pytest.approx(pearsonr(SHEET["gpt"], good).statistic)
    assert "--passes X" in dhp("correlate", "sheet.csv", *asked).out
    (row,) = found(dhp, SHEET, *asked, "--passes", "6")["agreement"]
    passes = SHEET["gpt"] >= 6
    assert row["counts"] == [
        int((good & passes).sum()),
        int((good & ~passes).sum()),
        int((~good & passes).sum()),
        int((~good & ~passes).sum()),
    ]
    first = dhp("correlate", "sheet.csv", *asked, "--passes", "6").out.splitlines()[0]
    assert first.startswith(
        f"judge agrees with people on {100 * (good == passes).mean():.0f}% of {N} texts ("
    )


def test_a_few_human_scores_in_the_sheet_correct_the_mean_of_the_judge(dhp: Run) -> None:
    few = SHEET.assign(anna=SHEET["anna"].where(SHEET.index < 15))
    figures = found(dhp, few, "--correct", "--field", "score=gpt", "--field", "human=anna")
    (row,) = figures["means"]
    assert (row["texts"], row["labelled"], row["judged"]) == (N, 15, pytest.approx(SHEET["gpt"].mean()))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--field", "score=gtp"], "column 'gtp' is missing; did you mean 'gpt'"),
        (["--field", "jugde=gpt"], "unknown field 'jugde'; did you mean 'judge'?"),
        (["--field", "score=gpt", "--field", "human=anna,bob"], "column 'bob' is missing"),
        (["--field", "score=gpt"], "--human: is missing; give a table of human scores, or NAME=FILE of"),
    ],
)
def test_what_is_wrong_is_one_line(dhp: Run, options: list[str], message: str) -> None:
    SHEET.to_csv("sheet.csv", index=False)
    done = dhp("correlate", "sheet.csv", *options)
    assert (done.code, message in done.err, done.err.count("\n")) == (2, True, 1), done.err


def test_the_sentence_names_the_systems_and_does_not_claim_chance(dhp: Run) -> None:
    rng = np.random.default_rng(1)
    rows = [(f"s{i}", f"m{j}", *rng.integers(1, 6, 2)) for i in range(12) for j in range(4)]
    pd.DataFrame(rows, columns=["id", "system", "judge", "human"]).to_csv("chance.csv", index=False)
    said = dhp("correlate", "chance.csv").out
    assert "on texts of these 4 systems" in said.splitlines()[0]
    assert said.splitlines()[0].endswith("which is not shown to be more than chance")
    assert "note: intervals are for other sources and these systems" in said
