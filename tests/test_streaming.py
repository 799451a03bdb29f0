"""Runs of more ratings than are kept in memory: the same files and figures."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dhp.cli.main import main
from dhp.core.errors import InputError, StoppedEarly
from dhp.core.ratings_table import read_ratings
from dhp.core.tables import read_table
from dhp.judge import ratings as judge_ratings
from dhp.perturb import builder
from dhp.perturb.builder import perturb_datasets
from dhp.run import run
from dhp.runs import ratings_file

WAYS: dict[str, dict[str, Any]] = {
    "controls": {"dataset": "mini/summeval", "n": 7},
    "clusters and authored edits": {"dataset": "mini/answer_equivalence", "n": 9, "attacks": True},
    "doses": {"dataset": "mini/story_cloze", "n": 5, "doses": (1, 2)},
}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few texts and ratings are many."""
    monkeypatch.setattr(builder, "_PART", 4)
    monkeypatch.setattr(judge_ratings, "PART_RATINGS", 100)
    monkeypatch.setattr(ratings_file, "PART_ROWS", 300)


def files(folder: Path) -> dict[str, str]:
    """Name -> content, without the times at which something was written."""
    created = json.loads((folder / "manifest.json").read_text())["created"]
    found = {p.name: p.read_text() for p in folder.iterdir() if p.suffix in (".json", ".jsonl", ".html")}
    found = {name: text.replace(created, "") for name, text in found.items()}
    ratings = read_ratings(folder / "ratings.parquet").to_csv()
    results = json.loads(found["results.json"])
    for each in results:
        each.pop("created")
        each.pop("checksum")  # of the ratings in their parts
    return {
        **found,
        "results.json": json.dumps(results),
        "ratings": ratings,
    }


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_run_writes_the_same_files(
    way: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = ["mock/noisy?samples=2", "baseline/surface"]
    run(models, out=tmp_path / "memory", progress=None, **WAYS[way])
    request.getfixturevalue("small")
    run(models, out=tmp_path / "disk", progress=None, **WAYS[way])
    assert files(tmp_path / "memory") == files(tmp_path / "disk")


def write_texts(path: Path, count: int) -> Path:
    rows = [
        {"id": i, "source": f"S{i}. It rains.", "output": f"O{i} is a text. It has words."}
        for i in range(count)
    ]
    pd.DataFrame(rows).to_json(path, orient="records", lines=True)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_given_texts_are_judged_part_by_part(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    data, tables = write_texts(tmp_path / "texts.jsonl", 60), []
    for name in ("memory", "disk"):
        tables.append(tmp_path / f"{name}.{kind}")
        judges = ["--model", "mock/noisy", "--model", "baseline/random"]
        with pytest.raises(SystemExit, match="0"):
            main(["judge", str(data), *judges, "--out", str(tables[-1])])
        request.getfixturevalue("small")
    read: Any = {"csv": pd.read_csv, "jsonl": partial(pd.read_json, lines=True), "parquet": pd.read_parquet}[
        kind
    ]
    memory, disk = map(read, tables)
    pd.testing.assert_frame_equal(memory, disk)
    assert len(memory) == 60 * 4 * (1 + 1)
    assert tables[1].is_dir() == (kind == "parquet")
    pd.testing.assert_frame_equal(
        *(pd.DataFrame([r.values for r in read_table(path).rows]) for path in tables)
    )


def test_what_breaks_off_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def frames() -> Any:
        yield pd.DataFrame({"example": ["a"], "score": [1.0]})
        raise StoppedEarly("the server gave out")

    with pytest.raises(StoppedEarly), ratings_file.RatingsFile(tmp_path / "r.parquet") as file:
        list(file.tee(frames()))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("small")
def test_an_id_that_stands_twice_is_named_with_both_places(tmp_path: Path) -> None:
    path = write_texts(tmp_path / "t.jsonl", 30)
    path.write_text(path.read_text() + path.read_text().splitlines()[4] + "\n")
    with pytest.raises(
        InputError, match=r"t\.jsonl: line 31: duplicate id '4' \(first at .*t\.jsonl: line 5\)"
    ):
        perturb_datasets(str(path), task="summarization", suite="general", progress=None)
