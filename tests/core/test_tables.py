"""Tables of every format: the same rows, and each fault with its place."""

import json
import time
import zipfile
from pathlib import Path

import pytest

from dhp.core import files
from dhp.core.errors import InputError
from dhp.core.tables import is_blank, read_table, read_tables

ROWS = [{"a": "1", "b": "x"}, {"a": "2", "b": "y"}]
FORMS = {
    "list.json": json.dumps(ROWS),
    "one.json": json.dumps({"version": 3, "data": ROWS}),
    "columns.json": json.dumps({"a": ["1", "2"], "b": ["x", "y"]}),
    "lines.jsonl": "\n".join(map(json.dumps, ROWS)) + "\n\n",
    "comma.csv": "a,b\n1,x\n2,y\n",
    "semicolon.csv": "a;b\r\n1;x\r\n2;y\r\n",
    "tab.tsv": "a\tb\n1\tx\n2\ty\n",
}


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8-sig"))
    return path


def fault(path: Path, *patterns: str) -> str:
    with pytest.raises(InputError) as e:
        read_tables(path, patterns)
    assert "\n" not in str(e.value)
    return str(e.value)


@pytest.mark.parametrize("name", FORMS)
def test_every_format_gives_the_same_rows(tmp_path: Path, name: str) -> None:
    found = read_table(written(tmp_path, name, FORMS[name]))
    assert [dict(row.values) for row in found.rows] == ROWS
    assert found.columns == ("a", "b")
    assert found.rows[1].place == f"{tmp_path / name}: {'line' if name == 'lines.jsonl' else 'row'} 2"


def test_an_object_of_lists_tells_the_key_of_each_row(tmp_path: Path) -> None:
    path = written(tmp_path, "x.json", json.dumps({"bias": ROWS[:1], "length": ROWS[1:]}))
    assert [row.text("@key") for row in read_table(path).rows] == ["bias", "length"]


def test_quotation_marks_in_tabs(tmp_path: Path) -> None:
    path = written(tmp_path, "x.tsv", 'a\tb\n"one\ntwo"\t"say ""so"""\n')
    assert dict(read_table(path).rows[0].values) == {"a": "one\ntwo", "b": 'say "so"'}
    path = written(tmp_path, "x.tsv", 'a\tb\n"Yes" he said\t5" long\n"open\t2\n')
    assert [list(row.values.values()) for row in read_table(path).rows] == [
        ['"Yes" he said', '5" long'],
        ['"open', "2"],
    ]


def test_folders_and_archives_are_one_table(tmp_path: Path) -> None:
    for name, text in FORMS.items():
        written(tmp_path / "in" / "deep", name, text)
    written(tmp_path / "in", "note.txt", "no table")
    written(tmp_path / "in", ".hidden/x.csv", "c\n1\n")
    archive = tmp_path / "in" / "more.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("data/New/part.csv", "a,c\n3,z\n")
        file.writestr("__MACOSX/data/._part.csv", "junk")
    found = read_tables(tmp_path / "in")
    assert len(found.rows) == 2 * len(FORMS) + 1
    assert found.columns == ("a", "b", "@file", "@folder", "c")
    assert [(r.text("@folder"), r.text("@file")) for r in found.rows][:1] == [("deep", "columns")]
    zipped = read_table(archive)
    assert [dict(r.values) for r in zipped.rows] == [{"a": "3", "c": "z", "@file": "part", "@folder": "New"}]
    assert zipped.rows[0].place == f"{archive}/data/New/part.csv: row 1"
    assert len(read_tables(tmp_path / "in", ["deep/*.csv"]).rows) == 4
    assert len(read_tables(tmp_path / "in", ["new/PART.*"]).rows) == 1


def test_paths_lead_into_nested_values(tmp_path: Path) -> None:
    path = written(tmp_path, "x.jsonl", json.dumps({"a": {"b": ["x", {"c": 3}]}, "a.d": "whole"}))
    (row,) = read_table(path).rows
    assert [row.value(p) for p in ("a.b[0]", "a.b[1].c", "a.d", "a.b[2]", "a[0]", "e.f")] == [
        "x",
        3,
        "whole",
        None,
        None,
        None,
    ]


def test_faults_are_one_line_with_their_place(tmp_path: Path) -> None:
    assert fault(tmp_path / "x.json") == f"{tmp_path / 'x.json'}: does not exist"
    assert fault(tmp_path / "x.zip") == f"{tmp_path / 'x.zip'}: does not exist"
    path = written(tmp_path, "x.ods", "a")
    assert "unknown kind of file '.ods'; allowed: .csv, .json, .jsonl, .parquet, .tsv, .xlsx, .zip" in fault(
        path
    )
    for name, text, said in [
        ("a.json", "[1]", "a.json: no table; must be a list of objects, or an object of lists"),
        ("a.json", '{"a": [1], "b": [1, 2]}', "a.json: no table"),
        ("a.json", "[]", "a.json: is empty"),
        ("a.json", '[{"a": 1}', "a.json: broken JSON at column 10 ("),
        ("a.csv", "a,b\n1\n", "a.csv: row 1: 1 values; must be 2, as in the header"),
        ("a.csv", "a,a\n1,2\n", "a.csv: duplicate column 'a'"),
        ("a.tsv", "a\tb\n1\n", "a.tsv: row 1: 1 values; must be 2"),
        ("a.csv", 'a,b\n"1,2\n', "a.csv: line 2: broken CSV ("),
        ("a.parquet", "PAR1", "a.parquet: not a Parquet file ("),
        ("a.zip", "PK", "a.zip: broken archive ("),
    ]:
        assert said in fault(written(tmp_path / "y", name, text))
    written(tmp_path / "z", "a.csv", "a\n1\n")
    assert "z: no table in it; must be a folder or .zip that holds b*.csv" in fault(tmp_path / "z", "b*.csv")
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as file:
        file.writestr("in/x.json", "{")
    assert f"{tmp_path / 'bad.zip'}/in/x.json: broken JSON" in fault(tmp_path / "bad.zip")


def test_a_text_of_ten_million_characters_is_refused_in_one_line(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, "long.jsonl", json.dumps({"output": "a " * 5_000_000})))
    with pytest.raises(InputError, match=r"line 1: column 'output' holds 10,000,000 char.* most 1,000,000$"):
        table.rows[0].text("output")


def test_parquet_with_broken_text_is_refused(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    broken = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe")]
    )
    pq.write_table(pa.table({"output": broken}), tmp_path / "x.parquet")
    assert "UTF8" in fault(tmp_path / "x.parquet").replace("-", "")


def test_an_archive_that_holds_too_much_is_not_read_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it says of its own size; together its tables may hold as much as one alone."""
    rows = b'{"a": 1}\n' * 1000
    with zipfile.ZipFile(tmp_path / "t.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.jsonl", rows)
        archive.writestr("b.jsonl", rows)
        archive.writestr("c.txt", rows)
    monkeypatch.setattr(files, "MOST_UNPACKED", 2 * len(rows))
    assert len(read_table(tmp_path / "t.zip").rows) == 2000
    monkeypatch.setattr(files, "MOST_UNPACKED", 2 * len(rows) - 1)
    assert fault(tmp_path / "t.zip") == (
        f"{tmp_path / 't.zip'}: holds more than 17,999 bytes when unpacked; unpack it and give what it holds"
    )


def test_a_wide_table_is_read_in_time_linear_in_its_columns(tmp_path: Path) -> None:
    columns = [f"c{i}" for i in range(30_000)]
    start = time.process_time()
    read = read_table(written(tmp_path, "wide.csv", ",".join(columns) + "\n" + "1," * 29_999 + "1\n"))
    assert time.process_time() - start < 10
    assert read.columns == tuple(columns)
    twice = written(tmp_path, "twice.csv", ",".join([*columns, "c7"]) + "\n" + "1," * 30_000 + "1\n")
    assert fault(twice) == f"{twice}: duplicate column 'c7'"
    with pytest.raises(InputError, match=r" and 29,800 more$"):
        read.need(["zzz"])


@pytest.mark.parametrize(
    "text", ["#N/A", "#REF!", "#VALUE!", "#DIV/0!", "#NV", "#BEZUG!", " #N/A ", "nan", ""]
)
def test_what_a_spreadsheet_writes_for_no_value_is_none(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["#", "#1", "N/A", "None", "# Heading", "#N/A is an error of Excel"])
def test_other_texts_are_texts(text: str) -> None:
    assert not is_blank(text)
