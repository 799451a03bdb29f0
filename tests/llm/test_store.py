"""Replies that are stored once and never lost."""

import contextlib
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.errors import InputError
from dhp.llm.records import Params, Position, Reply, Request
from dhp.llm.store import Store, keys, rows

ASKED = Request("prompt", Params(0.0, None, 16), (0, 1), "here")
REPLY = Reply("4", "stop", 10, 1, 1)


def put(store: Store, request: Request, reply: Reply, run: str = "run") -> None:
    wanted = keys("m", "e", request)
    store.add(rows(wanted, "m", "e", dict.fromkeys(wanted, reply), run))


texts = st.text(st.characters(exclude_categories=["Cs"]))
tokens = st.text(st.characters())
positions = st.builds(
    Position,
    tokens,
    st.lists(
        st.tuples(tokens, st.floats(max_value=0, allow_nan=False, allow_infinity=False)), max_size=3
    ).map(tuple),
)


@pytest.mark.slow
@given(
    st.builds(
        Reply,
        texts,
        texts,
        st.integers(0, 9),
        st.integers(0, 9),
        st.just(1),
        st.none() | st.lists(positions).map(tuple),
    )
)
def test_what_is_put_in_comes_out(reply: Reply) -> None:
    store = Store(Path(mkdtemp()) / "s.sqlite")
    put(store, ASKED, reply)
    found = store.find(keys("m", "e", ASKED))
    assert found == {0: (reply, "run"), 1: (reply, "run")}
    store.release()
    shutil.rmtree(store.path.parent)


def test_text_that_is_no_unicode_is_kept_readable(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.sqlite")
    put(store, ASKED, replace(REPLY, text="4 \ud800"))
    assert store.find(keys("m", "e", ASKED))[0][0].text == "4 ?"


def test_a_thread_in_another_working_folder_opens_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    store = Store(Path("cache/replies.sqlite"))
    put(store, ASKED, REPLY)
    monkeypatch.chdir(tmp_path / "elsewhere")
    with ThreadPoolExecutor() as pool:
        found = pool.submit(store.find, keys("m", "e", ASKED)).result()
    assert {reply for reply, _ in found.values()} == {REPLY}
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_key_holds_all_that_decides_the_answer() -> None:
    params = ASKED.params
    others = [
        ("other", "e", ASKED),
        ("m", "other", ASKED),
        ("me", "", ASKED),
        ("m", "e", replace(ASKED, prompt="prompt ")),
        ("m", "e", replace(ASKED, params=replace(params, temperature=1.0))),
        ("m", "e", replace(ASKED, params=replace(params, temperature=None))),
        ("m", "e", replace(ASKED, params=replace(params, top_p=1.0))),
        ("m", "e", replace(ASKED, params=replace(params, max_tokens=17))),
        ("m", "e", replace(ASKED, params=replace(params, seed=0))),
        ("m", "e", replace(ASKED, params=replace(params, top_logprobs=5))),
        ("m", "e", replace(ASKED, before=(("system", "Be strict."),))),
        ("m", "e", replace(ASKED, before=(("user", "Be strict."),))),
    ]
    found = [keys(*each)[0] for each in [("m", "e", ASKED), *others]]
    assert len(set(found)) == len(found)
    assert len(set(keys("m", "e", replace(ASKED, samples=tuple(range(300)))).values())) == 300
    elsewhere = replace(ASKED, place="there", group="g", tag=7, samples=(1,))
    assert keys("m", "e", elsewhere)[1] == keys("m", "e", ASKED)[1]


def test_the_first_reply_stays_unless_it_is_to_be_replaced(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.sqlite")
    put(store, ASKED, REPLY)
    put(store, ASKED, replace(REPLY, text="5"))
    assert store.find(keys("m", "e", ASKED))[0][0].text == "4"
    store.add(rows(keys("m", "e", ASKED), "m", "e", {0: replace(REPLY, text="5")}, "run"), replace=True)
    assert store.find(keys("m", "e", ASKED))[0][0].text == "5"
    assert store.models() == [("m", "e")]


WRITER = """
import sys
from pathlib import Path
from dhp.llm.records import Params, Reply, Request
from dhp.llm.store import Store
from dhp.llm.store import keys, rows

store, name = Store(Path(sys.argv[1])), sys.argv[2]
for number in range(int(sys.argv[3])):
    request = Request(f"{name} {number}", Params(0.0, None, 16), (0,), "")
    store.add(rows(keys("m", "e", request), "m", "e", {0: Reply("4", "stop", 1, 1, 1)}, name))
    print(number, flush=True)
"""


def there(store: Store, name: str, count: int) -> int:
    asked = (Request(f"{name} {n}", Params(0.0, None, 16), (0,), "") for n in range(count))
    return sum(bool(store.find(keys("m", "e", request))) for request in asked)


@pytest.mark.slow
def test_two_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen([*command, name, "400"], stdout=subprocess.DEVNULL) for name in "ab"]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert there(Store(path), "a", 400) == there(Store(path), "b", 400) == 400


FULL = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as on a full disk: an error in place of a signal
resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
"""


def test_a_full_disk_is_named_and_keeps_what_was_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    command = [sys.executable, "-c", FULL + WRITER, str(path), "a", "1000000"]
    writer = subprocess.run(command, capture_output=True, text=True)
    written = len(writer.stdout.split())
    assert 0 < written == there(Store(path), "a", written)
    last = writer.stderr.splitlines()[-1]
    assert re.search(rf"DiskFull: store {path}: .*(disk|full).*; make room, and the same command", last), last


def test_a_kill_loses_no_acknowledged_row(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), "a", "1000000"], stdout=subprocess.PIPE, text=True
    ) as writer:
        for line in writer.stdout:
            if int(line) == 500:
                os.kill(writer.pid, signal.SIGKILL)
        acknowledged = int(line) + 1
    assert acknowledged > 500
    assert there(Store(path), "a", acknowledged) == acknowledged


@pytest.mark.slow
def test_many_processes_open_a_new_store_at_once(tmp_path: Path) -> None:
    for attempt in range(5):
        command = [sys.executable, "-c", WRITER, str(tmp_path / f"{attempt}.sqlite"), "a", "3"]
        writers = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(4)]
        assert [writer.wait() for writer in writers] == [0] * 4


def test_a_store_that_is_only_read_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    store = Store(path)
    put(store, ASKED, REPLY)
    store.release()
    before = path.read_bytes()
    reading = Store(path, read_only=True)
    assert reading.find(keys("m", "e", ASKED))[0][0] == REPLY
    with pytest.raises(InputError, match="readonly"):
        put(reading, ASKED, REPLY)
    assert path.read_bytes() == before
    other = sqlite3.connect(tmp_path / "other.sqlite")
    other.execute("CREATE TABLE mine (x)")
    other.close()
    before = (tmp_path / "other.sqlite").read_bytes()
    assert Store(tmp_path / "other.sqlite", read_only=True).models() == []
    assert (tmp_path / "other.sqlite").read_bytes() == before


def test_what_cannot_be_a_store_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("this is no database, whatever its name says" * 100)
    with pytest.raises(InputError, match="text: file is not a database; choose another folder by `cache`"):
        Store(tmp_path / "text").models()
    with pytest.raises(InputError, match="`cache`"):
        Store(tmp_path / "text" / "below" / "s.sqlite").models()
    store = Store(tmp_path / "s.sqlite")
    store.models()
    store.release()
    whole = store.path.read_bytes()
    store.path.write_bytes(whole.replace(b"CREATE TABLE claims", b"CREATE T\xc1BLE claims"))
    with pytest.raises(InputError, match=r"s\.sqlite: 'utf-8' codec"):
        store.models()


def read_back(path: Path, *, read_only: bool = False) -> dict[int, Reply]:
    store = Store(path, read_only=read_only)
    try:
        return {sample: reply for sample, (reply, _) in store.find(keys("m", "e", ASKED), "text 1").items()}
    finally:
        store.release()


PROBABLE = replace(REPLY, positions=(Position("4", (("4", -0.105), ("5", -2.5))),))


def test_no_flipped_bit_gives_another_reply(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Each reply is as it was, or it is missing and that is said, or the store is refused in one line."""
    path, draw = tmp_path / "s.sqlite", random.Random(0)
    store = Store(path)
    put(store, ASKED, PROBABLE)
    store.release()
    whole = path.read_bytes()
    rows = whole.index(b'[["4"') // 4096 * 4096 + 3900, whole.rindex(b'[["4"') + 50
    ends = Counter()
    for place in [*draw.sample(range(*rows), 150), *draw.sample(range(len(whole)), 50)]:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        caplog.clear()
        with contextlib.suppress(InputError):
            found = read_back(path, read_only=True)
            assert all(reply == PROBABLE for reply in found.values())
            ends["as it was" if len(found) == 2 else "said" if caplog.messages else "gone"] += 1
    assert ends["said"] > 50
    assert ends["gone"] < ends["said"], "only where the key itself is another one"


@pytest.mark.parametrize(
    "change",
    [
        "text = '5'",
        "positions = '[['",
        "calls = 'one'",
        "run = x'ff'",
        "checksum = NULL, positions = '[[4, [[\"4\", -0.1]]]]'",
        "checksum = NULL, positions = '[[\"4\", [[{}, -0.1]]]]'",
    ],
)
def test_a_damaged_reply_is_named_set_aside_and_replaced(
    change: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "s.sqlite"
    put(Store(path), ASKED, PROBABLE)
    with Store(path).transaction() as connection:
        connection.execute(f"UPDATE replies SET {change} WHERE sample = 1")
    assert read_back(path, read_only=True) == {0: PROBABLE}
    assert caplog.messages == [
        f"store {path}: 1 stored replies about text 1 are damaged, as their checksums say: left out"
    ]
    assert read_back(path) == {0: PROBABLE}
    assert caplog.messages[1].endswith("set aside (table set_aside) and asked again")
    assert read_back(path) == {0: PROBABLE}
    assert len(caplog.messages) == 2
    put(Store(path), ASKED, REPLY)
    assert read_back(path) == {0: PROBABLE, 1: REPLY}
    with Store(path).transaction() as connection:
        assert connection.execute("SELECT sample FROM set_aside").fetchall() == [(1,)]
