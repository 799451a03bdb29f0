"""Data in many files, here and in a store."""

import os
from pathlib import Path

import pytest

from dhp.core.errors import InputError
from dhp.loaders.resolve import resolve_datasets
from dhp.loaders.user import parts_name, read_texts

from .conftest import TASK, write_jsonl, write_parquet

ROWS = [{"id": str(i), "source": f"S{i}", "output": f"O{i}"} for i in range(6)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files of rows, one of another kind, and one in a folder below."""
    data = tmp_path / "texts"
    (data / "old").mkdir(parents=True)
    for part in range(3):
        write_parquet(data / f"part-{part}.parquet", ROWS[2 * part : 2 * part + 2])
    write_jsonl(data / "others.jsonl", [{"id": "x", "source": "S", "output": "O"}])
    write_parquet(data / "old" / "part-9.parquet", [{"id": "9", "source": "S9", "output": "O9"}])
    return data


def ids(name: str) -> list[str]:
    return [example.id for example in read_texts(name, TASK).examples]


def test_parts_are_read_in_the_order_of_their_names(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for prefix in ("", "file://"):
        assert ids(f"{prefix}{folder}/*.parquet") == list("012345")
        assert ids(f"{prefix}{folder}/part-[02].parquet") == list("0145")
        assert ids(f"{prefix}{folder}/*/*.parquet") == ["9"]
        assert ids(f"{prefix}{folder}/part-1.parquet") == list("23")
    monkeypatch.chdir(folder)
    assert ids("*.parquet") == list("012345")
    (found,) = resolve_datasets([f"{folder}/*.parquet"], task="summarization")
    assert (found.name, len(found.examples)) == ("texts", 6)


def test_a_store_that_fsspec_knows_is_read(folder: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.put(f"{folder}/", "/bucket/", recursive=True)
    try:
        assert ids("memory://bucket/*.parquet") == list("012345")
        assert parts_name("memory://bucket/*.parquet") == "bucket"
    finally:
        memory.rm("/bucket", recursive=True)


def test_a_file_whose_name_looks_like_a_pattern_is_itself(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a[1].jsonl", ROWS)
    assert ids(str(path)) == list("012345")
    assert parts_name(str(path)) == "a[1].jsonl"


def test_faults_are_one_line(folder: Path) -> None:
    write_jsonl(folder / "part-3.parquet", [{"id": 0}])
    for name, fault in (
        (f"{folder}/none-*.parquet", "no file fits; allowed: a pattern of files"),
        (f"{folder}/*.parquet", "part-3.parquet: not a Parquet file"),
        (f"file://{folder}/none.parquet", "cannot be read"),
        ("nowhere://x/*.parquet", "cannot be read"),
    ):
        with pytest.raises(InputError, match=fault) as e:
            read_texts(name, TASK)
        assert os.linesep not in str(e.value)
    (folder / "part-3.parquet").unlink()
    write_parquet(folder / "part-4.parquet", ROWS[:1])
    with pytest.raises(InputError, match=r"part-4.parquet: row 1: duplicate id '0' \(first at .*part-0"):
        read_texts(f"{folder}/*.parquet", TASK)
