"""The user's own files: plain examples, Hugging Face datasets, data in many files, here and in a store."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from dhp.core.errors import InputError
from dhp.core.records import Example
from dhp.loaders.dataset import Dataset
from dhp.loaders.pairs import id_of_texts
from dhp.loaders.parts import parts_name
from dhp.loaders.resolve import resolve_datasets
from dhp.loaders.user import read_texts

from .conftest import ROOT, TASK, write_csv, write_jsonl, write_parquet

ROW = {"id": "a", "source": "S", "output": "O"}
WRITERS = {"jsonl": write_jsonl, "csv": write_csv, "parquet": write_parquet}


def read(path: Path, fields: Mapping[str, str] = {}, **where: Sequence[str]) -> Dataset:
    return read_texts(path, TASK, fields, where)


def message(path: Path, fields: Mapping[str, str] = {}) -> str:
    with pytest.raises(InputError) as e:
        read(path, fields)
    assert "\n" not in str(e.value)
    return str(e.value)


@pytest.mark.parametrize("form", WRITERS)
def test_each_form_gives_the_same_examples(tmp_path: Path, form: str) -> None:
    rows = [{"id": 1, "source": "S, 1\u2028", "output": 'O "1"', "year": 1999, "note": "n"}]
    rows.append({**rows[0], "id": 2, "source": "S" * 200_000, "note": "ä"})
    data = read(WRITERS[form](tmp_path / f"x.{form}", rows))
    assert data.examples[0] == Example("1", "S, 1\u2028", 'O "1"', {"year": "1999", "note": "n"})
    assert (data.examples[1].id, len(data.examples[1].source)) == ("2", 200_000)
    assert (data.pair_variants, data.pairs) == ((), ())


def test_texts_are_ids_and_nested_values_are_left_out(tmp_path: Path) -> None:
    rows = [
        {"source": "S", "output": "O", "list": ["x"], "none": None, "nan": float("nan"), "flag": True},
        {"source": "T", "output": "P"},
        {"source": "T", "output": "P"},
    ]
    one, two, three = read(write_jsonl(tmp_path / "x.jsonl", rows)).examples
    assert one == Example(id_of_texts("S", "O", {"flag": "True"}), "S", "O", {"flag": "True"})
    assert two == Example(id_of_texts("T", "P", {}), "T", "P")
    assert three.id == f"{two.id}~2"


def test_a_field_map_renames_and_takes_precedence(tmp_path: Path) -> None:
    path = write_jsonl(
        tmp_path / "x.jsonl", [{"article": "A", "summary": "S", "output": "not this", "key": "k"}]
    )
    mapped = {"source": "article", "output": "summary", "id": "key"}
    assert list(read(path, mapped).examples) == [Example("k", "A", "S")]
    missing = f"{path}: `fields` output=sumary: column 'sumary' is missing (did you mean 'summary'?)"
    assert missing in message(path, {"output": "sumary"})


def test_faults_name_file_row_and_what_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    assert "is a folder" in message(tmp_path)
    write_jsonl(path, [{"source": "s", "ouput": "o"}])
    assert "column 'output' is missing; map it by `fields` output=COLUMN (did you mean 'ouput'?)" in message(
        path
    )
    write_jsonl(path, [ROW, {**ROW, "source": "T"}])
    assert f"line 2: duplicate id 'a' (first at {path}: line 1)" in message(path)
    for column in ("source", "output", "id"):
        write_jsonl(path, [{**ROW, "id": "b"}, {**ROW, column: "  "}])
        assert message(path).startswith(
            f"{path}: 1 of 2 rows cannot be used: column '{column}' is empty (line 2)"
        )
    write_jsonl(path, [{**ROW, "output": ["O"]}])
    assert "line 1: column 'output' holds a list" in message(path)
    write_csv(tmp_path / "x.csv", [ROW, {**ROW, "id": "b", "output": ""}])
    assert "column 'output' is empty (row 2)" in message(tmp_path / "x.csv")


def test_kind_and_level_are_fields_where_there_are_no_pairs(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", [{**ROW, "kind": "news", "level": 3}])
    assert read(path).examples[0].fields == {"kind": "news", "level": "3"}


def test_rows_are_chosen_by_their_values(tmp_path: Path) -> None:
    rows = [{**ROW, "id": i, "split": s, "ok": ok} for i, s, ok in [("a", "Test", True), ("b", "dev", True)]]
    path = write_jsonl(tmp_path / "x.jsonl", [*rows, {**ROW, "id": "c", "split": "test", "ok": False}])
    found = read(path, split=["test", "train"], ok=["true"])
    assert [e.id for e in found.examples] == ["a"]
    assert [e.id for e in read(path, split=["d*", "[test]"]).examples] == ["b"]
    with pytest.raises(InputError, match=r"x\.jsonl: no row has split = x; found: Test, dev, test"):
        read(path, split=["x"])
    with pytest.raises(InputError, match="column 'spilt' of --where is missing; did you mean 'split'"):
        read(path, spilt=["x"])


def test_nested_values_are_named_by_their_path(tmp_path: Path) -> None:
    rows = [{"chat": [{"role": "user", "text": "S"}], "out": {"a": {"b": ["O", "P"]}}}]
    path = write_jsonl(tmp_path / "x.jsonl", rows)
    assert list(read(path, {"source": "chat[0].text", "output": "out.a.b[1]"}).examples) == [
        Example(id_of_texts("S", "P", {}), "S", "P")
    ]
    assert "column 'out.a.c' is empty (line 1)" in message(
        path, {"source": "chat[0].text", "output": "out.a.c"}
    )
    said = message(path, {"source": "chat[0].text", "output": "uot.a"})
    assert "`fields` output=uot.a: column 'uot.a' is missing; allowed: chat, out" in said


HUB = """
import json, sys
from pathlib import Path
from dhp.core.errors import InputError
from dhp.content.catalog import read_task
from dhp.loaders.user import read_texts
for name in sys.argv[1:]:
    try:
        data = read_texts(Path("hf:" + name), read_task("summarization"), {"output": "summary"})
        print(json.dumps([[e.id, e.source, e.output, dict(e.fields)] for e in data.examples]))
    except InputError as e:
        print(json.dumps(str(e)))
"""


@pytest.mark.slow
def test_hugging_face_folders(tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    rows = [{"id": "a", "source": "S", "summary": "O", "n": 1, "x": ["y"]}]
    for name in ("one/test.parquet", "two/test.parquet", "two/train.parquet", "table/x.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_parquet(tmp_path / name, rows if "train" not in name else [{**rows[0], "id": "t"}])
    (tmp_path / "empty").mkdir()
    names = [*"./one ./two ./two:train ./two:trian ./absent ./empty org/absent".split(), f"{tmp_path}/table"]
    (tmp_path / "datasets").mkdir()  # as in our checkout, where it must not pass for the library
    places = {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1", "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-c", HUB, *names],
        cwd=tmp_path,
        env={**os.environ, **places},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    one, two, train, wrong, absent, empty, offline, table = printed
    assert one == table == [["a", "S", "O", {"n": "1"}]]
    assert train[0][0] == "t"
    assert "hf:./two: has several splits; allowed: hf:./two:" in two
    assert "unknown split 'trian'; did you mean 'train'? allowed: test, train" in wrong
    assert "folder ./absent does not exist" in absent
    assert "hf:./empty: cannot be loaded (" in empty
    assert "hf:org/absent: cannot be loaded (" in offline
    assert not any("\n" in text for text in (two, wrong, absent, empty, offline))


def test_hugging_face_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", absent)
    with pytest.raises(InputError, match=r"hf:org/name needs the package .datasets.*pip install -e .+data"):
        read(Path("hf:org/name"))


PART_ROWS = [{"id": str(i), "source": f"S{i}", "output": f"O{i}"} for i in range(6)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files of rows, one of another kind, and one in a folder below."""
    data = tmp_path / "texts"
    (data / "old").mkdir(parents=True)
    for part in range(3):
        write_parquet(data / f"part-{part}.parquet", PART_ROWS[2 * part : 2 * part + 2])
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
    path = write_jsonl(tmp_path / "a[1].jsonl", PART_ROWS)
    assert ids(str(path)) == list("012345")
    assert parts_name(str(path)) == "a[1].jsonl"


def test_faults_of_parts_are_one_line(folder: Path) -> None:
    write_jsonl(folder / "part-3.parquet", [{"id": 0}])
    for name, fault in (
        (f"{folder}/none-*.parquet", "no file fits; allowed: a pattern of files"),
        (f"{folder}/*.parquet", "part-3.parquet: "),
        (f"file://{folder}/none.parquet", "cannot be read"),
        ("nowhere://x/*.parquet", "cannot be read"),
    ):
        with pytest.raises(InputError, match=fault) as e:
            read_texts(name, TASK)
        assert os.linesep not in str(e.value)
    (folder / "part-3.parquet").unlink()
    write_parquet(folder / "part-4.parquet", PART_ROWS[:1])
    with pytest.raises(InputError, match=r"part-4.parquet: row 1: duplicate id '0' \(first at .*part-0"):
        read_texts(f"{folder}/*.parquet", TASK)
