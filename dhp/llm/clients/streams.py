"""Chat completions that come in chunks (server-sent events), joined to what they would be as a whole."""

import json
from collections.abc import Iterator
from typing import Any

_DATA = "data:"
_FIELDS = (_DATA, "event:", "id:", "retry:", ":")
"""How the lines of a stream begin; the last is a comment, by which servers keep a connection open."""
_TEXTS = ("content", "refusal", "reasoning_content", "reasoning")
"""Parts of a message whose pieces make one text."""


def is_stream(body: str) -> bool:
    """Whether a body is a stream of events instead of JSON."""
    return body.lstrip("\ufeff \t\r\n").startswith(_FIELDS)


def joined_chunks(body: str) -> dict[str, Any]:
    """The chat completion that the chunks of a stream make.

    A chunk with an error instead of choices is the whole. Raises `ValueError` if a chunk is no JSON.
    """
    whole: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    for chunk in _chunks(body):
        if chunk.get("error") and not chunk.get("choices"):
            return chunk
        whole |= {name: value for name, value in chunk.items() if value is not None and name != "choices"}
        for choice in chunk.get("choices") or ():
            if isinstance(choice, dict):
                index = choice.get("index")
                _join(choices.setdefault(index if isinstance(index, int) else 0, {"message": {}}), choice)
    return {**whole, "choices": [{**choice, "index": index} for index, choice in sorted(choices.items())]}


def _chunks(body: str) -> Iterator[dict[str, Any]]:
    for line in body.splitlines():
        data = line.removeprefix(_DATA).strip() if line.startswith(_DATA) else ""
        if data and data != "[DONE]":
            chunk = json.loads(data)
            if isinstance(chunk, dict):
                yield chunk


def _join(whole: dict[str, Any], piece: dict[str, Any]) -> None:
    """Add one piece of a choice; what has no pieces, such as the reason for its end, is taken as it comes."""
    message = piece.get("delta") or piece.get("message")
    for name, value in message.items() if isinstance(message, dict) else ():
        before = whole["message"].get(name)
        together = name in _TEXTS and isinstance(before, str) and isinstance(value, str)
        if value is not None:
            whole["message"][name] = before + value if together else value
    for name, value in piece.items():
        if name == "logprobs" and isinstance(value, dict):
            content = whole.setdefault(name, {"content": []})["content"]
            content += value.get("content") or []
        elif name not in ("delta", "message", "index") and value is not None:
            whole[name] = value
