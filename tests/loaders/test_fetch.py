"""Downloads from a real server on this machine: what arrives, what is refused, what is left behind."""

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from dhp.content.catalog import read_card
from dhp.core.errors import InputError
from dhp.core.files import cache_folder
from dhp.core.specs import Card, Download
from dhp.loaders import fetch as archives
from dhp.loaders.fetch import fetch, load_prepared, prepare
from tests.server import Scripted

from .conftest import ROOT, wmt_xml, write_csv, write_jsonl
from .test_published import ARTICLE, STORY, answer


def card(dataset: str, files: dict[str, str], **sha256: str) -> Card:
    download = Download(files=files, sha256={k.replace("__", "."): v for k, v in sha256.items()})
    return read_card(dataset).model_copy(update={"download": download})


def lines(*rows: object) -> bytes:
    return "".join(json.dumps(r) + "\n" for r in rows).encode()


def tar_gz(members: dict[str, bytes], *more: tarfile.TarInfo) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for info in more:
            archive.addfile(info)
    return out.getvalue()


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def fault(given: Card, folder: Path) -> str:
    with pytest.raises(InputError) as e:
        fetch(given, folder)
    assert "\n" not in str(e.value)
    return str(e.value)


SUMPUBMED = {
    "sumpubmed-master/text/text_7.txt": b"BACKGROUND\nlong text\nRESULTS\nx",
    "sumpubmed-master/abstract/abstract_7.txt": b"BACKGROUND\nshort\nRESULTS\nx",
}


def test_a_file_arrives_whole_with_progress_and_user_agent(tmp_path: Path, server: Scripted) -> None:
    body = lines(*({**ARTICLE, "id": str(i), "text": "x" * 1000} for i in range(600)))
    digest = hashlib.sha256(body).hexdigest()
    given = card("summeval", {"s.jsonl": server.serve("s", body)}, s__jsonl=digest.upper())
    told: list[tuple[str, int, int | None]] = []
    path = fetch(given, tmp_path / "new" / "folder", lambda *t: told.append(t))
    assert path == tmp_path / "new" / "folder" / "s.jsonl"
    assert path.read_bytes() == body
    assert [p.name for p in path.parent.iterdir()] == ["s.jsonl"]
    assert len(told) > 1
    assert told[-1] == ("s.jsonl", len(body), len(body))
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    assert server.calls[0].headers["user-agent"].startswith("dhp")


def test_an_archive_is_unpacked_and_read_without_its_links(
    tmp_path: Path, server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    link = special("sumpubmed-master/l", tarfile.SYMTYPE, "../../../evil")
    more = [
        special(f"sumpubmed-master/{n}", kind) for n, kind in enumerate((tarfile.CHRTYPE, tarfile.FIFOTYPE))
    ]
    body = tar_gz(SUMPUBMED, link, *more)
    given = card("sumpubmed", {"sumpubmed.tar.gz": server.serve("s", body)})
    for _ in range(2):  # a second time replaces what the first one left
        path = prepare(given, None)
    assert (
        path == cache_folder() / "datasets" / "sumpubmed.jsonl" == tmp_path / "dhp/datasets/sumpubmed.jsonl"
    )
    assert json.loads(path.read_text()) == {"id": "7", "source": "long text", "output": "short"}
    folder = tmp_path / "dhp" / "downloads" / "sumpubmed"
    assert [p.name for p in folder.iterdir()] == ["sumpubmed"]
    assert sorted(p.name for p in (folder / "sumpubmed" / "sumpubmed-master").iterdir()) == [
        "abstract",
        "text",
    ]


def test_several_files_give_the_folder(
    tmp_path: Path, server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    urls = {f"{n}.jsonl": server.serve(n, lines(answer(n, 160))) for n in ("b", "a")}
    given = card("answer_equivalence", urls)
    with pytest.raises(InputError, match="dhp data prepare answer_equivalence"):
        load_prepared(given)
    prepare(given, None)
    found = load_prepared(given)
    assert [(e.id, len(e.output), e.source, dict(e.fields)) for e in found.examples] == [
        ("a", 160, "Because.", {"question": "Why?"}),
        ("b", 160, "Because.", {"question": "Why?"}),
    ]


def test_bad_answers_are_one_line_and_leave_nothing(tmp_path: Path, server: Scripted) -> None:
    body = lines(ARTICLE)
    html = b"<!DOCTYPE html><html>Sign in</html>"
    answers = {
        "answered 404 Not Found": f"{server.url}/absent",
        "answered 503": server.serve("down", b"", 503),
        "answered with a web page": server.serve("page", body, Content_Type="text/html; charset=utf-8"),
        "web page; expected: the file itself": server.serve("page2", b"\n" + html),
        "broke off after": server.serve("cut", body[:10], Content_Length=str(len(body))),
        "answered with nothing": server.serve("nothing", b""),
        "cannot be reached": "http://127.0.0.1:9/x",
        "allowed: http, https": (tmp_path / "x").as_uri(),
    }
    for expected, url in answers.items():
        assert expected in fault(card("summeval", {"s.jsonl": url}), tmp_path / "f")
    assert list((tmp_path / "f").iterdir()) == []


def test_a_file_without_end_is_given_up(
    tmp_path: Path, server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MOST_BYTES", 1_000_000)
    given = card("summeval", {"s.jsonl": server.serve("s", bytes(1_000_001))})
    assert "answered with more than 1,000,000 bytes" in fault(given, tmp_path / "f")
    assert list((tmp_path / "f").iterdir()) == []


def test_a_failed_download_keeps_the_earlier_file(tmp_path: Path, server: Scripted) -> None:
    (tmp_path / "s.jsonl").write_text("earlier")
    given = card("summeval", {"s.jsonl": server.serve("s", b"later")}, s__jsonl="0" * 64)
    digest = hashlib.sha256(b"later").hexdigest()
    assert f"is {digest[:12]}..., expected: {'0' * 12}..." in fault(given, tmp_path)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("s.jsonl", "earlier")]


def test_an_archive_that_reaches_outside_is_refused(tmp_path: Path, server: Scripted) -> None:
    body = tar_gz({"good": b"x", "a/../../evil": b"x"})
    text = fault(card("sumpubmed", {"x.tar.gz": server.serve("x", body)}), tmp_path / "a" / "f")
    assert text.startswith("x.tar.gz: broken archive ('a/../../evil' would be extracted to ")
    assert [p.name for p in tmp_path.rglob("*")] == ["a", "f"]


def test_an_absolute_name_stays_inside(tmp_path: Path) -> None:
    (tmp_path / "x.tar.gz").write_bytes(tar_gz({"/tmp/dhp-evil": b"x"}))
    archives.unpack(tmp_path / "x.tar.gz", tmp_path / "new")
    assert [p.name for p in (tmp_path / "new").rglob("*")] == ["tmp", "dhp-evil"]
    assert not Path("/tmp/dhp-evil").exists()


def test_broken_archives(tmp_path: Path, server: Scripted) -> None:
    good = tar_gz({**SUMPUBMED, "big": os.urandom(5000)})
    for body in (b"no archive", good[: len(good) // 2], tar_gz({"a": b"x", "a/b": b"x"})):
        given = card("sumpubmed", {"x.tar.gz": server.serve("x", body)})
        assert "x.tar.gz: " in fault(given, tmp_path)
        assert list(tmp_path.iterdir()) == []


def test_file_names_of_a_card_stay_in_the_folder(tmp_path: Path, server: Scripted) -> None:
    given = card("summeval", {"../s.jsonl": server.serve("s", b"x")})
    assert "allowed: a plain file name" in fault(given, tmp_path / "f")


def test_story_cloze_says_how_to_get_it(tmp_path: Path) -> None:
    text = fault(read_card("story_cloze"), tmp_path)
    assert "The owners send the CSV file on request" in text
    assert "--data" in text


def test_prepare_from_a_file_and_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    monkeypatch.setenv("HOME", str(tmp_path))
    given = read_card("story_cloze")
    path = prepare(given, write_csv(tmp_path / "s.csv", [STORY]))
    assert path == tmp_path / ".cache" / "dhp" / "datasets" / "story_cloze.jsonl"
    found = load_prepared(given)
    (example,) = found.examples
    assert (example.output, example.fields) == ("Ann took it home.", {"wrong_ending": "Ann bought a car."})
    with pytest.raises(InputError, match="no example qualifies"):
        prepare(read_card("answer_equivalence"), write_jsonl(tmp_path / "a.jsonl", [answer("q", 1)]))
    assert [p.name for p in path.parent.iterdir()] == ["story_cloze.jsonl"]
    path.write_text("{")
    with pytest.raises(InputError, match="line 1: broken JSON"):
        load_prepared(given)


def test_wmt_without_sacrebleu_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", absent)
    assert 'pip install -e ".[data]"' in fault(read_card("wmt22_deen"), tmp_path)


SACREBLEU = """
import json, sys
from pathlib import Path
from sacrebleu import DATASETS
from dhp.content.catalog import read_card
from dhp.core.errors import InputError
from dhp.loaders.fetch import load_prepared, prepare
url, md5 = sys.argv[1:]
DATASETS["wmt22"].data, DATASETS["wmt22"].md5 = [url], [md5]
card, told = read_card("wmt22_deen"), []
try:
    prepare(card, None, lambda *t: told.append(t))
    print(json.dumps([[[e.id, e.source, e.output] for e in load_prepared(card).examples], told]))
except InputError as e:
    print(json.dumps(str(e)))
"""


def run_sacrebleu(folder: Path, url: str, md5: str) -> object:
    pytest.importorskip("sacrebleu")
    pytest.importorskip("lxml")
    folder.mkdir()
    places = {"SACREBLEU": str(folder / "sacrebleu"), "XDG_CACHE_HOME": str(folder), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", SACREBLEU, url, md5],
        env={**os.environ, **places},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_wmt_through_sacrebleu(tmp_path: Path, server: Scripted) -> None:
    documents = {
        "d": [("a", "x" * 200), ("b", "y" * 200), ("c", "z" * 200)],
        "e": [("f", "v" * 200), ("g", "w" * 301)],
        "t": [("s", "x" * 400)],
    }
    xml = wmt_xml(documents, t='testsuite="challenge"').encode()
    body = tar_gz({"wmt22-news-systems-1.1/xml/wmttest2022.de-en.all.xml": xml})
    url = server.serve("v1.1.tar.gz", body)
    md5 = hashlib.md5(body, usedforsecurity=False).hexdigest()
    found, told = run_sacrebleu(tmp_path / "good", url, md5)  # type: ignore[misc]
    assert [row[:2] for row in found] == [["d#1-2", "a b"], ["e#4-5", "f g"]]
    assert found[0][2] == "x" * 200 + " " + "y" * 200
    assert [t[0] for t in told] == ["wmt22", "wmt22.de-en.src", "wmt22.de-en.ref-A", "wmt22.de-en.docid"]
    assert "sacrebleu gave up" in str(run_sacrebleu(tmp_path / "md5", url, "0" * 32))
    text = str(run_sacrebleu(tmp_path / "absent", f"{server.url}/absent.tar.gz", md5))
    assert "could not get WMT22 (" in text
    assert "delete its folder wmt22 and try again" in text


def test_an_archive_that_holds_too_much_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "x.tar.gz"
    archive.write_bytes(tar_gz({"a": bytes(2_000_000), "b": bytes(1_000_000)}))
    monkeypatch.setattr(archives, "MOST_BYTES", 3_000_000)
    archives.unpack(archive, tmp_path / "whole")
    assert {p.name: p.stat().st_size for p in (tmp_path / "whole").iterdir()} == {"a": 2 * 10**6, "b": 10**6}
    monkeypatch.setattr(archives, "MOST_BYTES", 2_999_999)
    with pytest.raises(InputError, match=r"^x.tar.gz: holds more than 2,999,999 bytes when unpacked$"):
        archives.unpack(archive, tmp_path / "other")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["whole", "x.tar.gz"]
