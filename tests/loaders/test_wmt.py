"""WMT22: joining of segments, XML, plain text."""

from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.content.catalog import read_card
from dhp.core.errors import InputError
from dhp.loaders.published import Segment, join_segments, read_published

from .conftest import wmt_xml

DE, ZH = read_card("wmt22_deen"), read_card("wmt22_zhen")


def message(path: Path) -> str:
    with pytest.raises(InputError) as e:
        read_published(DE, path)
    assert "\n" not in str(e.value)
    return str(e.value)


documents = st.lists(st.lists(st.integers(1, 400), max_size=12), max_size=5)


@pytest.mark.slow
@given(documents, st.booleans())
def test_joined_texts_just_pass_the_minimum_within_one_document(
    lengths: list[list[int]], spaced: bool
) -> None:
    segments = [
        Segment(f"d{d}", str(i), f"<{d}.{i}>", "x" * n)
        for d, doc in enumerate(lengths)
        for i, n in enumerate(doc)
    ]
    by_source = {s.source: s for s in segments}
    used: list[Segment] = []
    ends: set[tuple[str | None, str]] = set()
    for example in join_segments(segments, spaced=spaced, longer_than=300):
        separated = example.source if spaced else example.source.replace("><", "> <")
        parts = [by_source[s] for s in separated.split(" ")]
        assert len({p.document for p in parts}) == 1
        numbers = [int(p.label) for p in parts]
        assert numbers == list(range(numbers[0], numbers[-1] + 1))
        assert example.id == f"{parts[0].document}#{numbers[0]}-{numbers[-1]}"
        assert example.output == " ".join(p.reference for p in parts)
        assert len(example.output) > 300
        assert len(" ".join(p.reference for p in parts[:-1])) <= 300
        used += parts
        ends.add((parts[-1].document, parts[-1].label))
    positions = [segments.index(s) for s in used]
    assert positions == sorted(set(positions))
    for document, group in groupby(segments, key=lambda s: s.document):
        rest = [s for s in group if s not in used]
        assert len(" ".join(s.reference for s in rest)) <= 300, f"{document} drops more than a remainder"


@given(st.lists(st.integers(1, 400), max_size=10))
def test_without_documents_every_segment_stands_alone(lengths: list[int]) -> None:
    segments = [Segment(None, str(i), "s", "x" * n) for i, n in enumerate(lengths)]
    found = [e.id for e in join_segments(segments, spaced=True, longer_than=300)]
    assert found == [f"line-{i}" for i, n in enumerate(lengths) if n > 300]


def test_a_segment_without_reference_breaks_the_row() -> None:
    texts = [Segment("d", "1", "a", "x" * 200), Segment("d", "2", "b", ""), Segment("d", "3", "c", "x" * 200)]
    assert list(join_segments(texts, spaced=True, longer_than=300)) == []


def test_xml_skips_test_suites_and_takes_reference_a(tmp_path: Path) -> None:
    path = tmp_path / "wmttest2022.de-en.all.xml"
    docs = {
        "d#1": [("eins &amp;\n zwei", "x" * 250), ("drei", "y" * 60), ("vier", "z")],
        "t": [("s", "x" * 400)],
    }
    path.write_text(wmt_xml(docs, t='testsuite="challenge"'))
    for given_path in (path, tmp_path):
        (example,) = read_published(DE, given_path)
        assert (example.id, example.source) == ("d#1#1-2", "eins & zwei drei")
        assert example.output == "x" * 250 + " " + "y" * 60


def test_chinese_sources_are_joined_without_space(tmp_path: Path) -> None:
    path = tmp_path / "wmttest2022.zh-en.all.xml"
    path.write_text(wmt_xml({"d": [("你好。", "x" * 200), ("再见。", "y" * 200)]}, "zh-en"), encoding="utf-8")
    assert read_published(ZH, path)[0].source == "你好。再见。"
    with pytest.raises(InputError, match="source language 'zh'; allowed: de"):
        read_published(DE, path)


@pytest.mark.slow
def test_xml_with_a_dtd_is_refused_before_any_entity_grows(tmp_path: Path) -> None:
    path = tmp_path / "x.xml"
    levels = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    path.write_text(f'<!DOCTYPE d [<!ENTITY e0 "ha">{levels}]><dataset>&e11;</dataset>')
    assert message(path) == f"{path}: has a DTD; allowed: plain XML without DTD and entities"
    path.write_text('<!DOCTYPE d SYSTEM "file:///etc/passwd"><dataset/>')
    assert "has a DTD" in message(path)


def test_xml_faults(tmp_path: Path) -> None:
    path = tmp_path / "x.xml"
    assert "does not exist; expected: WMT's XML (wmttest2022.de-en.all.xml)" in message(path)
    path.write_text("<dataset>\n<doc>\n</dataset>")
    assert f"{path}: line 3: broken XML" in message(path)
    path.write_text("")
    assert "broken XML" in message(path)
    path.write_text("<dataset/>")
    assert "no document" in message(path)
    path.write_text(wmt_xml({"d": [("a", "b")]}).replace('translator="A"', 'translator="C"'))
    assert "no reference by translator 'A'; found: B, C" in message(path)
    path.write_text(wmt_xml({"d": [("a", "b")]}))
    assert "no example qualifies" in message(path)
    twice = wmt_xml({"d": [("a", "b")], "e": [("a", "b")]}).replace('id="e"', 'id="d"')
    path.write_text(twice)
    assert "document 2: missing or duplicate id 'd'" in message(path)
    path.write_text(wmt_xml({"d": [("a", "b"), ("c", "d")]}).replace('seg id="2"', 'seg id="1"'))
    assert "document d: missing or duplicate segment id '1'" in message(path)
    (tmp_path / "x.txt").write_text("x")
    assert "wrong kind of file; expected: WMT's XML" in message(tmp_path / "x.txt")


def write_lines(folder: Path, **files: list[str]) -> Path:
    for name, lines in files.items():
        path = folder / name.replace("__", ".").replace("_in_", "/").replace("deen", "de-en")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def test_plain_text_of_the_organisers_has_single_segments_only(tmp_path: Path) -> None:
    write_lines(
        tmp_path,
        txt_in_sources_in_generaltest2022__deen__src__de=["a", "b\u2028b", "c"],
        txt_in_sources_in_biomedicaltest2022__deen__src__de=["z"],
        txt_in_references_in_generaltest2022__deen__ref__A__en=["x" * 300, "y" * 301, "z" * 200],
        txt_in_references_in_generaltest2022__deen__ref__B__en=["x" * 400] * 3,
        txt_in_hyp_in_generaltest2022__deen__hyp__Online__A__en=["x" * 400] * 3,
    )
    (example,) = read_published(DE, tmp_path)
    assert (example.id, example.source, example.output) == ("line-2", "b b", "y" * 301)


@pytest.mark.parametrize("colon", [":", "-"])
def test_plain_text_of_sacrebleu_has_documents(tmp_path: Path, colon: str) -> None:
    write_lines(tmp_path, wmt22__deen__src=list("abcd"), wmt22__deen__docid=["d 1", "d 1", "e", "e"])
    (tmp_path / f"wmt22.de-en.ref{colon}A").write_text("\n".join(["x" * 200] * 4) + "\n")
    found = read_published(DE, tmp_path)
    assert [(e.id, e.source) for e in found] == [("d 1#1-2", "a b"), ("e#3-4", "c d")]


def test_plain_text_faults(tmp_path: Path) -> None:
    assert "no reference A of de-en in this folder; expected:" in message(tmp_path)
    write_lines(tmp_path, wmt22__deen__refA=["x" * 200] * 2)
    assert "no file wmt22.de-en*src* beside wmt22.de-en.refA" in message(tmp_path)
    write_lines(tmp_path, wmt22__deen__src=["a", "b"])
    assert "bounds of documents are needed: WMT's XML, a file *de-en*docid*, or the sacrebleu" in message(
        tmp_path
    )
    write_lines(tmp_path, wmt22__deen__docid=["d"])
    assert "wmt22.de-en.docid: 1 lines; allowed: 2, as in wmt22.de-en.refA" in message(tmp_path)
    write_lines(tmp_path, wmt22__deen__src=["a", "b", "c"])
    assert "wmt22.de-en.src: 3 lines; allowed: 2" in message(tmp_path)
