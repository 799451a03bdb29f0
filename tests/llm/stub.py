"""The stub server, in a thread of the tests or as a process of its own."""

import asyncio
import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "stub_server.py"


@contextmanager
def stub_server(*options: object) -> Iterator[str]:
    """Serve as `scripts/stub_server.py OPTIONS` does, in a thread; yields the base URL, ending in /v1."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPT.parent))
        script = importlib.import_module("stub_server")
        stub = script.Stub(script.parsed([*map(str, options)]))
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server, url = asyncio.run_coroutine_threadsafe(script.listening(stub), loop).result()

    def end() -> None:
        server.close()
        for transport in [*stub.transports]:
            transport.abort()
        loop.call_soon(loop.stop)

    try:
        yield url
    finally:
        loop.call_soon_threadsafe(end)
        thread.join()
        loop.close()


@contextmanager
def stub_process(*options: object) -> Iterator[str]:
    """Start `scripts/stub_server.py` as a process: where it must not share a processor, or is killed."""
    command = [sys.executable, str(SCRIPT), "--port", "0", *map(str, options)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=SCRIPT.parents[1]) as process:
        try:
            word, _, url = process.stdout.readline().strip().partition(" ")
            assert word == "ready", "the stub server did not start"
            yield url
        finally:
            process.terminate()


def stats(base_url: str) -> dict[str, Any]:
    """What the server counted so far."""
    with urllib.request.urlopen(base_url.removesuffix("/v1") + "/stats") as reply:
        found: dict[str, Any] = json.load(reply)
    return found


def reset(base_url: str) -> None:
    """Count from zero again."""
    urllib.request.urlopen(
        urllib.request.Request(base_url.removesuffix("/v1") + "/reset", method="POST")
    ).close()


def kill(base_url: str) -> None:
    """End the process of the server at once, as a crash would."""
    with contextlib.suppress(OSError):
        os.kill(stats(base_url)["pid"], signal.SIGKILL)
