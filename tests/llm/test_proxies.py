"""The proxy that the environment names: the calls and the look at the server take it, others are refused."""

from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from dhp.core.errors import InputError
from dhp.llm.clients.connection import find_proxy
from dhp.llm.clients.openai_client import OpenAIClient

URL = "http://judge.example/v1"


@pytest.fixture(autouse=True)
def none(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize(
    ("variables", "proxy"),
    [
        ({}, None),
        ({"HTTP_PROXY": "http://u:pass@127.0.0.1:81"}, "http://u:pass@127.0.0.1:81"),
        ({"http_proxy": "127.0.0.1:81"}, "http://127.0.0.1:81"),
        ({"ALL_PROXY": "http://127.0.0.1:81"}, "http://127.0.0.1:81"),
        ({"HTTPS_PROXY": "http://127.0.0.1:81"}, None),
        ({"HTTP_PROXY": "http://127.0.0.1:81", "NO_PROXY": "judge.example"}, None),
    ],
)
def test_which_proxy(variables: dict[str, str], proxy: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert find_proxy(URL) == proxy


@pytest.mark.parametrize("proxy", ["socks5://u:password@127.0.0.1:81", "::", "http://127.0.0.1:0"])
def test_other_proxies_are_refused_without_their_password(
    proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(InputError, match=r"^proxy '.*' of the environment: allowed: http://HOST:PORT") as e:
        find_proxy(URL)
    assert "password" not in str(e.value)


def test_the_look_at_the_server_takes_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Proxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Proxy)
    Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    monkeypatch.setenv("ALL_PROXY", f"http://u:password@127.0.0.1:{port}")
    OpenAIClient("stub", URL).check()
    assert asked == [f"{URL}/models"]
    server.shutdown()
    server.server_close()
    with pytest.raises(InputError, match=rf"refused, by the proxy http://127\.0\.0\.1:{port}\)$"):
        OpenAIClient("stub", URL).check()
