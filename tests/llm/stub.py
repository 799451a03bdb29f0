"""The stub server as a process of its own."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "stub_server.py"


@contextmanager
def stub_server(*options: object) -> Iterator[str]:
    """Start `scripts/stub_server.py` with `options` on a free port; yields its base URL, ending in /v1."""
    command = [sys.executable, str(SCRIPT), "--port", "0", *map(str, options)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=SCRIPT.parents[1]) as process:
        try:
            assert process.stdout is not None
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
    """End the server at once, as a crash would."""
    with contextlib.suppress(OSError):
        os.kill(stats(base_url)["pid"], signal.SIGKILL)
