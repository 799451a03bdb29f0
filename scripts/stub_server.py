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
import json
import math
import os
import re
import signal
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

try:
    import orjson

    loads: Any = orjson.loads
    dumps: Any = orjson.dumps

    def canonical(body: object) -> bytes:
        return orjson.dumps(body, option=orjson.OPT_SORT_KEYS)

except ImportError:
    loads = json.loads

    def dumps(body: object) -> bytes:
        return json.dumps(body).encode()

    def canonical(body: object) -> bytes:
        return json.dumps(body, sort_keys=True).encode()


Body = dict[str, Any]
SCORES = "12345"
MODES = "html empty-choices tool-call context-too-long wrong-key no-model content-filter server-error".split()
EXPLANATION = "The text keeps to its topic, but one sentence does not follow from the last.\n\nRating: "
OTHER_TOKENS = (" {}", "{}.", "{word}", "**{}", " {word}")
WORDS = dict(zip(SCORES, ("one", "two", "three", "four", "five"), strict=True))
PIECES = re.compile(r"\s*(?:\w+|[^\w\s])")
PHRASES = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    429: "Too Many Requests",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


class Response(NamedTuple):
    """What goes over the wire, and the name it is counted under."""

    status: int
    body: bytes
    counted: str
    headers: str = ""
    content_type: str = "application/json"

    def wire(self) -> bytes:
        head = (
            f"HTTP/1.1 {self.status} {PHRASES[self.status]}\r\nContent-Type: {self.content_type}\r\n"
            f"Content-Length: {len(self.body)}\r\n{self.headers}\r\n"
        )
        return head.encode() + self.body


def ok(body: object) -> Response:
    return Response(200, dumps(body), "200")


def error(
    status: int,
    message: str,
    kind: str,
    *,
    param: str | None = None,
    code: str | None = None,
    headers: str = "",
) -> Response:
    body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    return Response(status, dumps(body), str(status), headers)


def share(*key: object) -> float:
    """A number in [0, 1) that depends on `key` alone."""
    return int.from_bytes(hashlib.sha256(canonical(key)).digest()[:8]) / 2**64


def words_of(messages: list[Body]) -> int:
    contents = (message.get("content") or "" for message in messages)
    return sum(len((c if isinstance(c, str) else json.dumps(c)).split()) for c in contents)


def likelihoods(body: Body) -> dict[str, float]:
    """How likely each score is: a peak that depends on the model and the messages."""
    peak = 1 + 4 * share(body["model"], body["messages"])
    weights = {score: math.exp(-((int(score) - peak) ** 2)) for score in SCORES}
    total = sum(weights.values())
    return {score: weight / total for score, weight in weights.items()}


def drawn(chances: Mapping[str, float], body: Body, sample: int) -> str:
    """The score of one sample."""
    at = share(body["model"], body["messages"], body.get("seed"), body.get("temperature"), sample)
    for score, chance in chances.items():
        at -= chance
        if at < 0:
            return score
    return SCORES[-1]


def alternatives(piece: str, score: str, chances: Mapping[str, float], count: int) -> list[Body]:
    """The likeliest tokens in place of `piece`, itself among them: scores, other spellings, another word."""
    before = piece.removesuffix(score)
    found = {before + s: 0.8 * chance for s, chance in chances.items()}
    for place, form in enumerate(OTHER_TOKENS):
        for s, chance in chances.items():
            other = form.format(s, word=WORDS[s])
            found[other if other not in found else s] = 0.15 * chance / 2 ** (place + 1)
    found["The"] = 0.04
    likeliest = sorted(found, key=found.__getitem__, reverse=True)[:count]
    if count and piece not in likeliest:
        likeliest[-1] = piece
    return [_token(token, found[token]) for token in likeliest]


def _token(token: str, chance: float) -> Body:
    return {"token": token, "logprob": math.log(chance), "bytes": list(token.encode())}


def logprobs_of(pieces: list[str], score: str, chances: Mapping[str, float], count: int) -> Body:
    content = []
    for piece in pieces:
        chance, top = 0.9, [_token(piece, 0.9), _token(" also", 0.05)][:count]
        if piece.strip() == score:
            chance, top = 0.8 * chances[score], alternatives(piece, score, chances, count)
        content.append({**_token(piece, chance), "top_logprobs": top})
    return {"content": content, "refusal": None}


def answered(
    body: Body, digest: str, *, prompt_tokens: int, explain: bool, n: int, logprobs: bool
) -> Response:
    """A chat completion with `n` choices."""
    chances = likelihoods(body)
    most = body.get("max_completion_tokens") or body.get("max_tokens")
    choices, completion_tokens = [], 0
    for index in range(n):
        score = drawn(chances, body, index)
        pieces = PIECES.findall(EXPLANATION + score if explain else score)
        kept = pieces[:most]
        completion_tokens += len(kept)
        shown = logprobs_of(kept, score, chances, body.get("top_logprobs") or 0) if logprobs else None
        finish = "stop" if len(kept) == len(pieces) else "length"
        choices.append(choice(index, "".join(kept), finish, shown))
    return ok(completed(body["model"], digest, choices, prompt_tokens, completion_tokens))


def said(body: Body, digest: str, text: str, *, prompt_tokens: int, n: int) -> Response:
    """A chat completion with `n` times the same text."""
    most = body.get("max_completion_tokens") or body.get("max_tokens")
    pieces = PIECES.findall(text)
    kept = text if most is None or len(pieces) <= most else "".join(pieces[:most])
    finish = "stop" if kept == text else "length"
    choices = [choice(index, kept, finish) for index in range(n)]
    return ok(completed(body["model"], digest, choices, prompt_tokens, n * min(len(pieces), most or 10**9)))


def choice(
    index: int, content: str | None, finish: str, logprobs: Body | None = None, **message: object
) -> Body:
    said = {"role": "assistant", "content": content, "refusal": None, **message}
    return {"index": index, "message": said, "logprobs": logprobs, "finish_reason": finish}


def completed(
    model: str, digest: str, choices: list[Body], prompt_tokens: int, completion_tokens: int
) -> Body:
    return {
        "id": f"chatcmpl-{digest[:24]}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "system_fingerprint": "stub",
        "choices": choices,
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def wrong_key(key: str) -> Response:
    shown = f"{key[:8]}{'*' * 8}{key[-4:]}" if key else "none"
    return error(
        401, f"Incorrect API key provided: {shown}.", "invalid_request_error", code="invalid_api_key"
    )


def in_mode(mode: str, body: Body, prompt_tokens: int) -> Response:
    """What every call gets in one of `MODES`, `wrong-key` aside."""
    model = body["model"]
    if mode == "html":
        page = b"<!DOCTYPE html><html><body><h1>Sign in to the network</h1></body></html>"
        return Response(200, page, "200", content_type="text/html")
    if mode == "context-too-long":
        return error(
            400,
            "This model's maximum context length is 8 tokens. However, your messages resulted in "
            f"{prompt_tokens} tokens. Please reduce the length of the messages.",
            "invalid_request_error",
            param="messages",
            code="context_length_exceeded",
        )
    if mode == "no-model":
        return error(
            404,
            f"The model `{model}` does not exist or you do not have access to it.",
            "invalid_request_error",
            code="model_not_found",
        )
    if mode == "server-error":
        return error(500, "The server had an error while processing your request.", "server_error")
    function = {"name": "rate", "arguments": '{"score": 4}'}
    call = {"id": "call_1", "type": "function", "function": function}
    choices = {
        "empty-choices": [],
        "tool-call": [choice(0, None, "tool_calls", tool_calls=[call])],
        "content-filter": [choice(0, "", "content_filter")],
    }[mode]
    return ok(completed(model, mode, choices, prompt_tokens, len(choices)))


def refusals(body: Body, refused: list[str]) -> Iterator[Response]:
    """Errors for the parameters that the server was told to refuse; a default value passes."""
    for name in refused:
        value = body.get(name)
        if value is None or value is False:
            continue
        if name in ("temperature", "top_p", "n"):
            if value == 1:
                continue
            message = f"Unsupported value: '{name}' does not support {value} with this model. "
            message += "Only the default (1) value is supported."
            code = "unsupported_value"
        else:
            message = f"Unsupported parameter: '{name}' is not supported with this model."
            if name == "max_tokens":
                message += " Use 'max_completion_tokens' instead."
            code = "unsupported_parameter"
        yield error(400, message, "invalid_request_error", param=name, code=code)


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
            at -= chance
            if at < 0:
                return self._fault(fault)
        refused = next(refusals(body, options.refuse), None)
        if refused:
            return refused
        if options.mode:
            return in_mode(options.mode, body, prompt_tokens)
        n = 1 if options.no_n else body.get("n") or 1
        text = options.say(body["messages"][-1]["content"]) if options.say else None
        if text is not None:
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
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
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
