"""Two commands that share a store pay for each call once, whatever becomes of one of them."""

import logging
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dhp.core.errors import InputError, StoppedEarly
from dhp.llm import claims as module
from dhp.llm.cached_model import CachedModel, RequestContext
from dhp.llm.claims import LEASE, Claims
from dhp.llm.limits import Limits
from dhp.llm.records import Reply, Request
from dhp.llm.store import Store, keys, rows
from tests.llm.helpers import QUICK, answered, cached_model, requests
from tests.llm.stub import stats, stub_process, stub_server
from tests.perturb.says import Says
from tests.server import Call, refusal, reply, scripted_server

KEYS = [*keys("m", "e", Request("Rate.", QUICK, tuple(range(4)), "here")).values()]


@pytest.fixture
def as_process(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Each thread may be a process of its own, to others; none waits for long."""
    monkeypatch.setattr(module, "_SECONDS_BETWEEN_LOOKS", 0.02)
    names = threading.local()
    monkeypatch.setattr(module, "_owner", lambda: getattr(names, "name", "process 1 on here (1)"))
    return lambda name: setattr(names, "name", name)


def test_a_claimed_call_is_left_to_its_owner(tmp_path: Path, as_process: Callable[[str], None]) -> None:
    store = Store(tmp_path / "s.sqlite")
    with Claims(store) as one, Claims(store) as other:
        as_process("one")
        assert one.take([KEYS[:2], KEYS[2:3]]) == [True, True]
        assert one.take([KEYS[:2]]) == [True], "a process never waits for itself"
        as_process("other")
        assert other.take([KEYS[1:3], KEYS[3:]]) == [False, True], "all of its samples, or none"
        as_process("one")
        one.end(KEYS[:2], stored=False)
        assert one.take([KEYS[3:]]) == [False]
        as_process("other")
        assert other.take([KEYS[:2], KEYS[2:3]]) == [True, False]
        as_process("one")
    as_process("third")
    with Claims(store) as third:
        assert third.take([KEYS[2:3]]) == [True], "given up at the end"


def test_a_reply_that_came_since_the_look_up_is_not_paid_again(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.sqlite")
    store.add(rows({0: KEYS[0]}, "m", "e", {0: Reply("4", "stop", 1, 1, 1)}, "run"))
    with Claims(store) as claims, Claims(store, refresh=True) as refreshing:
        assert claims.take([KEYS[:2], KEYS[1:2]]) == [False, True]
        assert refreshing.take([KEYS[:2]]) == [True]


def test_a_store_that_is_only_read_and_none_claim_nothing(tmp_path: Path) -> None:
    Store(tmp_path / "s.sqlite").models()
    before = (tmp_path / "s.sqlite").read_bytes()
    for store in (None, Store(tmp_path / "s.sqlite", read_only=True)):
        with Claims(store) as claims:
            assert claims.take([KEYS]) == [True]
            claims.end(KEYS, stored=False)
    assert (tmp_path / "s.sqlite").read_bytes() == before


def expiry(store: Store) -> float:
    with store.transaction() as connection:
        return float(connection.execute("SELECT max(expires) FROM claims").fetchone()[0])


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_claims_are_renewed_while_their_process_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LEASE", 0.2)
    store = Store(tmp_path / "s.sqlite")
    before = set(threading.enumerate())  # of another test, one may be about to end
    with Claims(store) as claims:
        claims.take([KEYS])
        first = expiry(store)
        until(lambda: expiry(store) > first + 0.1)
    assert not {t for t in threading.enumerate() if t.name == "dhp-claims"} - before


def test_nobody_waits_for_whoever_takes_no_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEASE", 0.05)
    monkeypatch.setattr(module, "_LONGEST_PAUSE", 0.0)
    store = Store(tmp_path / "s.sqlite")
    with Claims(store) as claims:
        claims.take([KEYS])
        until(lambda: expiry(store) < time.time())
        assert expiry(store) < time.time(), "the lease is not renewed"


HOLDER = """
import sys, time
from pathlib import Path
from dhp.llm import claims
from dhp.llm.store import Store
claims.LEASE = 0.5
claims.Claims(Store(Path(sys.argv[1]))).take([[b"key"]])
print("taken", flush=True)
time.sleep(60)
"""


@pytest.mark.slow
def test_a_killed_process_blocks_nobody(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout.readline() == b"taken\n"
        with Claims(Store(path)) as claims:
            assert claims.take([[b"key"]]) == [False]
            holder.kill()
            until(lambda: claims.take([[b"key"]]) == [True])
    assert LEASE <= 15, "the longest that a killed process is waited for"


ASKING = """
import sys
from pathlib import Path
from dhp.llm import claims
claims.LEASE = 1.0
from tests.llm.helpers import answered, cached_model, requests
found = answered(cached_model(sys.argv[1], Path(sys.argv[2]), concurrency=4), list(requests(80)))
assert len(found) == 80 and not any(text.startswith("!") for texts in found.values() for text in texts)
"""


@pytest.mark.slow
def test_a_process_that_stood_still_pays_nothing_that_another_has_paid(tmp_path: Path) -> None:
    """But for what was in flight."""

    def asking(url: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen([sys.executable, "-c", ASKING, url, str(tmp_path / "s.sqlite")])

    with stub_process("--latency", 0.05) as url:
        one = asking(url)
        until(lambda: stats(url)["calls"] >= 12)
        one.send_signal(signal.SIGSTOP)
        paid = len(stats(url)["paid"])
        assert paid < 80 - 8
        other = asking(url)
        assert other.wait(60) == 0
        assert len(stats(url)["paid"]) == 80
        one.send_signal(signal.SIGCONT)
        assert one.wait(60) == 0
        twice = stats(url)["calls"] - 80
    assert twice <= 4, "calls in flight"


@pytest.mark.slow
def test_an_interrupt_keeps_what_arrives_within_two_seconds(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with stub_process("--latency", 0.8) as url:
        run = subprocess.Popen([sys.executable, "-c", ASKING, url, str(path)], stderr=subprocess.DEVNULL)
        until(lambda: stats(url)["calls"] >= 6)
        run.send_signal(signal.SIGINT)
        run.wait(20)
        paid = stats(url)["calls"]
        assert paid < 80
        assert len(answered(cached_model(url, path, concurrency=80), list(requests(80)))) == 80
        assert stats(url)["calls"] == 80, "none is paid twice"


def test_a_claim_that_lapsed_is_looked_up_and_made_again(
    tmp_path: Path, as_process: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, now = Store(tmp_path / "s.sqlite"), time.time()
    as_process("one")
    with Claims(store) as one, Claims(store) as other:
        assert one.take([KEYS[:1], KEYS[1:2], KEYS[2:3]]) == [True] * 3
        monkeypatch.setattr(time, "time", lambda: now + 2 * LEASE)
        as_process("other")
        assert other.take([KEYS[:1]]) == [True]
        store.add(rows({0: KEYS[1]}, "m", "e", {0: Reply("4", "stop", 1, 1, 1)}, "run"))
        as_process("one")
        assert [one.holds([key]) for key in KEYS[:3]] == [False, False, True]
        as_process("other")
        assert other.take([KEYS[2:3]]) == [False], "it is claimed again"


@pytest.mark.parametrize("expires", [1e12, "never"])
def test_a_claim_that_lasts_longer_than_any_is_none(
    expires: object, tmp_path: Path, as_process: Callable[[str], None]
) -> None:
    """As of a clock that was set back, or of a damaged store."""
    store = Store(tmp_path / "s.sqlite")
    as_process("one")
    with Claims(store) as one:
        one.take([KEYS])
        with store.transaction() as connection:
            connection.execute("UPDATE claims SET expires = ?", (expires,))
        as_process("other")
        with Claims(store) as other:
            assert other.take([KEYS]) == [True]


@pytest.mark.slow
@pytest.mark.parametrize("samples", [1, 3])
def test_two_commands_at_once_pay_once(
    samples: int, tmp_path: Path, as_process: Callable[[str], None], caplog: pytest.LogCaptureFixture
) -> None:
    wanted = list(requests(60, samples))

    def command(name: str, url: str) -> dict[int, list[str]]:
        as_process(f"process {name} on here (1)")
        asked = cached_model(url, tmp_path / "s.sqlite", concurrency=4, run=name)
        found = answered(asked, wanted)
        paid.append((asked.usage.calls, asked.usage.cached_calls))
        return found

    paid: list[tuple[int, int]] = []
    with stub_server("--latency", 0.02) as url, ThreadPoolExecutor(2) as pool:
        one, other = pool.map(lambda name: command(name, url), ("1", "2"))
        assert set(stats(url)["paid"].values()) == {1}
        assert stats(url)["calls"] == 60
    assert one == other
    assert sum(own for own, _ in paid) == 60
    assert [own + cached for own, cached in paid] == [60, 60], "each knows what its answers cost"
    assert min(own for own, _ in paid) > 0, "they share the work"
    assert {m.partition(" makes ")[0] for m in caplog.messages} <= {"process 1 on here", "process 2 on here"}


def test_two_commands_with_a_model_in_their_process_ask_it_once(
    tmp_path: Path, as_process: Callable[[str], None]
) -> None:
    wanted, both = list(requests(200)), threading.Barrier(2)

    def says(prompt: str) -> str:
        time.sleep(0.001)
        return "4"

    def command(name: str) -> tuple[list[str], dict[int, list[str]]]:
        as_process(f"process {name} on here (1)")
        model = Says(says)
        both.wait()
        found = answered(CachedModel(model, RequestContext(Store(tmp_path / "s.sqlite"))), wanted)
        return model.prompts, found

    with ThreadPoolExecutor(2) as pool:
        (mine, one), (theirs, other) = pool.map(command, ("1", "2"))
    assert one == other
    assert sorted(mine + theirs) == sorted(each.prompt for each in wanted)
    assert mine
    assert theirs, "they share the work"


def test_what_another_command_did_not_get_is_asked(
    tmp_path: Path, as_process: Callable[[str], None], caplog: pytest.LogCaptureFixture
) -> None:
    """The other one stops at its limit while this one waits."""
    waits = threading.Event()

    class Told(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            waits.set()

    def says(call: Call) -> object:
        waits.wait(20)
        return reply("4")

    def stopped(url: str) -> None:
        as_process("process 1 on here (1)")
        with pytest.raises(StoppedEarly):
            answered(cached_model(url, tmp_path / "s.sqlite", limits=Limits(calls=1)), list(requests(8)))

    with scripted_server(says) as server, ThreadPoolExecutor(1) as pool:
        url, log = f"{server.url}/v1", Told()
        logging.getLogger("dhp").addHandler(log)
        try:
            first = pool.submit(stopped, url)
            until(lambda: len(server.calls) == 1)
            as_process("process 2 on here (1)")
            found = answered(cached_model(url, tmp_path / "s.sqlite"), list(requests(8)))
            first.result()
        finally:
            logging.getLogger("dhp").removeHandler(log)
        assert found == {number: ["4"] for number in range(8)}
        assert len(server.calls) == 8
    assert "process 1 on here makes 8 of the same calls; its replies are waited for" in caplog.messages


def test_a_refused_prompt_is_no_longer_claimed(tmp_path: Path) -> None:
    def says(call: Call) -> object:
        refused = call.body["messages"][0]["content"] == "Rate text 3."
        return refusal(400, "flagged by moderation") if refused else reply("4")

    store = Store(tmp_path / "s.sqlite")
    with scripted_server(says) as server:
        asked = cached_model(f"{server.url}/v1", store.path).ask(requests(8))
        assert len([next(asked) for _ in range(8)]) == 8
        with store.transaction() as connection:
            assert connection.execute("SELECT count(*) FROM claims").fetchone() == (0,)
        assert list(asked) == []


def test_a_store_without_locks_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fcntl = pytest.importorskip("fcntl", reason="not on Windows")

    def none(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "lockf", none)
    with pytest.raises(InputError, match=r"s.sqlite: its file system has no locks; choose another folder by"):
        Store(tmp_path / "s.sqlite").models()
