"""A server in this process that answers as a function says."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """What came in."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: dict[str, Any]


@dataclass(slots=True)
class Scripted:
    """A running server."""

    url: str
    """`http://127.0.0.1:PORT`, without a path."""
    calls: list[Call] = field(default_factory=list)


Says = Callable[[Call], "tuple[int, Mapping[str, str], object] | None"]
"""A call -> status, headers and body (JSON, or text or bytes as they are); None breaks the connection."""


@contextlib.contextmanager
def scripted_server(says: Says) -> Iterator[Scripted]:
    """Start the server on a free port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            call = Call(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
            running.calls.append(call)
            said = says(call)
            if said is None:
                self.close_connection = True
                return
            status, headers, answer = said
            text = answer if isinstance(answer, str | bytes) else json.dumps(answer)
            data = text.encode() if isinstance(text, str) else text
            self.send_response(status)
            for name, value in {"Content-Length": str(len(data)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:  # where a redirect was followed
            running.calls.append(Call(self.path, {}, {}))
            self.send_error(405)

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    running = Scripted(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()


def reply(*texts: object, **more: object) -> tuple[int, Mapping[str, str], object]:
    """A good answer with one choice for each text."""
    choices = [{"index": i, "message": {"content": t}, "finish_reason": "stop"} for i, t in enumerate(texts)]
    return 200, {}, {"choices": choices, "usage": {"prompt_tokens": 9, "completion_tokens": 1}, **more}


def refusal(status: int, message: str = "", **headers: str) -> tuple[int, Mapping[str, str], object]:
    """An error in OpenAI's form; `_` in the name of a header stands for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, named, {"error": {"message": message, "code": None}}
