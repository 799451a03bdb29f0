"""A local server that talks like OpenAI's, for measurements and tests: fast, deterministic, faults on order.

    python scripts/stub_server.py --port 0 --latency 0.05 --faults "429=0.1,hang=0.01"

The first line on stdout is `ready http://127.0.0.1:PORT/v1`. Besides `/v1/chat/completions` and `/v1/models`
there are `GET /stats` and `POST /reset`. It parses HTTP/1.1 by itself, as much as clients send: bodies with
Content-Length, one request at a time on a connection.
"""

import argparse
import asyncio
import hashlib
import importlib
import os
import signal
import sys
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Any

from stub_answers import (
    MODES,
    Body,
    Response,
    answered,
    canonical,
    error,
    in_mode,
    loads,
    ok,
    refusals,
    said,
    share,
    words_of,
    wrong_key,
)

FAULTS = ("429", "500", "503", "drop", "hang", "garbage")


class Stub:
    """What the server answers, and what it remembers of it."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.in_flight = 0
        self.transports: set[asyncio.BaseTransport] = set()
        self.reset()

    def reset(self) -> None:
        self.calls, self.most_in_flight = 0, self.in_flight
        self.statuses: Counter[str] = Counter()
        self.attempts: Counter[str] = Counter()
        self.paid: Counter[str] = Counter()
        self.recent: deque[tuple[bytes, list[str]]] = deque(maxlen=20)

    def stats(self) -> Body:
        return {
            "pid": os.getpid(),
            "calls": self.calls,
            "statuses": self.statuses,
            "in_flight": self.in_flight,
            "max_in_flight": self.most_in_flight,
            "paid": self.paid,
            "bodies": [_json_or_text(raw) for raw, _ in self.recent],
            "headers": [names for _, names in self.recent],
        }

    def other(self, method: str, path: str, headers: Mapping[str, str]) -> Response:
        if (method, path) == ("GET", "/stats"):
            return ok(self.stats())
        if (method, path) == ("POST", "/reset"):
            self.reset()
            return ok({})
        if (method, path) == ("GET", "/v1/models") and not self.options.no_models:
            if not self._takes(headers):
                return wrong_key(_key(headers))
            model = {"id": self.options.model, "object": "model", "created": 0, "owned_by": "stub"}
            return ok({"object": "list", "data": [model]})
        return error(404, f"Invalid URL ({method} {path})", "invalid_request_error")

    def completion(self, raw: bytes, headers: Mapping[str, str]) -> tuple[Response | None, str]:
        """The response (None: never answer) and the digest of the request."""
        self.calls += 1
        self.recent.append((raw, list(headers)))
        try:
            body = loads(raw)
            prompt_tokens = words_of(body["messages"])
            digest = hashlib.sha256(canonical(body)).hexdigest()
            body["model"]
        except (ValueError, KeyError, TypeError, AttributeError):
            return error(
                400, "We could not parse the JSON body of your request.", "invalid_request_error"
            ), ""
        self.attempts[digest] += 1
        return self._answer(body, digest, prompt_tokens, headers), digest

    def _answer(
        self, body: Body, digest: str, prompt_tokens: int, headers: Mapping[str, str]
    ) -> Response | None:
        options = self.options
        if not self._takes(headers):
            return wrong_key(_key(headers))
        if options.busy_above and self.in_flight > options.busy_above:
            return self._fault("429")
        at = share(digest, self.attempts[digest])
        for fault, chance in options.faults.items():
            if (at := at - chance) < 0:
                return self._fault(fault)
        if refused := next(refusals(body, options.refuse), None):
            return refused
        if options.mode:
            return in_mode(options.mode, body, prompt_tokens)
        n = 1 if options.no_n else body.get("n") or 1
        if options.say and (text := options.say(body["messages"][-1]["content"])) is not None:
            return said(body, digest, text, prompt_tokens=prompt_tokens, n=n)
        return answered(
            body,
            digest,
            prompt_tokens=prompt_tokens,
            explain=options.answer == "explain",
            n=n,
            logprobs=bool(body.get("logprobs")) and not options.no_logprobs,
        )

    def _takes(self, headers: Mapping[str, str]) -> bool:
        options = self.options
        return options.mode != "wrong-key" and options.api_key in (None, _key(headers))

    def _fault(self, fault: str) -> Response | None:
        if fault == "hang":
            return None
        if fault == "drop":
            return Response(200, b"", "drop")
        if fault == "garbage":
            return Response(200, b'{"id": "chatcmpl-', "garbage")
        if fault == "429":
            wait = f"Retry-After: {self.options.retry_after:g}\r\n"
            return error(429, "Rate limit reached.", "requests", code="rate_limit_exceeded", headers=wait)
        return error(int(fault), "The server had an error while processing your request.", "server_error")


def _key(headers: Mapping[str, str]) -> str:
    return headers.get("authorization", "").removeprefix("Bearer ")


def _json_or_text(raw: bytes) -> object:
    try:
        return loads(raw)
    except ValueError:
        return raw.decode(errors="replace")


class Connection(asyncio.Protocol):
    """One keep-alive connection: one request at a time, each answered after the latency."""

    def __init__(self, stub: Stub) -> None:
        self.stub = stub
        self.buffer = bytearray()
        self.busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport  # uvloop's own kind does not derive from asyncio's
        self.stub.transports.add(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.stub.transports.discard(self.transport)
        if self.busy:
            self._done()

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if not self.busy:
            self._next()

    def _next(self) -> None:
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        request, *lines = self.buffer[:end].decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        whole = end + 4 + int(headers.get("content-length", 0))
        if len(self.buffer) < whole:
            return
        raw = bytes(self.buffer[end + 4 : whole])
        del self.buffer[:whole]
        method, path, _ = request.split(" ")
        if (method, path) == ("POST", "/v1/chat/completions"):
            self._complete(raw, headers)
        else:
            self.transport.write(self.stub.other(method, path, headers).wire())

    def _complete(self, raw: bytes, headers: Mapping[str, str]) -> None:
        stub = self.stub
        self.busy = True
        stub.in_flight += 1
        stub.most_in_flight = max(stub.most_in_flight, stub.in_flight)
        response, digest = stub.completion(raw, headers)
        if response is None:
            stub.statuses["hang"] += 1
        elif stub.options.latency:
            asyncio.get_running_loop().call_later(stub.options.latency, self._send, response, digest)
        else:
            self._send(response, digest)

    def _send(self, response: Response, digest: str) -> None:
        if not self.busy:  # the client has gone
            return
        self.stub.statuses[response.counted] += 1
        self._done()
        if response.counted == "drop":
            self.transport.abort()
            return
        if response.counted == "200":
            self.stub.paid[digest] += 1
        self.transport.write(response.wire())
        if self.buffer:
            self._next()

    def _done(self) -> None:
        self.busy = False
        self.stub.in_flight -= 1


def function(reference: str) -> Any:
    """The function at `module:name`, with the working directory on the path."""
    sys.path.insert(0, "")
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)


def faults(text: str) -> dict[str, float]:
    """`429=0.1,drop=0.02` as a mapping."""
    found = {}
    for part in filter(None, text.split(",")):
        name, _, chance = part.partition("=")
        if name not in FAULTS:
            raise argparse.ArgumentTypeError(f"unknown fault '{name}'; allowed: {', '.join(FAULTS)}")
        found[name] = float(chance)
    return found


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--model", default="stub", help="the one name in /v1/models; any name is answered")
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--answer", choices=("score", "explain"), default="score")
    parser.add_argument(
        "--say", type=function, metavar="MODULE:FUNCTION", help="prompt -> answer, or None for a score"
    )
    parser.add_argument("--no-n", action="store_true", help="give one choice, whatever n says")
    parser.add_argument("--refuse-n", dest="refuse", action="append_const", const="n", default=[])
    parser.add_argument("--no-models", action="store_true", help="404 for /v1/models")
    parser.add_argument("--no-logprobs", action="store_true", help="leave log-probabilities out in silence")
    parser.add_argument(
        "--refuse", action="append", default=[], metavar="PARAM", help="400 where it is given"
    )
    parser.add_argument("--faults", type=faults, default={}, help="shares, e.g. 429=0.1,500=0.05,hang=0.01")
    parser.add_argument("--retry-after", type=float, default=1.0, metavar="SECONDS")
    parser.add_argument("--mode", choices=MODES, help="what every call gets")
    parser.add_argument("--api-key", help="401 for any other key")
    parser.add_argument(
        "--busy-above", type=int, default=0, metavar="CALLS", help="429 above so many at once"
    )
    return parser.parse_args(arguments)


async def listening(stub: Stub) -> tuple[asyncio.Server, str]:
    """The server, and its base URL."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(stub), "127.0.0.1", stub.options.port, backlog=4096)
    return server, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


async def serve(options: argparse.Namespace) -> None:
    _, url = await listening(Stub(options))
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    print(f"ready {url}", flush=True)
    await stopped.wait()


def main() -> None:
    options = parsed()
    try:
        import uvloop
    except ImportError:
        asyncio.run(serve(options))
    else:
        uvloop.run(serve(options))


if __name__ == "__main__":
    main()
