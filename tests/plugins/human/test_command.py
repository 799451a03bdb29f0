"""`dhp correlate` prints what the functions of the plug-in compute."""

import io
import json
import re
from html import unescape
from pathlib import Path

import pandas as pd
import pytest

from tests.cli.conftest import Run


@pytest.fixture
def tables(tmp_path: Path) -> tuple[str, str]:
    rows = [
        {"source": f"s{i}", "system": f"m{j}", "metric": "fluency", "score": (i * j + i) % 5}
        for i in range(6)
        for j in range(4)
    ]
    human = pd.DataFrame(rows)
    ratings = pd.concat([human.assign(model="same"), human.assign(model="other", score=5 - human["score"])])
    for name, table in (("human", human), ("ratings", ratings)):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    return str(tmp_path / "ratings.csv"), str(tmp_path / "human.csv")


def test_table_and_json(dhp: Run, tables: tuple[str, str]) -> None:
    ratings, human = tables
    done = dhp("correlate", ratings, "--human", human, "--resamples", "20")
    assert done.code == 0
    assert "sources with constant or too few scores, left out within sources: 2" in done.out  # zeros alone
    found = json.loads(dhp("correlate", ratings, "--human", human, "--resamples", "0", "--json").out)
    values = {j["judge"]: j["mean"]["pooled.kendall"] for j in found["judges"]}
    assert values == pytest.approx({"same": 1, "other": -1})


def test_the_page_has_what_is_printed(dhp: Run, tables: tuple[str, str], tmp_path: Path) -> None:
    ratings, human = tables
    done = dhp("correlate", ratings, "--human", human, "--resamples", "20", "--html", tmp_path / "page.html")
    assert done.code == 0
    page = re.sub("<[^>]*>", " ", (tmp_path / "page.html").read_text("utf-8"))
    words = set(unescape(page).split())
    assert [word for word in done.out.split() if word not in words] == []


def test_two_tables_of_ratings_are_one(dhp: Run, tables: tuple[str, str], tmp_path: Path) -> None:
    ratings, human = tables
    frame = pd.read_csv(ratings)
    for name, part in frame.groupby("model"):
        part.to_csv(tmp_path / f"{name}.csv", index=False)
    one = dhp("correlate", ratings, "--human", human, "--resamples", "0", "--json")
    two = dhp("correlate", "same.csv", "other.csv", "--human", human, "--resamples", "0", "--json")
    assert json.loads(one.out) == json.loads(two.out)


def test_sources_with_a_single_system_are_said_once(dhp: Run, tmp_path: Path) -> None:
    """They are a matter of the data: not once for each metric of each judge."""
    rows = [
        {"source": f"s{i}", "system": f"m{j}", "metric": metric, "score": (i * j + i + j) % 5}
        for i in range(9)
        for j in range(1 if i < 5 else 4)
        for metric in ("fluency", "coherence")
    ]
    human = pd.DataFrame(rows)
    human.to_csv(tmp_path / "human.csv", index=False)
    ratings = pd.concat([human.assign(model=name) for name in ("one", "two")])
    ratings.to_csv(tmp_path / "ratings.csv", index=False)
    done = dhp("correlate", "ratings.csv", "--human", "human.csv", "--resamples", "0")
    assert done.code == 0
    assert done.out.count("left out within sources") == 1
    assert "note: sources with a single system, left out within sources: 5" in done.out


@pytest.mark.slow
def test_one_table_of_all_judges_for_programs(dhp: Run, tables: tuple[str, str]) -> None:
    """The judge that gives the human scores has 1 everywhere, the one that turns them round -1."""
    ratings, human = tables
    done = dhp("correlate", ratings, "--human", human, "--markdown", "--tau-c")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.out.splitlines() if "|" in line]
    assert rows[0] == ["level", "judge", "fluency r", "ρ", "τ-c", "mean r", "ρ", "τ-c"]
    pooled = {judge: figures for level, judge, *figures in rows if level == "all items"}
    assert {judge: (r, rho) for judge, (r, rho, *_) in pooled.items()} == {
        "same": ("1.000", "1.000"),
        "other": ("-1.000", "-1.000"),
    }
    frame = pd.read_csv(io.StringIO(dhp("correlate", ratings, "--human", human, "--csv").out))
    figures = [f"{m}.{c}" for m in ("fluency", "mean") for c in ("pearson", "spearman", "kendall")]
    assert list(frame.columns) == ["level", "judge", *figures]
    assert list(frame["level"]) == [level for level in ("per_source", "pooled", "system") for _ in range(2)]


@pytest.mark.slow
def test_a_metric_that_a_judge_has_no_scores_of(dhp: Run, tables: tuple[str, str], tmp_path: Path) -> None:
    _, human = map(pd.read_csv, tables)
    people = pd.concat([human.assign(metric=name) for name in ("fluency", "coherence", "relevance")])
    people.to_csv(tmp_path / "human.csv", index=False)
    lacking = people[people["metric"] != "coherence"].assign(model="lacking")
    pd.concat([people.assign(model="whole"), lacking]).to_csv(tmp_path / "ratings.csv", index=False)
    frame = pd.read_csv(io.StringIO(dhp("correlate", "ratings.csv", "--human", "human.csv", "--csv").out))
    pooled = frame[frame["level"] == "pooled"].set_index("judge")
    assert pooled["coherence.pearson"].isna().to_dict() == {"whole": False, "lacking": True}
    shown = dhp("correlate", "ratings.csv", "--human", "human.csv", "--markdown").out
    (row,) = (line for line in shown.splitlines() if "all items" in line and "lacking" in line)
    assert [cell.strip() for cell in row.split("|")][6:9] == ["–"] * 3
