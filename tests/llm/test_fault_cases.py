"""Whole runs against what goes wrong: nasty servers, kills, a full disk, broken stores, two at once.

Whatever happens, a run ends in time and without a traceback, keeps the API key nowhere and has no script in
its report. After a kill it goes on to the same results, and pays again for no more than what was in flight.
"""

import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.server import Answer, Call, Scripted, refusal, reply, scripted_server

pytestmark = pytest.mark.slow

KEY = "sk-faults-0123456789abcdef"
SCRIPT = "<script>alert(1)</script></textarea>"
SECONDS = 180
"""From which on a run counts as one that does not end."""
CONCURRENCY = 4


def steady(call: Call) -> Answer:
    time.sleep(0.1)
    return reply("4")


def begun(
    server: Scripted, folder: Path, cache: Path | None = None, limited: Callable[[], None] | None = None
) -> "subprocess.Popen[str]":
    """A run of five texts and their copies, all its files below the folder."""
    command = [sys.executable, "-m", "dhp.benchmark", "--dataset", "mini/summeval", "--n", "5", "--quiet"]
    command += ["--model", "openai/stub", "--base-url", f"{server.url}/v1", "--metric", "fluency"]
    command += ["--samples", "1", "--retries", "1", "--timeout", "2", "--concurrency", str(CONCURRENCY)]
    command += ["--out", str(folder / "out"), "--cache", str(cache or folder / "cache")]
    return subprocess.Popen(
        command,
        env={**os.environ, "OPENAI_API_KEY": KEY},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limited,
    )


def ended(process: "subprocess.Popen[str]", folder: Path) -> tuple[int, str]:
    """The exit code and what was said, of a run that left nothing that it must not leave."""
    _, said = process.communicate(timeout=SECONDS)
    assert "Traceback" not in said
    assert process.returncode != 70
    assert "\x1b" not in said
    assert KEY not in said
    assert not [p for p in folder.rglob("*") if p.is_file() and KEY.encode() in p.read_bytes()]
    report = folder / "out" / "report.html"
    assert not report.exists() or SCRIPT not in report.read_text(encoding="utf-8")
    return process.returncode, said


def ran(server: Scripted, folder: Path, cache: Path | None = None) -> int:
    return ended(begun(server, folder, cache), folder)[0]


def results(folder: Path) -> Any:
    found = json.loads((folder / "out" / "results.json").read_text(encoding="utf-8"))
    for name in ("created", "usage", "cost"):
        found.pop(name, None)
    return found


def paid(server: Scripted) -> list[bytes]:
    """What was sent with each call so far, but for looks at the models of the server."""
    return [call.raw for call in server.calls if call.method == "POST"]


def paid_twice(server: Scripted) -> int:
    return len(paid(server)) - len(set(paid(server)))


def store_of(folder: Path) -> Path:
    (store,) = (folder / "cache").rglob("*.sqlite")
    return store


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ((200, {"Content-Length": "5000"}, b'{"choices": [{"mess'), 3),
        (refusal(429, "slow down", Retry_After="inf"), 3),
        (reply("4", usage={"prompt_tokens": float("nan"), "completion_tokens": None}), 0),
        (reply(f"You sent {KEY}: 4"), 0),
        (reply(f"4 {SCRIPT}"), 0),
        (reply("4 \x1b[2J\x1b]0;x\x07"), 0),
        (refusal(400, "\x1b[2J\r\n bad\nworse"), 2),
        (refusal(307, "", Location="https://example.invalid/v1/chat/completions"), 2),
    ],
    ids=["half", "wait for ever", "usage NaN", "key", "script", "terminal", "refused terminal", "redirect"],
)
def test_a_nasty_server(answer: Answer, code: int, tmp_path: Path) -> None:
    with scripted_server(lambda call: answer) as server:
        assert ran(server, tmp_path) == code


@pytest.mark.parametrize("signals", [[signal.SIGKILL], [signal.SIGINT] * 2], ids=["SIGKILL", "Ctrl-C twice"])
def test_a_run_that_is_killed_again_and_again(signals: Sequence[int], tmp_path: Path) -> None:
    with scripted_server(steady) as server:
        assert ran(server, tmp_path / "whole") == 0
        whole = len(paid(server))
        for kill in range(3):
            before = len(paid(server))
            process = begun(server, tmp_path / "broken")
            end = time.monotonic() + SECONDS
            while len(paid(server)) < before + 8 and process.poll() is None and time.monotonic() < end:
                time.sleep(0.01)
            for number in signals:
                if process.poll() is None:
                    process.send_signal(number)
                    time.sleep(0.05 * (kill + 1))
            ended(process, tmp_path / "broken")
        assert ran(server, tmp_path / "broken") == 0
        assert results(tmp_path / "broken") == results(tmp_path / "whole")
        assert len(paid(server)) - 2 * whole <= 3 * CONCURRENCY, "paid twice"


def test_a_full_disk_stops_a_run_that_goes_on_from_there(tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20 * 1024, 20 * 1024))

    with scripted_server(steady) as server:
        assert ended(begun(server, tmp_path, limited=limit), tmp_path)[0] in (2, 3)
        assert ran(server, tmp_path) == 0


def test_a_store_whose_pages_are_overwritten_is_refused(tmp_path: Path) -> None:
    with scripted_server(steady) as server:
        ran(server, tmp_path)
        store = store_of(tmp_path)
        for more in store.parent.glob(f"{store.name}-*"):
            more.unlink()
        data = bytearray(store.read_bytes())
        data[4096:12288] = os.urandom(8192)
        store.write_bytes(data)
        assert ran(server, tmp_path) == 2


def test_answers_whose_bits_are_flipped_are_asked_again(tmp_path: Path) -> None:
    with scripted_server(steady) as server:
        ran(server, tmp_path)
        before, calls, store = results(tmp_path), len(paid(server)), store_of(tmp_path)
        with closing(sqlite3.connect(store, isolation_level=None)) as connection:
            connection.execute("VACUUM")  # else an old copy of a row may be changed in its place
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        store.write_bytes(store.read_bytes().replace(b"4stop", b"5stop", 3))
        assert ran(server, tmp_path) == 0
        assert results(tmp_path) == before
        assert len(paid(server)) == calls + 3
    with closing(sqlite3.connect(store)) as connection:
        assert connection.execute("SELECT count(*) FROM set_aside").fetchone() == (3,)


@pytest.mark.parametrize("kill", [False, True])
def test_two_runs_on_one_store_pay_once_also_where_one_is_killed(kill: bool, tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    cache = tmp_path / "shared"
    with scripted_server(steady) as server:
        processes = [begun(server, folder, cache) for folder in folders]
        while kill and len(paid(server)) < 30 and processes[0].poll() is None:
            time.sleep(0.01)
        if kill:
            processes[0].kill()
        codes = [ended(process, folder)[0] for process, folder in zip(processes, folders, strict=True)]
        if kill:
            codes[0] = ran(server, folders[0], cache)
        assert codes == [0, 0]
        assert results(folders[0]) == results(folders[1])
        assert paid_twice(server) <= (CONCURRENCY if kill else 0)


def test_of_two_runs_in_one_folder_one_writes_it(tmp_path: Path) -> None:
    with scripted_server(steady) as server:
        processes = [begun(server, tmp_path) for _ in range(2)]
        (one, _), (two, said) = sorted(ended(process, tmp_path) for process in processes)
        assert (one, two, ran(server, tmp_path)) == (0, 2, 0)
        assert "being written by process" in said
        assert paid_twice(server) == 0
