"""Run the benchmark against what goes wrong: nasty servers, kills, a full disk, broken stores, two at once.

    python scripts/faults.py [--case TEXT] [--client fast|sdk|litellm|ray]

Prints a table: case, exit code, seconds, what dhp said. A case fails where the run shows a traceback, ends
with 70, does not end, leaves the API key anywhere or a script in the report, or, after a kill, ends with
other results or pays for more than what was in flight. Each run rates 5 texts and their degraded copies.
"""

import argparse
import itertools
import json
import os
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dhp.core.ratings_table import read_ratings
from scripts.servers_of_today import SERVERS
from tests.cli.test_written_names import OBSTACLES, plant
from tests.plugins.batch.provider_server import Provider, provider_server
from tests.processes import descendants, helper_of
from tests.proxy import certificate, recording_proxy
from tests.server import Answer, Scripted, refusal, reply, scripted_server

KEY = "sk-faults-0123456789abcdef"
SCRIPT = "<script>alert(1)</script></textarea>"
LIMIT = 180
"""Seconds from which a run counts as one that does not end."""
CONCURRENCY = 4
MOST_KILOBYTES = 600_000
"""Of the memory of a run."""
_VOLATILE = ("created", "usage", "cost", "latency", "checksum")


@contextmanager
def serving(says: Callable[[int], Answer | None], port: int = 0) -> Iterator[Scripted]:
    """A server that answers by a function of the number of the call; with 0 on any port."""
    numbers = itertools.count(1)
    with scripted_server(lambda call: says(next(numbers)), port=port) as server:
        yield server


def prompts(server: Scripted) -> list[bytes]:
    """What the server was asked to complete, in turn."""
    return [call.raw for call in server.calls if call.method == "POST"]


def paid_twice(server: Scripted) -> int:
    """Prompts that came before."""
    return len(prompts(server)) - len({*prompts(server)})


def weighed(chosen: str, **logprobs: float) -> Answer:
    """A reply of one token with the log-probabilities of its alternatives, `_` before digits."""
    tops = [{"token": token.strip("_"), "logprob": logprob} for token, logprob in logprobs.items()]
    place = {"token": chosen, "logprob": tops[0]["logprob"], "top_logprobs": tops}
    choice = {"index": 0, "message": {"content": chosen}, "finish_reason": "stop"}
    return reply(choices=[{**choice, "logprobs": {"content": [place]}}])


@dataclass
class Outcome:
    """What became of a case."""

    code: int | None
    seconds: float
    said: str
    """The last line."""
    faults: list[str] = field(default_factory=list)
    messages: str = ""
    """All lines."""


def command(url: str, folder: Path, *more: str) -> list[str]:
    """The benchmark against a server, all its files below `folder`."""
    asked = ["--dataset", "mini/summeval", "--n", "5", "--metric", "fluency", "--samples", "1"]
    limits = ["--retries", "1", "--timeout", "2", "--concurrency", str(CONCURRENCY)]
    places = ["--out", str(folder / "out"), "--cache", str(folder / "cache")]
    model = [*CLIENTS[client], "--base-url", f"{url}/v1"]
    return [sys.executable, "-m", "dhp.benchmark", *model, *asked, *limits, *places, "--quiet", *more]


CLIENTS = {
    "fast": ["--model", "openai/stub"],
    "sdk": ["--model", "openai/stub", "--transport", "sdk"],
    "litellm": ["--model", "litellm/openai/stub"],
    "ray": ["--model", "openai/stub", "--ray", "auto"],
}
client = "fast"
ENVIRONMENT = {**os.environ, "OPENAI_API_KEY": KEY}


def _peak(process: int) -> int:
    """Most kilobytes that a process has used so far; 0 once it has ended."""
    # What the system counts for children that ended holds the peak of the process that began them, too.
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) if found else 0


def judged(process: "subprocess.Popen[str]", folder: Path, begun: float) -> Outcome:
    """Wait for a run and look at what it left."""
    peak, end = 0, time.monotonic() + LIMIT
    while True:
        peak = max(peak, _peak(process.pid))
        try:
            _, said = process.communicate(timeout=0.05)
            break
        except subprocess.TimeoutExpired:
            if time.monotonic() > end:
                process.kill()
                process.communicate()
                return Outcome(None, LIMIT, "", ["does not end"])
    lines = [line for line in said.splitlines() if line.strip()]
    found = Outcome(process.returncode, time.monotonic() - begun, lines[-1] if lines else "", messages=said)
    if peak > MOST_KILOBYTES:
        found.faults.append("more than 600 MB of memory")
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
    if report.is_file() and SCRIPT in report.read_text(encoding="utf-8"):
        found.faults.append("a script in the report")
    return found


def started(
    arguments: list[str], variables: Mapping[str, str] | None = None, **more: object
) -> "subprocess.Popen[str]":
    """A run that has begun, with further variables of the environment."""
    env = {**ENVIRONMENT, **(variables or {})}
    return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
        arguments, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **more
    )


def ran(
    arguments: list[str], folder: Path, variables: Mapping[str, str] | None = None, **more: object
) -> Outcome:
    """A run from beginning to end, with further variables of the environment."""
    begun = time.monotonic()
    return judged(started(arguments, variables, **more), folder, begun)


def _hang(number: int) -> None:
    time.sleep(30)


@cache
def _bomb() -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    parts = [packer.compress(b'{"choices": [{"message": {"content": "')]
    parts += [packer.compress(b"4 " * 2**19) for _ in range(300)]
    return b"".join([*parts, packer.compress(b'"}}]}'), packer.flush()])


NASTY: dict[str, Callable[[int], Answer | None]] = {
    "hangs": _hang,
    "closes each connection": lambda i: None,
    "closes every third connection": lambda i: None if i % 3 == 0 else reply("4"),
    "half an answer": lambda i: (200, {"Content-Length": "5000"}, b'{"choices": [{"mess'),
    "429, Retry-After: inf": lambda i: refusal(429, "slow down", Retry_After="inf"),
    "429, Retry-After: a day": lambda i: refusal(429, "slow down", Retry_After="86400"),
    "429, Retry-After: nan, once in three": lambda i: (
        refusal(429, "slow down", Retry_After="nan") if i % 3 == 0 else reply("4")
    ),
    "500 always": lambda i: refusal(500, "oh"),
    "401, with the key in it": lambda i: refusal(401, f"Incorrect API key provided: {KEY}"),
    "401 for one prompt in ten": lambda i: refusal(401, "no") if i % 10 == 7 else reply("4"),
    "403 from the twentieth call on": lambda i: refusal(403, "no") if i > 20 else reply("4"),
    "404, a page": lambda i: (404, {"Content-Type": "text/html"}, b"<html>" + b"x" * 5000),
    "redirects": lambda i: refusal(307, "", Location="https://example.invalid/v1/chat/completions"),
    "redirects to itself": lambda i: refusal(308, "", Location="/v1/chat/completions"),
    "garbage in the place of JSON": lambda i: (200, {}, b"\x00\xff\xfe garbage"),
    "a stray byte in each answer": lambda i: (
        200,
        {},
        json.dumps(reply("4 @")[2]).encode().replace(b"@", b"\xff"),
    ),
    "JSON of another form": lambda i: (200, {}, b'["choices"]'),
    "deep JSON": lambda i: (200, {}, b"[" * 100_000),
    "no choices": lambda i: reply(choices=[]),
    "null choices": lambda i: reply(choices=None),
    "usage NaN": lambda i: reply("4", usage={"prompt_tokens": float("nan"), "completion_tokens": None}),
    "usage of 1e300 tokens": lambda i: reply("4", usage={"prompt_tokens": 1e300, "completion_tokens": -5}),
    "null usage": lambda i: reply("4", usage=None),
    "a number as content": lambda i: reply(4),
    "null content": lambda i: reply(None),
    "a lone surrogate": lambda i: reply("4 \ud800"),
    "the key in the answer": lambda i: reply(f"4\nYou sent {KEY}."),
    "a script in the answer": lambda i: reply(f"4 {SCRIPT}"),
    "terminal codes in the answer": lambda i: reply("4 \x1b[2J\x1b]0;x\x07"),
    "an answer of 100 kB": lambda i: reply("4 out of 5 " * 10_000),
    "log-probabilities: infinity": lambda i: weighed("4", _4=float("inf"), _1=-1.0),
    "log-probabilities: 5": lambda i: weighed("4", _4=-0.1, _1=5.0),
    "log-probabilities: NaN": lambda i: weighed("4", _4=-0.1, _1=float("nan")),
    "log-probabilities: too much in all": lambda i: weighed("4", _4=-0.01, _1=-0.01, _2=-0.01),
    "log-probabilities: another token's": lambda i: weighed("4", _2=-0.7, _3=-0.7),
    "an answer of 50 MB": lambda i: reply("4 out of 5 " * 5_000_000),
    "300 MB packed into 300 kB": lambda i: (200, {"Content-Encoding": "gzip"}, _bomb()),
    "a refusal of 15 MB": lambda i: refusal(400, "no " * 5_000_000),
    "422 for two calls in three": lambda i: refusal(422, f"no way, {i}") if i % 3 else reply("4"),
    "422 for one call in five": lambda i: refusal(422, f"no way, {i}") if i % 5 == 2 else reply("4"),
    "tool calls alone": lambda i: reply(
        choices=[{"message": {"content": None, "tool_calls": [{}]}, "finish_reason": "tool_calls"}]
    ),
    "empty answers alone": lambda i: reply(""),
    "filtered answers alone": lambda i: reply(
        choices=[{"message": {"content": ""}, "finish_reason": "content_filter"}]
    ),
    "prompts cut at 300 tokens": lambda i: reply("4", usage={"prompt_tokens": 300, "completion_tokens": 1}),
    "another model from the thirtieth call on": lambda i: reply("4", model=f"stub-{1 + i // 30}"),
    "400, too long a prompt": lambda i: refusal(400, "maximum context length is 8 tokens"),
    "400, terminal codes": lambda i: refusal(400, "\x1b[2J\r\n bad\nworse"),
    "400, a million letters": lambda i: refusal(400, "a" * 1_000_000),
    "a stream without its end": lambda i: (200, {}, _chunk("4")),
    "a stream without its end, once in three": lambda i: (
        (200, {}, _chunk("1")) if i % 3 == 0 else (200, {}, _chunk("4") + b"data: [DONE]\n\n")
    ),
}


def _chunk(text: str) -> bytes:
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': text}}]})}\n\n".encode()


_BROKE = "Your credit balance is too low to access the API."
_DAY = "Rate limit reached on requests per day (RPD): Limit 30. Please try again in 7h12m0s."
SPENT: dict[str, Answer] = {
    "400, credit": refusal(400, _BROKE),
    "403, in Chinese": refusal(403, "账户余额不足，请充值"),
    "429, a quota of the day": refusal(429, _DAY),
    "429, retry-after-ms: an hour": refusal(429, "slow down", retry_after_ms="3600000"),
    "429, in Japanese": refusal(429, "残高が不足しています"),
    "429, a cap": refusal(429, "Monthly spend cap hit"),
    "500, a balance": refusal(500, "insufficient balance"),
    "200, in a field of its own": (200, {}, {"base_resp": {"status_code": 1008, "status_msg": "余额不足"}}),
    "400 without a known word": refusal(400, "computer says no"),
    "401": refusal(401, "no"),
    "418": refusal(418, "no"),
}
"""What a server answers from its thirtieth call on."""


def spent(name: str, folder: Path) -> Outcome:
    """A run whose account is empty from the thirtieth call on, and the same one when it is filled."""
    with serving(lambda i: reply("4") if i <= 30 else SPENT[name]) as server:
        found = ran(command(server.url, folder), folder)
        paid = {*prompts(server)[:30]}
        refused = len(prompts(server)) - 30
    with serving(_steady, server.port) as server:
        again = ran(command(server.url, folder), folder)
        twice = len(paid & {*prompts(server)})
    found.faults += again.faults
    if (found.code, again.code) != (3, 0):
        found.faults.append(f"exits {found.code}, then {again.code}")
    if refused > 10 + 3 * CONCURRENCY or found.seconds > 30:
        found.faults.append(f"{refused} calls refused")
    if twice:
        found.faults.append("paid twice")
    return found


def nasty(name: str, folder: Path) -> Outcome:
    """A run against a nasty server."""
    _bomb()  # takes longer than a call may
    more = ["--protocol", "g-eval-prob"] if "log-probabilities" in name else []
    more = ["--same-model"] if "another model" in name else more
    with serving(NASTY[name]) as server:
        found = ran(command(server.url, folder, *more), folder)
    if "log-probabilities" in name and found.code == 0:
        found.faults.append("impossible probabilities were scored")
    if ("cut at" in name or "another model" in name) and found.code != 3:
        found.faults.append("goes on")
    if "stream" in name and found.code == 0 and set(_scores(folder)) != {4.0}:
        found.faults.append("a part of an answer was scored")
    return found


def _scores(folder: Path) -> list[float]:
    return [float(score) for score in read_ratings(folder / "out" / "ratings.parquet")["score"].dropna()]


def of_today(name: str, folder: Path) -> Outcome:
    """A run against a server of today, which must end as the table says."""
    server = SERVERS[name]
    if client == "litellm" and not server.by_litellm:
        return Outcome(None, 0, "not run: the package itself reads no such answer")
    with scripted_server(server.says) as running:
        line = [word for word in command(running.url, folder, *server.more) if word != "--quiet"]
        found = ran(line, folder)
    if found.code != server.code:
        found.faults.append(f"exit {found.code}, not {server.code}")
    if server.said not in found.messages:
        found.faults.append(f"does not say: {server.said}")
    if found.code == 0:
        counts = json.loads((folder / "out" / "results.json").read_text(encoding="utf-8"))["ratings"]
        if counts["scored"] < server.scored * counts["asked"]:
            found.faults.append(f"{counts['scored']} of {counts['asked']} scored")
    return found


def _slow(number: int) -> Answer:
    time.sleep(0.1)
    return reply("4" if number % 2 else "3")


def _steady(number: int) -> Answer:
    time.sleep(0.1)
    return reply("4")


def _results(folder: Path) -> object:
    found = json.loads((folder / "out" / "results.json").read_text(encoding="utf-8"))
    for each in found if isinstance(found, list) else [found]:
        for name in _VOLATILE:
            each.pop(name, None)
    return found


def _held() -> int:
    """Calls that a run holds at most, in flight or with workers."""
    return CONCURRENCY * (2 if client == "ray" else 1)


def killed(signals: list[int], folder: Path) -> Outcome:
    """A run that is killed again and again, against one that is not."""
    with serving(_steady) as server:
        whole = ran(command(server.url, folder / "whole"), folder / "whole")
        paid = len(prompts(server))
        for kill in range(3):
            before = len(prompts(server))
            process = started(command(server.url, folder / "broken"))
            end = time.monotonic() + LIMIT
            while len(prompts(server)) < before + 8 and process.poll() is None and time.monotonic() < end:
                time.sleep(0.01)
            for number in signals:
                if process.poll() is None:
                    process.send_signal(number)
                    time.sleep(0.05 * (kill + 1))
            stopped = judged(process, folder / "broken", time.monotonic())
            whole.faults += [f"{fault} when killed" for fault in stopped.faults]
            if signals == [signal.SIGTERM] and "stopped" not in stopped.said:
                whole.faults.append("SIGTERM without a word")
        found = ran(command(server.url, folder / "broken"), folder / "broken")
        found.faults += whole.faults
        if found.code == 0 and _results(folder / "broken") != _results(folder / "whole"):
            found.faults.append("other results")
        if found.code != 0:
            found.faults.append("does not go on")
        twice = len(prompts(server)) - 2 * paid
        if twice > 3 * _held():
            found.faults.append("paid twice")
        found.said = f"{twice} of {paid} calls paid twice, bound {3 * _held()}"
    return found


def _slower(number: int) -> Answer:
    time.sleep(0.8)
    return reply(str(1 + number % 5))


def interrupted(folder: Path) -> Outcome:
    """A run that is interrupted once: what arrives within two seconds is kept."""
    with serving(_slower) as server:
        process = started(command(server.url, folder))
        while len(prompts(server)) < 8 and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        found = judged(process, folder, time.monotonic())
        again = ran(command(server.url, folder), folder)
        if (found.code, again.code) != (3, 0):
            found.faults.append(f"exit {found.code}, then {again.code}")
        twice = paid_twice(server)
        if twice:
            found.faults.append(f"{twice} calls paid twice")
    return found


def lost_node(folder: Path) -> Outcome:
    """A run on workers whose node on this machine is killed."""
    if find_spec("ray") is None:
        return Outcome(None, 0, "not run: Ray is not installed")
    global client
    before, client = client, "ray"
    with serving(_slower) as server:
        process = started(command(server.url, folder, "--n", "10"))
        while len(prompts(server)) < 8 and process.poll() is None:
            time.sleep(0.01)
        helpers = [*descendants(process.pid)]
        os.kill(helper_of(process.pid, "raylet/raylet"), signal.SIGKILL)
        found = judged(process, folder, time.monotonic())
    client = before
    if found.code != 3 or "the Ray node of this machine has ended" not in found.said:
        found.faults.append(f"exit {found.code}: {found.said}")
    time.sleep(3)
    left = [pid for pid in helpers if Path(f"/proc/{pid}/cmdline").exists()]
    if left:
        found.faults.append(f"{len(left)} processes are left")
    return found


def cut_batch(folder: Path) -> Outcome:
    """A run whose batch is answered in full, in a file that first comes without its second half."""
    with provider_server(Provider(cuts=1)) as provider:
        found = ran(command(provider.url, folder, "--batch", "openai"), folder)
    if found.code != 0 or len(provider.batches) != 1 or provider.direct:
        batches = len(provider.batches)
        found.faults.append(f"exit {found.code}, {batches} batches, {provider.direct} calls")
    return found


def full_disk(kilobytes: int, folder: Path) -> Outcome:
    """A run that may write no file beyond a size, and the same one when it may."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes * 1024, kilobytes * 1024))

    with serving(_slow) as server:
        found = ran(command(server.url, folder), folder, preexec_fn=limit)
        if found.code not in (0, 3):
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
            connection.execute(f'ALTER TABLE "{name}" RENAME TO "other_{name}"')


def _empty(store: Path) -> None:
    store.write_bytes(b"")


def _folder(store: Path) -> None:
    store.unlink()
    store.mkdir()


def _claimed(store: Path) -> None:
    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.execute("INSERT INTO claims SELECT key, 'process 1 on elsewhere', 1e12 FROM replies")
        connection.execute("DELETE FROM replies")


STORES = {
    "random bytes": _garbage,
    "cut off": _cut,
    "pages overwritten": _holes,
    "its table renamed": _table,
    "empty": _empty,
    "a folder in its place": _folder,
    "claims that never end": _claimed,
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


def flipped_bits(folder: Path) -> Outcome:
    """A finished run in whose store three answers are another number: asked again, with the same results."""
    with serving(_steady) as server:
        ran(command(server.url, folder), folder)
        before, paid = _results(folder), len(prompts(server))
        (store,) = (folder / "cache").rglob("*.sqlite")
        with closing(sqlite3.connect(store, isolation_level=None)) as connection:
            connection.execute("VACUUM")  # else an old copy of a row may be changed in its place
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        store.write_bytes(store.read_bytes().replace(b"4stop", b"5stop", 3))
        found = ran(command(server.url, folder), folder)
    if _results(folder) != before:
        found.faults.append("other results")
    if len(prompts(server)) != paid + 3:
        found.faults.append(f"{len(prompts(server)) - paid} calls")
    with sqlite3.connect(store) as connection:
        if connection.execute("SELECT count(*) FROM set_aside").fetchone() != (3,):
            found.faults.append("not set aside")
    return found


def two_on_one_store(folder: Path, kill: bool = False) -> Outcome:
    """Two runs that share a store, the first perhaps killed: both end alike, each prompt paid for once."""
    with serving(_steady) as server:
        begun = time.monotonic()
        folders = [folder / "one", folder / "two"]
        shared = ["--cache", str(folder / "shared")]
        processes = [started(command(server.url, each, *shared)) for each in folders]
        while kill and len(prompts(server)) < 30 and processes[0].poll() is None:
            time.sleep(0.01)
        if kill:
            processes[0].kill()
        one, two = (judged(p, f, begun) for p, f in zip(processes, folders, strict=True))
        if kill:
            one = ran(command(server.url, folders[0], *shared), folders[0])
    two.faults += one.faults
    if (one.code, two.code) != (0, 0):
        two.faults.append(f"exits {one.code} and {two.code}")
    elif _results(folders[0]) != _results(folders[1]):
        two.faults.append("other results")
    twice = paid_twice(server)
    if twice > (_held() if kill else 0):
        two.faults.append("paid twice")
    two.said = f"{twice} of {len(prompts(server)) - twice} calls paid twice; {two.said}"
    return two


def stood_still(folder: Path) -> Outcome:
    """A run that stands still for longer than its lease while another one makes the rest of its calls."""
    with serving(_steady) as server:
        begun = time.monotonic()
        shared = ["--cache", str(folder / "shared")]
        one = started(command(server.url, folder / "one", *shared))
        while len(prompts(server)) < 30 and one.poll() is None:
            time.sleep(0.01)
        one.send_signal(signal.SIGSTOP)
        two = ran(command(server.url, folder / "two", *shared), folder / "two")
        one.send_signal(signal.SIGCONT)
        found = judged(one, folder / "one", begun)
    found.faults += two.faults
    if (found.code, two.code) != (0, 0) or _results(folder / "one") != _results(folder / "two"):
        found.faults.append(f"exits {found.code} and {two.code}, or other results")
    twice = paid_twice(server)
    if twice > _held():
        found.faults.append("paid twice")
    found.said = f"{twice} calls paid twice, bound {_held()}"
    return found


def two_in_one_folder(folder: Path) -> Outcome:
    """The same command twice at once: one writes the folder, the other says who does and pays nothing."""
    with serving(_steady) as server:
        begun = time.monotonic()
        processes = [started(command(server.url, folder)) for _ in range(2)]
        ends = sorted((judged(p, folder, begun) for p in processes), key=lambda end: end.code or 0)
        again = ran(command(server.url, folder), folder)
    one, two = ends
    two.faults += one.faults + again.faults
    if (one.code, two.code, again.code) != (0, 2, 0) or "being written by process" not in two.said:
        two.faults.append(f"exits {one.code}, {two.code}, then {again.code}")
    if paid_twice(server):
        two.faults.append("paid twice")
    return two


def key_in_the_address(folder: Path) -> Outcome:
    """A run whose address holds a key, as that of some gateways does."""
    with serving(_steady) as server:
        return ran(command(f"{server.url}/{KEY}", folder), folder)


def wide_table(folder: Path) -> Outcome:
    """A table of a million columns."""
    table, columns = folder / "wide.csv", ["source", "output", *(f"c{i}" for i in range(999_997)), "c0"]
    table.write_text(",".join(columns) + "\n" + "a," * 999_999 + "a\n")
    line = [sys.executable, "-m", "dhp", "benchmark", "--model", "mock/noisy", "--dataset", str(table)]
    found = ran([*line, "--task", "summarization", "--out", str(folder / "out")], folder)
    if found.code != 2 or found.seconds > 20:
        found.faults.append("not refused within 20 seconds")
    return found


def short_of(memory: int, stack: int | None, folder: Path) -> Outcome:
    """A run that may take so many megabytes of memory, each thread as much as the stack may."""

    def limit() -> None:
        if stack is not None:
            resource.setrlimit(resource.RLIMIT_STACK, (stack * 10**6, resource.RLIM_INFINITY))
        resource.setrlimit(resource.RLIMIT_AS, (memory * 10**6, memory * 10**6))

    with serving(_steady) as server:
        found = ran(command(server.url, folder), folder, preexec_fn=limit)
        if found.code not in (0, 3) or (found.code == 3 and "ulimit -v" not in found.said):
            found.faults.append("the limit is not named")
        again = ran(command(server.url, folder), folder)
    if again.code != 0:
        found.faults.append(f"does not go on: {again.said}")
    return found


NAMES = ("out/.lock", "out/manifest.json", "out/ratings.parquet", "out/report.html", "cache/replies.sqlite")


def planted(name: str, folder: Path) -> Outcome:
    """Runs into folders in which something else stands under one of the names: each is refused."""
    for kind in OBSTACLES:
        victim, place = folder / kind / "victim", folder / kind / name
        (victim / "folder").mkdir(parents=True)
        (victim / "file").write_text("years of work")
        place.parent.mkdir(parents=True)
        plant(place, kind, victim)
        with serving(_steady) as server:
            found = ran(command(server.url, folder / kind), folder / kind)
        left = sorted(path.name for path in victim.rglob("*"))
        if found.code != 2 or (victim / "file").read_text() != "years of work" or left != ["file", "folder"]:
            found.faults.append(f"{kind}: exit {found.code}, or what is the user's was changed")
            return found
    return found


def shuffled(folder: Path) -> Outcome:
    """A gate against the run of the same texts in another order."""
    rows = [
        f'{{"id": {i}, "source": "Ann has {i} cats.", "output": "She has {i}, all at sea."}}'
        for i in range(8)
    ]
    runs = []
    for name, lines in (("one", rows), ("other", rows[::-1])):
        (folder / name).mkdir()
        (folder / name / "t.jsonl").write_text("\n".join(lines))
        runs.append(str(folder / name / "out"))
        texts = [
            "--dataset",
            str(folder / name / "t.jsonl"),
            "--task",
            "summarization",
            "--metric",
            "fluency",
        ]
        line = [sys.executable, "-m", "dhp", "benchmark", "--model", "mock/noisy", *texts, "--out", runs[-1]]
        found = ran(line, folder / name)
        if found.code != 0:
            return found
    line = [sys.executable, "-m", "dhp", "gate", runs[0], "--against", runs[1], "--max-drop", "5"]
    found = ran(line, folder)
    if found.code != 0:
        found.faults.append("not the same")
    return found


def key_and_proxy(folder: Path) -> Outcome:
    """A run by a proxy to a server that speaks TLS: the proxy reads no key; one that refuses it is named."""
    trusted = certificate(folder, "judge.example")
    with scripted_server(lambda call: reply("4"), tls=trusted.context) as server:
        address = "https://judge.example"
        with recording_proxy({"judge.example": server.url}, "someone:word") as proxy:
            for user in ("someone:word", "someone:else"):
                more = proxy.environment(user) | {"SSL_CERT_FILE": str(trusted.file)}
                found = ran(command(address, folder / user[-4:]), folder, more)
                expected = (0, False) if user == "someone:word" else (2, True)
                if (found.code, "HTTP 407" in found.said) != expected:
                    found.faults.append(f"exit {found.code} as {user}: {found.said}")
                    return found
    if any(KEY.encode() in each.raw for each in proxy.passed):
        found.faults.append("the proxy can read the key")
    return found


def cases() -> dict[str, Callable[[Path], Outcome]]:
    """Name -> what runs it in a folder."""
    found: dict[str, Callable[[Path], Outcome]] = {}
    for name in NASTY:
        found[f"server: {name}"] = partial(nasty, name)
    for name in SPENT:
        found[f"account: {name}"] = partial(spent, name)
    for name in SERVERS:
        found[f"today: {name}"] = partial(of_today, name)
    kills = {"SIGKILL": [signal.SIGKILL], "SIGTERM": [signal.SIGTERM], "Ctrl-C twice": [signal.SIGINT] * 2}
    for name, signals in kills.items():
        found[f"killed: {name}"] = partial(killed, signals)
    found["killed: Ctrl-C once"] = interrupted
    found["killed: the node of Ray"] = lost_node
    found["batch: a cut file of results"] = cut_batch
    for size in (1, 20, 60):
        found[f"disk: {size} kB a file"] = partial(full_disk, size)
    for name in STORES:
        found[f"store: {name}"] = partial(broken_store, name)
    found["store: three flipped bits"] = flipped_bits
    found["two runs on one store"] = two_on_one_store
    found["two runs on one store, one killed"] = partial(two_on_one_store, kill=True)
    found["two runs on one store, one stood still"] = stood_still
    found["two runs in one folder"] = two_in_one_folder
    found["file: a key in the address"] = key_in_the_address
    found["file: a million columns, one twice"] = wide_table
    found["gate: the same texts in another order"] = shuffled
    for memory in (100, 400, 700):
        found[f"memory: {memory} MB"] = partial(short_of, memory, None)
    found["memory: 3000 MB, no thread"] = partial(short_of, 3000, 4000)
    for name in NAMES:
        found[f"obstacles: {name}"] = partial(planted, name)
    found["proxy: the key, and a wrong user"] = key_and_proxy
    return found


def main() -> None:
    """Print the table, and a non-zero exit code where a case failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="", help="only the cases with this in their name")
    parser.add_argument("--client", choices=CLIENTS, default="fast", help="what makes the calls")
    options = parser.parse_args()
    global client
    client = options.client
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
