"""Run the benchmark against what goes wrong: nasty servers, kills, a full disk, broken stores, two at once.

    python scripts/faults.py [--case TEXT]

Prints a table: case, exit code, seconds, what dhp said. A case fails where the run shows a traceback, ends
with 70, does not end, leaves the API key anywhere or a script in the report, or, after a kill, ends with
other results or pays for more than what was in flight. Each run rates 5 texts and their degraded copies.
"""

import argparse
import json
import os
import resource
import signal
import socketserver
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

KEY = "sk-faults-0123456789abcdef"
SCRIPT = "<script>alert(1)</script></textarea>"
LIMIT = 180
"""Seconds from which a run counts as one that does not end."""
CONCURRENCY = 4
_VOLATILE = ("created", "usage", "cost")

Answer = tuple[int, Mapping[str, str], bytes | None]
"""Status, headers, body; without a body the connection is closed, without an answer."""


def answer(
    text: object = "4", status: int = 200, /, headers: Mapping[str, str] = {}, **more: object
) -> Answer:
    """A reply in the form of OpenAI's, with other parts where `more` gives them."""
    message = {"role": "assistant", "content": text}
    reply = {
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 1},
        **more,
    }
    return status, headers, json.dumps(reply).encode()


def refusal(status: int, message: str, **headers: str) -> Answer:
    """An error, with headers."""
    return (
        status,
        {k.replace("_", "-"): v for k, v in headers.items()},
        json.dumps({"error": {"message": message}}).encode(),
    )


class Server:
    """A server that answers by a function of the number of the call."""

    def __init__(self, says: Callable[[int], Answer]) -> None:
        self.calls = 0
        lock = threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(handler) -> None:
                handler.rfile.read(int(handler.headers["content-length"]))
                with lock:
                    self.calls += 1
                    number = self.calls
                status, headers, body = says(number)
                if body is None:
                    handler.close_connection = True
                    return
                handler.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    handler.send_header(name, value)
                handler.end_headers()
                handler.wfile.write(body)
                if "Content-Length" in headers:
                    handler.close_connection = True

            def log_message(self, format: str, *args: object) -> None:
                return

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: object, client_address: object) -> None:
                return  # a client that was killed

        self.server: socketserver.BaseServer = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@contextmanager
def serving(says: Callable[[int], Answer]) -> Iterator[Server]:
    """A running server."""
    server = Server(says)
    try:
        yield server
    finally:
        server.server.shutdown()
        server.server.server_close()


@dataclass
class Outcome:
    """What became of a case."""

    code: int | None
    seconds: float
    said: str
    faults: list[str] = field(default_factory=list)


def command(url: str, folder: Path, *more: str) -> list[str]:
    """The benchmark against a server, all its files below `folder`."""
    asked = [
        "--dataset",
        "mini/summeval",
        "--n",
        "5",
        "--metric",
        "fluency",
        "--samples",
        "1",
    ]
    limits = ["--retries", "1", "--timeout", "2", "--concurrency", str(CONCURRENCY)]
    places = ["--out", str(folder / "out"), "--cache", str(folder / "cache")]
    model = ["--model", "openai/stub", "--base-url", url]
    return [sys.executable, "-m", "dhp.benchmark", *model, *asked, *limits, *places, "--quiet", *more]


ENVIRONMENT = {**os.environ, "OPENAI_API_KEY": KEY}


def judged(process: "subprocess.Popen[str]", folder: Path, begun: float) -> Outcome:
    """Wait for a run and look at what it left."""
    try:
        _, said = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return Outcome(None, LIMIT, "", ["does not end"])
    lines = [line for line in said.splitlines() if line.strip()]
    found = Outcome(process.returncode, time.monotonic() - begun, lines[-1] if lines else "")
    if "Traceback" in said:
        found.faults.append("traceback")
    if process.returncode == 70:
        found.faults.append("exit 70")
    files = [p for p in folder.rglob("*") if p.is_file()]
    if "\x1b" in said:
        found.faults.append("terminal codes on the screen")
    if KEY in said or any(KEY.encode() in p.read_bytes() for p in files):
        found.faults.append("the key is kept or shown")
    report = folder / "out" / "report.html"
    if report.exists() and SCRIPT in report.read_text(encoding="utf-8"):
        found.faults.append("a script in the report")
    return found


def started(arguments: list[str], **more: object) -> "subprocess.Popen[str]":
    """A run that has begun."""
    return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
        arguments, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **more
    )


def ran(arguments: list[str], folder: Path, **more: object) -> Outcome:
    """A run from beginning to end."""
    begun = time.monotonic()
    return judged(started(arguments, **more), folder, begun)


def _hang(number: int) -> Answer:
    time.sleep(30)
    return 200, {}, None


NASTY: dict[str, Callable[[int], Answer]] = {
    "hangs": _hang,
    "closes each connection": lambda i: (200, {}, None),
    "closes every third connection": lambda i: (200, {}, None) if i % 3 == 0 else answer(),
    "half an answer": lambda i: (200, {"Content-Length": "5000"}, b'{"choices": [{"mess'),
    "429, Retry-After: inf": lambda i: refusal(429, "slow down", Retry_After="inf"),
    "429, Retry-After: a day": lambda i: refusal(429, "slow down", Retry_After="86400"),
    "429, Retry-After: nan, once in three": lambda i: (
        refusal(429, "slow down", Retry_After="nan") if i % 3 == 0 else answer()
    ),
    "500 always": lambda i: refusal(500, "oh"),
    "401, with the key in it": lambda i: refusal(401, f"Incorrect API key provided: {KEY}"),
    "404, a page": lambda i: (404, {"Content-Type": "text/html"}, b"<html>" + b"x" * 5000),
    "redirects": lambda i: refusal(307, "", Location="https://example.invalid/v1/chat/completions"),
    "redirects to itself": lambda i: refusal(308, "", Location="/v1/chat/completions"),
    "garbage in the place of JSON": lambda i: (200, {}, b"\x00\xff\xfe garbage"),
    "JSON of another form": lambda i: (200, {}, b'["choices"]'),
    "deep JSON": lambda i: (200, {}, b"[" * 100_000),
    "no choices": lambda i: answer(choices=[]),
    "null choices": lambda i: answer(choices=None),
    "usage NaN": lambda i: answer(usage={"prompt_tokens": float("nan"), "completion_tokens": None}),
    "usage of 1e300 tokens": lambda i: answer(usage={"prompt_tokens": 1e300, "completion_tokens": -5}),
    "null usage": lambda i: answer(usage=None),
    "a number as content": lambda i: answer(4),
    "null content": lambda i: answer(None),
    "half a character": lambda i: answer("4 \ud800"),
    "the key in the answer": lambda i: answer(f"You sent {KEY}: 4"),
    "a script in the answer": lambda i: answer(f"4 {SCRIPT}"),
    "terminal codes in the answer": lambda i: answer("4 \x1b[2J\x1b]0;x\x07"),
    "an answer of 1 MB": lambda i: answer("4 out of 5 " * 100_000),
    "400, too long a prompt": lambda i: refusal(400, "maximum context length is 8 tokens"),
    "400, terminal codes": lambda i: refusal(400, "\x1b[2J\r\n bad\nworse"),
}


def nasty(name: str, folder: Path) -> Outcome:
    """A run against a nasty server."""
    with serving(NASTY[name]) as server:
        return ran(command(server.url, folder), folder)


def _slow(number: int) -> Answer:
    time.sleep(0.1)
    return answer("4" if number % 2 else "3")


def _steady(number: int) -> Answer:
    time.sleep(0.1)
    return answer("4")


def _results(folder: Path) -> object:
    found = json.loads((folder / "out" / "results.json").read_text(encoding="utf-8"))
    for each in found if isinstance(found, list) else [found]:
        for name in _VOLATILE:
            each.pop(name, None)
    return found


def killed(signals: list[int], folder: Path) -> Outcome:
    """A run that is killed again and again, against one that is not."""
    with serving(_steady) as server:
        whole = ran(command(server.url, folder / "whole"), folder / "whole")
        paid, server.calls = server.calls, 0
        for kill in range(3):
            before = server.calls
            process = started(command(server.url, folder / "broken"))
            end = time.monotonic() + LIMIT
            while server.calls < before + 8 and process.poll() is None and time.monotonic() < end:
                time.sleep(0.01)
            for number in signals:
                if process.poll() is None:
                    process.send_signal(number)
                    time.sleep(0.05 * (kill + 1))
            stopped = judged(process, folder / "broken", time.monotonic())
            whole.faults += [f"{fault} when killed" for fault in stopped.faults]
        found = ran(command(server.url, folder / "broken"), folder / "broken")
        found.faults += whole.faults
        if found.code == 0 and _results(folder / "broken") != _results(folder / "whole"):
            found.faults.append("other results")
        if found.code != 0:
            found.faults.append("does not go on")
        if server.calls - paid > 3 * CONCURRENCY:
            found.faults.append("paid twice")
        found.said = f"{server.calls - paid} of {paid} calls paid twice, at most {3 * CONCURRENCY} in flight"
    return found


def full_disk(kilobytes: int, folder: Path) -> Outcome:
    """A run that may write no file beyond a size, and the same one when it may."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes * 1024, kilobytes * 1024))

    with serving(_slow) as server:
        found = ran(command(server.url, folder), folder, preexec_fn=limit)
        if found.code not in (0, 2, 3):
            found.faults.append(f"exit {found.code}")
        again = ran(command(server.url, folder), folder)
        if again.code != 0:
            found.faults.append(f"does not go on: {again.said}")
        found.faults += again.faults
    return found


def _garbage(store: Path) -> None:
    store.write_bytes(os.urandom(20_000))


def _cut(store: Path) -> None:
    store.write_bytes(store.read_bytes()[:5000])


def _holes(store: Path) -> None:
    data = bytearray(store.read_bytes())
    data[4096:12288] = os.urandom(8192)
    store.write_bytes(data)


def _table(store: Path) -> None:
    with sqlite3.connect(store) as connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            connection.execute(f'ALTER TABLE "{name}" RENAME TO other')


def _empty(store: Path) -> None:
    store.write_bytes(b"")


def _folder(store: Path) -> None:
    store.unlink()
    store.mkdir()


STORES = {
    "random bytes": _garbage,
    "cut off": _cut,
    "pages overwritten": _holes,
    "its table renamed": _table,
    "empty": _empty,
    "a folder in its place": _folder,
}


def broken_store(name: str, folder: Path) -> Outcome:
    """A finished run whose store is then broken, and asked again."""
    with serving(_steady) as server:
        ran(command(server.url, folder), folder)
        (store,) = (folder / "cache").rglob("*.sqlite")
        for more in store.parent.glob(f"{store.name}-*"):
            more.unlink()
        STORES[name](store)
        return ran(command(server.url, folder), folder)


def two_at_once(folder: Path) -> Outcome:
    """Two runs that share a store; each of their folders must end complete and alike."""
    with serving(_steady) as server:
        begun = time.monotonic()
        folders = [folder / "one", folder / "two"]
        shared = ["--cache", str(folder / "shared")]
        processes = [started(command(server.url, each, *shared)) for each in folders]
        one, two = (judged(p, f, begun) for p, f in zip(processes, folders, strict=True))
        one.faults += two.faults
        if (one.code, two.code) != (0, 0):
            one.faults.append(f"exits {one.code} and {two.code}")
        elif _results(folders[0]) != _results(folders[1]):
            one.faults.append("other results")
    return one


def cases() -> dict[str, Callable[[Path], Outcome]]:
    """Name -> what runs it in a folder."""
    found: dict[str, Callable[[Path], Outcome]] = {}
    for name in NASTY:
        found[f"server: {name}"] = lambda folder, name=name: nasty(name, folder)  # type: ignore[misc]
    kills = {"SIGKILL": [signal.SIGKILL], "SIGTERM": [signal.SIGTERM], "Ctrl-C twice": [signal.SIGINT] * 2}
    for name, signals in kills.items():
        found[f"killed: {name}"] = lambda folder, signals=signals: killed(signals, folder)  # type: ignore[misc]
    for size in (1, 20, 60):
        found[f"disk: {size} kB a file"] = lambda folder, size=size: full_disk(size, folder)  # type: ignore[misc]
    for name in STORES:
        found[f"store: {name}"] = lambda folder, name=name: broken_store(name, folder)  # type: ignore[misc]
    found["two runs on one store"] = two_at_once
    return found


def main() -> None:
    """Print the table, and a non-zero exit code where a case failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="", help="only the cases with this in their name")
    options = parser.parse_args()
    print("| case | exit | seconds | outcome |\n|---|---:|---:|---|")
    failed = False
    for name, run in cases().items():
        if options.case not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = run(Path(folder))
        failed = failed or bool(found.faults)
        fault = f"FAULT: {', '.join(found.faults)}; " if found.faults else ""
        said = found.said.replace(folder, "...").replace("|", "/")[:160]
        print(f"| {name} | {found.code} | {found.seconds:.0f} | {fault}{said or 'ok'} |", flush=True)
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
