"""The doctor says what works and what is missing, asks only the server that is named, and tells no key."""

import importlib.metadata
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import dhp.content.check as dhp_content
from dhp import doctor
from dhp.core.errors import InputError
from tests.llm.stub import stub_server
from tests.server import Call, Says, scripted_server

from .conftest import Outcome, Run

KEY = "sk-test-0123456789abcdef"
CORE = {"versions", "core", "content", "cache", "devices"}


@pytest.fixture(autouse=True)
def light(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key, and no torch, which takes seconds to import."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    hide(monkeypatch, "torch")


def hide(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Make packages look as if they were not installed."""
    version = importlib.metadata.version

    def without(name: str) -> str:
        if name in names:
            raise importlib.metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(importlib.metadata, "version", without)


def checks(done: Outcome) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in json.loads(done.out)}


def says(status: int, body: object, **headers: str) -> Says:
    return lambda call: (status, headers, body)


@pytest.mark.slow
def test_a_sound_installation(dhp: Run, private_cache: Path) -> None:
    done = dhp("doctor", "--json")
    assert (done.code, done.err) == (0, "")
    found = checks(done)
    assert {found[name]["state"] for name in CORE} == {"ok"}
    assert found["core"]["values"]["numpy"] == importlib.metadata.version("numpy")
    assert found["cache"]["values"] == {
        "folder": str(private_cache / "dhp"),
        "replies_bytes": 0,
        "writable": True,
    }
    assert not any(private_cache.iterdir()), "looking leaves nothing behind"
    lines = dhp("doctor").out.splitlines()
    assert [line.split()[0] for line in lines] == [check["state"] for check in found.values()]


def test_a_missing_extra_is_named_with_its_use_and_is_no_failure(
    dhp: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(monkeypatch, "torch", "transformers", "datasets", "lxml", "sacrebleu")
    done = dhp("doctor", "--json")
    assert done.code == 0
    found = checks(done)
    assert found["extra hf"]["state"] == found["extra data"]["state"] == "missing"
    said = "torch, transformers: for language models in this process: hf/NAME_OR_PATH and "
    assert found["extra hf"]["says"].startswith(said)
    assert '".[hf]"' in found["extra hf"]["says"]
    assert found["extra data"]["says"].startswith("datasets, lxml, sacrebleu: for datasets")
    assert found["extra data"]["values"]["lxml"] is None


def test_a_missing_core_library_fails(dhp: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "torch", "scipy")
    done = dhp("doctor", "--json")
    assert done.code == 1
    assert checks(done)["core"]["says"] == "missing: scipy; install dhp again"


@pytest.mark.parametrize(
    ("version", "old"), [("1.9.9", True), ("1.17", False), ("1.100.0rc1", False), ("2.0.0.post1", False)]
)
def test_an_old_library_is_one_that_is_missing(
    monkeypatch: pytest.MonkeyPatch, version: str, old: bool
) -> None:
    monkeypatch.setattr(doctor, "_requirements", lambda: ["scipy>=1.17"])
    monkeypatch.setattr(importlib.metadata, "version", lambda name: version)
    (core,) = [check for check in doctor.examine() if check.name == "core"]
    assert (core.state == "failed") == old
    assert (f"scipy {version} is older than 1.17" in core.says) == old


def test_gpus_are_those_that_torch_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("Quick 1", "Quick 2")
    cuda = SimpleNamespace(device_count=lambda: 2, get_device_name=lambda k: names[k])
    backends = SimpleNamespace(mps=SimpleNamespace(is_available=lambda: False))
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "99")
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda, backends=backends))
    (devices,) = [check for check in doctor.examine() if check.name == "devices"]
    assert devices.values == {"cpus": os.cpu_count(), "gpus": list(names)}

    def broken() -> int:
        raise OSError("libcuda.so: cannot open")

    cuda.device_count = broken
    (devices,) = [check for check in doctor.examine() if check.name == "devices"]
    assert devices.state == "missing"
    assert "torch does not work (libcuda.so: cannot open)" in devices.says


def test_broken_content_fails(dhp: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Iterator[str]:
        yield "task summarization"
        raise InputError("perturbations/x.yaml: line 3: broken")

    monkeypatch.setattr(dhp_content, "check", broken)
    done = dhp("doctor", "--json")
    assert done.code == 1
    assert checks(done)["content"]["says"] == "perturbations/x.yaml: line 3: broken"


def test_a_cache_that_cannot_be_written_fails(
    dhp: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    done = dhp("doctor", "--json")
    assert done.code == 1
    assert checks(done)["cache"]["values"]["writable"] is False
    assert f"{tmp_path / 'file' / 'dhp'}: cannot be written" in checks(done)["cache"]["says"]


def test_the_size_of_the_stored_replies(dhp: Run, private_cache: Path) -> None:
    (private_cache / "dhp").mkdir()
    (private_cache / "dhp" / "replies.sqlite").write_bytes(b"x" * 2_500_000)
    (private_cache / "dhp" / "replies.sqlite-wal").write_bytes(b"x" * 500_000)
    found = checks(dhp("doctor", "--json"))["cache"]
    assert found["values"]["replies_bytes"] == 3_000_000
    assert "3.0 MB of replies" in found["says"]


@pytest.mark.parametrize(
    ("key", "state", "code"),
    [("", "missing", 0), ("  ", "missing", 0), (KEY, "ok", 0), (f"{KEY}\nx", "failed", 1)],
)
def test_a_key_is_there_or_not_and_never_shown(
    dhp: Run, monkeypatch: pytest.MonkeyPatch, key: str, state: str, code: int
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    for options in ((), ("--json",)):
        done = dhp("doctor", *options)
        assert done.code == code
        assert KEY not in done.out + done.err
    assert checks(done)["key OPENAI_API_KEY"]["state"] == state


def test_a_living_server_names_its_models(dhp: Run) -> None:
    with stub_server("--model", "tiny") as url:
        done = dhp("doctor", "--base-url", f"{url}/", "--json")
    assert done.code == 0
    check = checks(done)[f"server {url}"]
    assert (check["state"], check["values"]) == ("ok", {"models": ["tiny"]})
    assert check["says"] == "models: tiny"


def test_a_dead_server_fails(dhp: Run) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        done = dhp("doctor", "--base-url", url)
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines()[-1].split(maxsplit=3) == [
        "failed",
        "server",
        url,
        "cannot be reached (Connection refused)",
    ]


FAULTY = [
    (says(401, b'{"error": "bad key"}'), "refuses calls without a key (HTTP 401)"),
    (says(404, b"nothing here"), "knows no /models; the address goes up to and including /v1 (HTTP 404)"),
    (says(500, b"oops"), "does not name its models (HTTP 500)"),
    (says(200, b"<html>hello</html>"), "answers, but not as an OpenAI-compatible server"),
    (says(200, b'{"data": [1]}'), "answers, but not as an OpenAI-compatible server"),
    (says(200, b'["data"]'), "answers, but not as an OpenAI-compatible server"),
    (says(200, b"\xff\xfe"), "answers, but not as an OpenAI-compatible server"),
    (says(200, b"[" * 2**23), "answers, but not as an OpenAI-compatible server"),
    (says(200, b"[" * 200_000), "answers, but not as an OpenAI-compatible server"),
    (says(0, b"220 mail ready\r\n"), "answers, but not as an"),
]


@pytest.mark.parametrize(("answer", "said"), FAULTY)
def test_a_faulty_server_fails(dhp: Run, answer: Says, said: str) -> None:
    with scripted_server(get=answer) as server:
        done = dhp("doctor", "--base-url", f"{server.url}/v1")
    assert (done.code, done.err) == (1, "")
    assert said in done.out.splitlines()[-1]


@pytest.mark.slow
def test_a_silent_or_dripping_server_is_not_waited_for() -> None:
    free = threading.Event()

    def drops() -> Iterator[bytes]:
        while not free.wait(0.05):
            yield b" "

    def silent(call: Call) -> None:
        free.wait(20)

    for answer in (silent, lambda call: (200, {}, drops())):
        free.clear()
        with scripted_server(get=answer) as server:
            try:
                *_, check = doctor.examine(f"{server.url}/v1", timeout=0.3)
            finally:
                free.set()
        assert (check.state, check.says) == ("failed", "no answer within 0.3 seconds")


def test_a_key_is_sent_to_the_server_named_and_to_no_other(dhp: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with scripted_server() as other, scripted_server() as server:
        elsewhere = other.serve("v1/models", b'{"data": [{"id": "m"}]}')
        server.serve("v1/models", b"", 307, Location=elsewhere)
        done = dhp("doctor", "--base-url", f"{server.url}/v1")
        assert [call.headers["authorization"] for call in server.calls] == [f"Bearer {KEY}"]
        assert other.calls == []
        assert "leads to another address; name that one (HTTP 307)" in done.out
        server.serve("v1/models", f"the key {KEY} is wrong".encode(), 403)
        done = dhp("doctor", "--base-url", f"{server.url}/v1")
    assert "refuses the key in OPENAI_API_KEY (HTTP 403)" in done.out
    assert KEY not in done.out + done.err


def test_a_name_from_a_server_steers_no_terminal(dhp: Run) -> None:
    models = [{"id": f"m{k}\x1b[2J\n"} for k in range(9)]
    with scripted_server(get=says(200, {"data": models})) as server:
        url = f"{server.url}/v1"
        shown = dhp("doctor", "--base-url", url).out
        assert (
            len(checks(dhp("doctor", "--base-url", url, "--json"))[f"server {url}"]["values"]["models"]) == 9
        )
    assert "\x1b" not in shown
    assert shown.splitlines()[-1].endswith("and 4 more")


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x/v1", "http://user:secret@x/v1", ""])
def test_an_address_that_is_none_is_bad_usage(dhp: Run, url: str) -> None:
    done = dhp("doctor", "--base-url", url)
    assert (done.code, done.out) == (2, "")
    assert "secret" not in done.err


@pytest.mark.slow
def test_without_an_address_nothing_is_connected_and_torch_stays_away(tmp_path: Path) -> None:
    code = (
        "import socket, sys, importlib.metadata as m\n"
        "def refuse(*_): raise AssertionError('a connection')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "version = m.version\n"
        "def without(name):\n"
        "    if name == 'torch': raise m.PackageNotFoundError(name)\n"
        "    return version(name)\n"
        "m.version = without\n"
        "from dhp.doctor import examine\n"
        "found = examine()\n"
        "assert not {'torch', 'transformers', 'spacy', 'aiohttp'} & set(sys.modules)\n"
        "print(*[check.state for check in found if check.state == 'failed'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""
