"""`dhp judge` rates given texts; its table goes to `dhp correlate`."""

import json
from pathlib import Path

import pandas as pd
import pytest

import dhp as library
from tests.cli.conftest import Run

TEXTS = [
    {
        "id": str(i),
        "system": system,
        "source": f"Ann has {i} cats in town {i}.",
        "output": output,
        "score:fluency": s,
    }
    for i in range(5)
    for system, output, s in (
        ("good", f"Ann has {i} cats.", 5),
        ("fair", f"Ann has {i} cta.", 3),
        ("bad", "xq zrtw", i % 2),
    )
]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    pd.DataFrame(TEXTS).to_csv(tmp_path / "texts.csv", index=False)
    return tmp_path / "texts.csv"


def test_ratings_of_a_table_are_correlated(dhp: Run, table: Path) -> None:
    done = dhp("judge", table, "--model", "metric/meteor-exact", "--out", "ratings.jsonl")
    assert (done.code, "15 scored" in done.out) == (0, True)
    ratings = pd.read_json("ratings.jsonl", lines=True)
    assert set(ratings["metric"]) == {"meteor_exact"}
    human = pd.DataFrame(TEXTS).assign(
        source=lambda t: t["id"], metric="fluency", score=lambda t: t["score:fluency"]
    )
    human[["source", "system", "metric", "score"]].to_csv("human.csv", index=False)
    found = dhp("correlate", "ratings.jsonl", "--human", "human.csv", "--resamples", "0", "--json")
    (judge,) = json.loads(found.out)["judges"]
    assert judge["mean"]["system.spearman"] == pytest.approx(1)


def test_the_library_gives_the_same_table(dhp: Run, table: Path) -> None:
    dhp("judge", table, "--model", "baseline/surface", "--metric", "fluency", "--out", "ratings.csv")
    here = library.judge("baseline/surface", str(table), metrics=["fluency"])
    there = pd.read_csv("ratings.csv", dtype={"source": str})
    assert list(here["score"]) == pytest.approx(list(there["score"]))
    assert list(here["source"]) == list(there["source"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "metric/meteor-exact", "--out", "x.txt"], "--out x.txt: allowed: a file that ends in"),
        (["--model", "metric/meteor", "--out", "x.csv"], "unknown metric 'meteor'"),
        (["--model", "baseline/surface", "--task", "sumarization", "--out", "x.csv"], "did you mean"),
    ],
)
def test_errors(dhp: Run, table: Path, arguments: list[str], message: str) -> None:
    done = dhp("judge", table, *arguments)
    assert (done.code, message in done.err, done.err.count("\n")) == (2, True, 1), done.err
