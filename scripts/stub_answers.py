"""What the stub server says: bodies and errors in OpenAI's form, the same for the same request."""

import hashlib
import json
import math
import re
import time
from collections.abc import Iterator, Mapping
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
        if (at := at - chance) < 0:
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
