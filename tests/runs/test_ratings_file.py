"""Ratings of a run as one file or as a folder of parts: the same to every reader."""

from pathlib import Path

import pandas as pd
import pyarrow.dataset
import pytest

import dhp
from dhp.core.errors import InputError
from dhp.core.ratings_table import read_ratings
from dhp.leaderboard.reading import read_entries
from dhp.report.page import html_report
from dhp.runs.ratings_file import RatingsFile
from dhp.runs.reader import read_run

ROWS = "dhp.runs.ratings_file.PART_ROWS"


def frames(count: int = 3, examples: int = 20) -> list[pd.DataFrame]:
    """Ratings of some judges, without answers but for the last one's."""
    return [
        pd.DataFrame(
            [
                {"example": f"e{i}", "variant": variant, "metric": "m", "sample": 0, "score": float(i % 5)}
                for i in range(examples)
                for variant in ("original", "worse")
            ]
        ).assign(raw=None if judge < count - 1 else "3", model=f"judge {judge}")
        for judge in range(count)
    ]


def write(path: Path, given: list[pd.DataFrame]) -> pd.DataFrame:
    """Write ratings; returns what is read."""
    file = RatingsFile(path)
    for frame in given:
        file.add(frame)
    file.finish()
    return read_ratings(path)


def test_parts_hold_what_the_file_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, parts = tmp_path / "a" / "ratings.parquet", tmp_path / "b" / "ratings.parquet"
    whole = write(file, frames())
    assert file.is_file()
    monkeypatch.setattr(ROWS, 30)
    assert write(parts, frames()).to_csv() == whole.to_csv()
    assert [len(pd.read_parquet(p)) for p in sorted(parts.iterdir())] == [40, 40, 40]
    for table in (pd.read_parquet(parts), pyarrow.dataset.dataset(parts).to_table().to_pandas()):
        assert table.to_csv() == whole.to_csv()
    assert [p.name for p in parts.parent.iterdir()] == ["ratings.parquet"], "nothing else is left"


@pytest.mark.parametrize("rows", [1, 39, 40, 41, 119, 120, 121])
def test_no_part_is_larger_than_its_limit_or_one_table(
    rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ROWS, rows)
    path = tmp_path / "ratings.parquet"
    assert len(write(path, frames())) == 120
    files = [path] if path.is_file() else sorted(path.iterdir())
    assert max(len(pd.read_parquet(file)) for file in files) <= max(rows, 40)
    assert path.is_file() == (rows >= 120)


def test_a_file_and_parts_take_the_place_of_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ratings.parquet"
    left = tmp_path / ".ratings.parquet.abcd1234" / "part-00007.parquet"  # by a killed run
    left.parent.mkdir()
    left.touch()
    for count, rows in ((3, 50), (2, 1000), (1, 7), (3, 7)):
        monkeypatch.setattr(ROWS, rows)
        assert write(path, frames(count)).to_csv() == pd.concat(frames(count), ignore_index=True).to_csv()
        assert path.is_dir() == (count > 1 and rows < 1000)


def test_columns_in_another_order_or_number_are_kept(tmp_path: Path) -> None:
    one, other, third = frames()
    tables = [one, other[other.columns[::-1]], third.assign(cluster="c")]
    found = write(tmp_path / "ratings.parquet", tables)
    wanted = pd.concat(tables, ignore_index=True)
    assert found.fillna("-").to_dict("records") == wanted.fillna("-").to_dict("records")


def test_what_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ROWS, 5)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"ratings\.parquet: cannot be written"):
        write(tmp_path / "file" / "ratings.parquet", frames())


def test_an_empty_folder_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "ratings.parquet").mkdir()
    with pytest.raises(InputError, match="holds something else than ratings; remove it"):
        write(tmp_path / "ratings.parquet", frames(1))
    assert (tmp_path / "ratings.parquet").is_dir()


def test_a_part_that_is_none_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "ratings.parquet"
    folder.mkdir()
    with pytest.raises(InputError, match="no such file in this folder; expected: parts of a ratings table"):
        dhp.analyze(folder)
    frames(1)[0].to_parquet(folder / "part-0.parquet")
    (folder / "part-1.parquet").write_text("nothing")
    with pytest.raises(InputError, match=r"part-1\.parquet: "):
        dhp.analyze(folder)
    pd.DataFrame({"example": [1], "score": ["x"]}).to_parquet(folder / "part-1.parquet")
    with pytest.raises(InputError, match="its parts have different columns"):
        dhp.analyze(folder)


@pytest.mark.slow
def test_every_reader_takes_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = tmp_path / "file", tmp_path / "parts"
    for folder, rows in zip(folders, (1000, 100), strict=True):
        monkeypatch.setattr(ROWS, rows)
        dhp.run(["mock/noisy", "mock/ideal"], "mini/summeval", n=3, out=folder, progress=None)
    assert (folders[1] / "ratings.parquet").is_dir()
    file, parts = map(read_run, folders)
    assert [each.ratings.digest for each in parts.rated] == [each.ratings.digest for each in file.rated]
    tables = [dhp.analyze(folder / "ratings.parquet", suite="summeval") for folder in folders]
    figures = [[{**r.to_dict(), "created": None} for r in table] for table in tables]
    assert figures[0] == figures[1]
    assert [e.ratings is not None for e in read_entries([folders[1]])] == [True, True]
    # The pages differ in the time of the run alone.
    pages = [html_report(each).replace(each.manifest["created"], "") for each in (file, parts)]
    assert pages[0] == pages[1]
    first, second = (dhp.compare(folder) for folder in folders)
    assert repr(first) == repr(second)


@pytest.mark.slow
def test_datasets_with_and_without_clusters_go_into_one_run(tmp_path: Path) -> None:
    text = "Ann lives in town {} with two cats. She walks to the harbour because the market opens early."
    for name, sources in (("apart", range(6)), ("together", [0, 0, 1, 1, 2, 2])):
        rows = [{"source": f"{name} {s}", "output": text.format(i)} for i, s in enumerate(sources)]
        pd.DataFrame(rows).to_json(tmp_path / f"{name}.jsonl", orient="records", lines=True)
    files = [str(tmp_path / f"{name}.jsonl") for name in ("apart", "together")]
    both = dhp.run(
        "mock/noisy", files, task="summarization", suite="general", out=tmp_path / "r", progress=None
    )
    alone = [dhp.run("mock/noisy", f, task="summarization", suite="general", progress=None)[0] for f in files]
    assert [r.variants for r in both] == [r.variants for r in alone]
    assert [each.ratings.clusters is None for each in read_run(tmp_path / "r").rated] == [True, False]
