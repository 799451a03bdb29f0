"""`dhp judge` rates given texts; its table goes to `dhp correlate`."""

import itertools
import json
import time
from pathlib import Path

import pandas as pd
import pytest

import dhp as library
from tests.cli.conftest import Run, write_rows
from tests.server import Answer, Call, reply, scripted_server

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


@pytest.mark.slow
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


@pytest.mark.slow
def test_rows_are_in_the_order_of_the_texts_whatever_is_answered_first(dhp: Run, table: Path) -> None:
    numbers = itertools.count()

    def says(call: Call) -> Answer:
        time.sleep(0.05 * (5 - next(numbers) % 6))
        return reply("4")

    with scripted_server(says) as server:
        more = ("--base-url", f"{server.url}/v1", "--cache", "cache", "--concurrency", "6", "--samples", "1")
        dhp("judge", table, "--model", "openai/stub", *more, "--out", "ratings.csv")
    rows = pd.read_csv("ratings.csv", dtype={"source": str})
    keys = [tuple(row) for row in rows[["source", "system"]].drop_duplicates().to_numpy()]
    assert keys == [(t["id"], t["system"]) for t in TEXTS]
    metrics = [*rows["metric"].drop_duplicates()]
    assert [*rows["metric"]] == metrics * len(TEXTS)


@pytest.mark.parametrize("name", ["ratings.csv", "ratings.jsonl"])
def test_a_full_disk_is_named_with_the_file(
    dhp: Run, table: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", full)
    monkeypatch.setattr(pd.DataFrame, "to_json", full)
    done = dhp("judge", table, "--model", "mock/noisy", "--out", name)
    assert done.code == 3
    assert f"dhp: {name}: cannot be written (No space left on device); make room" in done.err
    assert not Path(name).exists()


def test_a_folder_is_never_replaced_by_a_table(dhp: Run, table: Path) -> None:
    for name in ("mine.csv", "mine.parquet"):
        Path(name).mkdir()
        Path(name, "kept.txt").write_text("mine")
        done = dhp("judge", table, "--model", "mock/noisy", "--out", name)
        assert (done.code, done.err) == (
            2,
            f"dhp: --out {name}: is a folder; allowed: a file, new or to be replaced\n",
        )
        assert Path(name, "kept.txt").exists()


def test_the_library_gives_the_same_table(dhp: Run, table: Path) -> None:
    dhp("judge", table, "--model", "baseline/surface", "--metric", "fluency", "--out", "ratings.csv")
    here = library.judge("baseline/surface", str(table), metrics=["fluency"])
    there = pd.read_csv("ratings.csv", dtype={"source": str})
    assert list(here["score"]) == pytest.approx(list(there["score"]))
    assert list(here["source"]) == list(there["source"])


def test_published_sets_are_judged_by_the_metrics_that_people_rated(dhp: Run, tmp_path: Path) -> None:
    """From the file of its owners to the correlation, with no word on the task."""
    story = {"text": "It rained.", "score": {"human": [1, 2, 3]}}
    texts = [
        {"doc_id": i, "prompt": f"Ann {i}", "gen": {s: {**story, "text": s * (i + 1)} for s in "abc"}}
        for i in range(4)
    ]
    (tmp_path / "roc.json").write_text(json.dumps(texts))
    items = {
        str(i): {
            "src": "inform(name=X)",
            "ref_summs": ["X."],
            "sys_summ": "x" * (i + 1),
            "scores": {"informativeness": i, "naturalness": 4, "quality": 6 - i},
        }
        for i in range(4)
    }
    (tmp_path / "bagel.json").write_text(json.dumps(items))
    for name, file, metrics in (("openmeva_roc", "roc.json", 1), ("bagel", "bagel.json", 3)):
        given, out = f"{name}={tmp_path / file}", str(tmp_path / "ratings.csv")
        done = dhp("judge", given, "--model", "baseline/surface", "--out", out)
        assert ("note: bagel: its informativeness" in done.out) == (name == "bagel")
        found = dhp("correlate", out, "--human", given, "--resamples", "0", "--json").out
        assert len(json.loads(found)["judges"][0]["metrics"]) == metrics


def test_a_csv_file_holds_no_formula_and_no_control_character(dhp: Run) -> None:
    odd = ["=HYPERLINK(1)", "@x", "a\x1b[2Jb\u202e"]
    rows = [{"id": i, "source": "Ann has cats.", "output": "Ann has a cat."} for i in odd]
    write_rows("odd.jsonl", rows)
    judged = ("judge", "odd.jsonl", "--task", "summarization", "--model", "baseline/surface", "--out")
    assert dhp(*judged, "x.csv").code == dhp(*judged, "x.jsonl").code == 0
    safe = ["'=HYPERLINK(1)", "'@x", "a\ufffd[2Jb\ufffd"]
    assert pd.read_csv("x.csv")["source"].unique().tolist() == safe
    assert pd.read_json("x.jsonl", lines=True)["source"].unique().tolist() == odd
