"""The server of all tests that script what is answered; it runs in this process and keeps what came in."""

import contextlib
import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """What came in."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    raw: bytes

    @property
    def body(self) -> Any:
        """The JSON that came; an empty object where nothing came."""
        return json.loads(self.raw or b"{}")


Answer = tuple[int, Mapping[str, str], object]
"""Status, headers and body: JSON, or text or bytes as they are, or an iterator whose pieces are sent as they
come. With status 0 the body is all that is sent, without a head."""

Says = Callable[[Call], Answer | None]
"""None breaks the connection."""


@dataclass(slots=True)
class Scripted:
    """A running server."""

    url: str
    """`http://127.0.0.1:PORT`, or `https`, without a path."""
    port: int
    calls: list[Call] = field(default_factory=list)
    pages: dict[str, Answer] = field(default_factory=dict)
    """What GET finds, by path, where no function answers it."""

    def serve(self, name: str, body: bytes, status: int = 200, **headers: str) -> str:
        """Put a page at the returned address; `_` in the name of a header stands for `-`."""
        self.pages[f"/{name}"] = status, named(headers), body
        return f"{self.url}/{name}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_: object) -> None:
        """A client that was killed or hangs up early is no error."""


@contextlib.contextmanager
def scripted_server(
    says: Says = lambda call: None,
    get: Says | None = None,
    *,
    tls: ssl.SSLContext | None = None,
    port: int = 0,
) -> Iterator[Scripted]:
    """Start the server: `says` answers POST and PUT, `get` answers GET and HEAD, else the pages do.

    With `tls` it speaks https; without a `port` it takes a free one.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            call = Call(self.command, self.path, headers, raw)
            running.calls.append(call)
            answer = (get or _page)(call) if call.method in ("GET", "HEAD") else says(call)
            self.close_connection = answer is None or not _send(self, *answer)

        do_GET = do_HEAD = do_POST = do_PUT = _serve

        def log_message(self, format: str, *args: object) -> None:
            return

    def _page(call: Call) -> Answer:
        return running.pages.get(call.path, (404, {}, b""))

    with _Server(("127.0.0.1", port), Handler) as server:
        if tls is not None:  # the handshake is done by the thread of each connection
            server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        running = Scripted(f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}", server.server_port)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield running
        finally:
            server.shutdown()
            thread.join()


def _send(handler: BaseHTTPRequestHandler, status: int, headers: Mapping[str, str], body: object) -> bool:
    """Send an answer; whether another one may follow on the connection."""
    length: dict[str, str] = {}
    if isinstance(body, Iterator):
        pieces = body
    else:
        text = body if isinstance(body, str | bytes) else json.dumps(body)
        data = text.encode() if isinstance(text, str) else text
        pieces, length = iter([data]), {"Content-Length": str(len(data))}
    if status:
        handler.send_response(status)
        for name, value in {**length, **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
    if handler.command != "HEAD":
        for piece in pieces:
            handler.wfile.write(piece)
    return bool(status and length) and "Content-Length" not in headers


def named(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers with `-` for `_` in their names."""
    return {name.replace("_", "-"): value for name, value in headers.items()}


def reply(*texts: object, **more: object) -> Answer:
    """A good answer in OpenAI's form with one choice for each text."""
    choices = [{"index": i, "message": {"content": t}, "finish_reason": "stop"} for i, t in enumerate(texts)]
    return 200, {}, {"choices": choices, "usage": {"prompt_tokens": 9, "completion_tokens": 1}, **more}


def refusal(status: int, message: str = "", **headers: str) -> Answer:
    """An error in OpenAI's form; `_` in the name of a header stands for `-`."""
    return status, named(headers), {"error": {"message": message, "code": None}}
