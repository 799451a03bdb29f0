"""No secret goes to anyone but its own host: seen by a proxy that keeps every byte, and by two hosts."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.proxy import CONNECT, Certificate, Proxy, certificate, recording_proxy
from tests.server import Answer, Call, Scripted, reply, scripted_server

KEY = "sk-secret-0123456789abcdef"
HEADER = "gateway-secret-0123456789"
ELSEWHERE = "provider-secret-0123456789"
GEMINI = "AIza-secret-0123456789"
HUB = "hf_secret0123456789abcdef"
SECRETS = (KEY, HEADER, ELSEWHERE, GEMINI, HUB)
OWN, OTHER = "judge.example", "other.example"
PUBLISHED = "raw.githubusercontent.com"
"""Where the dataset bump is."""
USER = "someone:word"
CLIENTS = {
    "fast": ("openai/stub",),
    "sdk": ("openai/stub", "--transport", "sdk"),
    "litellm": ("litellm/openai/stub",),
    "litellm anthropic": ("litellm/anthropic/stub",),
    "ray": ("openai/stub", "--ray", "auto"),
}
PACKAGES = {"litellm": "litellm", "litellm anthropic": "litellm", "ray": "ray"}


@pytest.fixture(scope="module")
def trusted(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return certificate(tmp_path_factory.mktemp("tls"), OWN, OTHER, PUBLISHED)


def rates(call: Call) -> Answer:
    if call.path.endswith("/messages"):  # Anthropic's own form
        said = [{"type": "text", "text": "3"}]
        counts = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": "m", "type": "message", "role": "assistant", "model": "stub", "content": said}
        return 200, {}, {**message, "stop_reason": "end_turn", "stop_sequence": None, "usage": counts}
    return reply("3")


def environment(trusted: Certificate, proxy: dict[str, str]) -> dict[str, str]:
    named = {"OPENAI_API_KEY": KEY, "OPENAI_CUSTOM_HEADERS": f"x-gateway: {HEADER}"}
    named |= {"ANTHROPIC_API_KEY": ELSEWHERE, "GEMINI_API_KEY": GEMINI, "HF_TOKEN": HUB}
    named |= {"SSL_CERT_FILE": str(trusted.file)}
    return {**os.environ, **named, **proxy}


def ran(client: str, url: str, folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A benchmark of two texts by one of `CLIENTS`."""
    if package := PACKAGES.get(client):
        pytest.importorskip(package)
    asked = ["--dataset", "mini/summeval", "--n", "2", "--metric", "fluency", "--samples", "1"]
    limits = ["--retries", "1", "--timeout", "20", "--concurrency", "4"]
    places = ["--out", str(folder / "out"), "--cache", str(folder / "cache")]
    base = url if client == "litellm anthropic" else f"{url}/v1"
    command = [sys.executable, "-m", "dhp.benchmark", "--model", *CLIENTS[client], "--base-url", base]
    return subprocess.run(
        [*command, *asked, *limits, *places], env=env, capture_output=True, text=True, timeout=170
    )


def leaks(proxy: Proxy) -> list[str]:
    """What the proxy could read of secrets, but in the head of a request that it forwards to their host."""
    found = []
    for passed in proxy.passed:
        raw = bytes(passed.raw)
        if passed.method != CONNECT and passed.host == OWN:
            for name in ("authorization", "x-gateway", "x-api-key", "x-goog-api-key"):
                raw = raw.replace(passed.headers.get(name, "").encode() or b"\0", b"")
        found += [f"{passed.method} {passed.host}: {s}" for s in SECRETS if s.encode() in raw]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("user", ["", USER])
@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("client", CLIENTS)
def test_behind_a_proxy(client: str, scheme: str, user: str, trusted: Certificate, tmp_path: Path) -> None:
    context = trusted.context if scheme == "https" else None
    with scripted_server(rates, tls=context) as server, recording_proxy({OWN: server.url}, user) as proxy:
        env = environment(trusted, proxy.environment(user))
        done = ran(client, f"{scheme}://{OWN}", tmp_path, env)
    assert done.returncode == 0, done.stderr
    asked = [call for call in server.calls if call.method == "POST"]
    secret = ELSEWHERE if client == "litellm anthropic" else KEY
    assert asked, "the calls arrive"
    assert all(secret in str(call.headers) for call in asked), "with the key"
    assert {CONNECT if scheme == "https" else "POST"} <= {p.method for p in proxy.passed if p.host == OWN}
    assert not leaks(proxy)
    assert not any(USER.split(":")[1] in str(call.headers) for call in asked)
    shown = done.stdout + done.stderr
    assert not any(secret in shown for secret in SECRETS)
    if scheme == "http":
        assert f"the proxy {proxy.url()} reads it" in shown


def asked_by(command: Sequence[str], folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """What a command without calls to a model prints."""
    start = [sys.executable, "-m", "dhp"]
    return subprocess.run(
        [*start, *command], cwd=folder, env=env, capture_output=True, text=True, timeout=170
    )


BATCH = "benchmark --dataset mini/summeval --n 2 --model openai/stub --batch".split()
OTHERS = {
    "doctor": (KEY, "doctor", "--base-url", f"SCHEME://{OWN}/v1"),
    "batch": (KEY, *BATCH, "openai", "--base-url", f"SCHEME://{OWN}/v1"),
    "batch, anthropic": (ELSEWHERE, *BATCH, "anthropic", "--base-url", f"SCHEME://{OWN}/v1"),
    "batch, gemini": (GEMINI, *BATCH, "gemini", "--base-url", f"SCHEME://{OWN}/v1"),
    "hub": (HUB, "benchmark", "--dataset", "mini/summeval", "--n", "2", "--model", "hf/someone/model"),
}
"""Commands that ask `OWN` for something else than answers of a model, after the secret that they bring."""
NEEDED = {"batch, anthropic": "anthropic", "batch, gemini": "google.genai", "hub": "transformers"}


@pytest.mark.slow
@pytest.mark.parametrize("user", ["", USER])
@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("name", OTHERS)
def test_other_commands_behind_a_proxy(
    name: str, scheme: str, user: str, trusted: Certificate, tmp_path: Path
) -> None:
    """Each is sent on to another host, which must not see the secret."""
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    secret, *command = OTHERS[name]
    tls = trusted.context if scheme == "https" else None

    def elsewhere(call: Call) -> Answer:
        return 307, {"Location": f"{scheme}://{OTHER}{call.path}"}, b""

    with (
        scripted_server(rates, get=rates, tls=tls) as other,
        scripted_server(elsewhere, get=elsewhere, tls=tls) as own,
        recording_proxy({OWN: own.url, OTHER: other.url}, user) as proxy,
    ):
        env = environment(trusted, proxy.environment(user))
        env |= {"HF_ENDPOINT": f"{scheme}://{OWN}", "OPENAI_BASE_URL": f"{scheme}://{OWN}/v1"}
        env |= dict.fromkeys(("ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"), f"{scheme}://{OWN}")
        env["HF_HOME"] = str(tmp_path / "hub")
        done = asked_by([part.replace("SCHEME", scheme) for part in command], tmp_path, env)
    assert own.calls, done.stderr
    assert any(secret in str(call.headers) for call in own.calls), "with the secret"
    assert not any(s in str(call.headers) for call in own.calls for s in SECRETS if s not in (secret, HEADER))
    assert not any(s in f"{call.headers} {call.raw!r}" for call in other.calls for s in SECRETS)
    assert not leaks(proxy)
    assert "Traceback" not in done.stderr
    assert not any(s in done.stdout + done.stderr for s in SECRETS)


@pytest.mark.slow
@pytest.mark.parametrize("user", ["", USER])
def test_downloads_of_data_carry_no_secret(user: str, trusted: Certificate, tmp_path: Path) -> None:
    def elsewhere(call: Call) -> Answer:
        return 302, {"Location": f"https://{OTHER}{call.path}"}, b""

    with (
        scripted_server(get=lambda _: (200, {}, b"[]"), tls=trusted.context) as other,
        scripted_server(get=elsewhere, tls=trusted.context) as own,
        recording_proxy({PUBLISHED: own.url, OTHER: other.url}, user) as proxy,
    ):
        env = environment(trusted, proxy.environment(user)) | {"XDG_CACHE_HOME": str(tmp_path)}
        done = asked_by(["data", "prepare", "bump"], tmp_path, env)
    assert own.calls, done.stderr
    assert other.calls, "owners of data send to where it lies now"
    assert not any(s in str(call.headers) for call in own.calls + other.calls for s in SECRETS)
    assert not leaks(proxy)
    assert "Traceback" not in done.stderr


@pytest.fixture
def two(trusted: Certificate) -> Iterator[tuple[Scripted, Scripted]]:
    """A host that sends everybody to another one, and that one."""
    with scripted_server(rates, get=rates) as other:

        def elsewhere(call: Call) -> Answer:
            return 307, {"Location": other.url + call.path}, b""

        with scripted_server(elsewhere, get=elsewhere) as own:
            yield own, other


@pytest.mark.slow
@pytest.mark.parametrize("client", CLIENTS)
def test_a_redirect_is_not_followed(
    client: str, two: tuple[Scripted, Scripted], trusted: Certificate, tmp_path: Path
) -> None:
    own, other = two
    done = ran(client, own.url, tmp_path, environment(trusted, {"NO_PROXY": "*"}))
    assert own.calls
    assert not other.calls, "neither key nor text goes there"
    assert done.returncode == 2
    assert "redirects to" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("client", ["fast", "sdk", "litellm"])
def test_a_proxy_that_wants_a_user_is_named(
    client: str, scheme: str, trusted: Certificate, tmp_path: Path
) -> None:
    context = trusted.context if scheme == "https" else None
    with scripted_server(rates, tls=context) as server, recording_proxy({OWN: server.url}, USER) as proxy:
        done = ran(client, f"{scheme}://{OWN}", tmp_path, environment(trusted, proxy.environment("x:wrong")))
    assert done.returncode == 2
    assert not server.calls
    assert len(proxy.passed) <= 4, "it is asked once, not again and again"
    last = done.stderr.splitlines()[-1]
    assert f"the proxy {proxy.url()} refuses calls to {OWN} (HTTP 407)" in last
    assert f"{scheme.upper()}_PROXY=http://USER:PASSWORD@127.0.0.1:{proxy.port}" in last
    assert "wrong" not in done.stderr
