"""`transformers serve` with the tiny model: a real OpenAI-compatible server, as a process on loopback."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

_SECONDS_TO_START = 120.0
_SECONDS_TO_END = 15.0


@dataclass(frozen=True, slots=True)
class Served:
    """Where a server listens, and the name of its model."""

    base_url: str
    """`http://127.0.0.1:PORT/v1`"""
    model: str


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextlib.contextmanager
def serve(model: Path, home: Path) -> Iterator[Served]:
    """Start the server, wait until it is healthy, and end it. `home` is for its cache and its log."""
    (home / "hub").mkdir(parents=True)  # without it /v1/models fails
    port, log = free_port(), home / "server.log"
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(model)]
    command += ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    environment = {**os.environ, "HF_HOME": str(home), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    environment.pop("HF_HUB_CACHE", None)
    with log.open("w") as output:
        server = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        try:
            _wait(server, port, log)
            yield Served(f"http://127.0.0.1:{port}/v1", str(model))
        finally:
            server.terminate()
            try:
                server.wait(_SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _wait(server: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    end = time.monotonic() + _SECONDS_TO_START
    while time.monotonic() < end and server.poll() is None:
        with (
            contextlib.suppress(OSError),
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as reply,
        ):
            if reply.status == 200:
                return
        time.sleep(0.1)
    raise RuntimeError(f"the server did not start:\n{log.read_text()[-3000:]}")


@pytest.fixture(scope="session")
def transformers_server(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A running server; skips where what it needs is not installed."""
    for module in ("fastapi", "uvicorn", "openai"):
        pytest.importorskip(module)
    with serve(tiny_model, tmp_path_factory.mktemp("served") / "home") as served:
        yield served
