"""Chat completions that come in chunks (server-sent events), joined to what they would be as a whole.

A stream has lines such as `data: {"choices": [{"index": 0, "delta": {"content": "4"}}]}`, and ends by
`data: [DONE]`. `joined_chunks` puts the pieces of each choice together (`_join`) and refuses a stream that
broke off: "Rating: 1" may be the beginning of "Rating: 10".
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

_DATA = "data:"
_FIELDS = (_DATA, "event:", "id:", "retry:", ":")
"""How the lines of a stream begin; the last is a comment, by which servers keep a connection open."""
_TEXTS = ("content", "refusal", "reasoning_content", "reasoning")
"""Parts of a message whose pieces make one text."""
_LINE_END = re.compile(r"\r\n|\r|\n")
"""Ends of lines by the standard of server-sent events; others, such as U+2028, may stand in an answer."""
_ENDS = re.compile(r"event:\s*(?:\S*[._-])?(?:done|end|complete|completed|stop)\s*$")
"""The name of a last event, `event: done`, `event: message_stop`; the usual mark is `data: [DONE]`."""


class BrokenStream(ValueError):
    """A stream without its end: what came may be the first part of the answer alone."""


def is_stream(body: str) -> bool:
    """Whether a body is a stream of events instead of JSON."""
    return body.lstrip("\ufeff \t\r\n").startswith(_FIELDS)


def joined_chunks(body: str) -> dict[str, Any]:
    """The chat completion that the chunks of a stream make.

    A chunk with an error instead of choices is the whole. Raises `BrokenStream` without a mark of its end: a
    reason for which each choice ended, `[DONE]`, a last event, or the usage behind the last choice; and
    `ValueError` if a chunk is no JSON.
    """
    lines = _LINE_END.split(body)
    ended = any(map(_is_end, lines))

    whole: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    for chunk in _chunks(lines):
        if chunk.get("error") and not chunk.get("choices"):
            return chunk
        ended = ended or (bool(choices) and _counts_the_answer(chunk))
        beside = {name: value for name, value in chunk.items() if value is not None and name != "choices"}
        whole.update(beside)  # model, usage: the last word counts
        for piece in chunk.get("choices") or ():
            if isinstance(piece, dict):
                index = piece.get("index")
                number = index if isinstance(index, int) else 0
                _join(choices.setdefault(number, {"message": {}}), piece)

    each_has_ended = choices and all(choice.get("finish_reason") for choice in choices.values())
    if not ended and not each_has_ended:
        raise BrokenStream("the answer, a stream, broke off before its end")
    whole["choices"] = []
    for index, choice in sorted(choices.items()):
        whole["choices"].append({**choice, "index": index})
    return whole


def _is_end(line: str) -> bool:
    """Whether a line says that the stream ends there."""
    return line.removeprefix(_DATA).strip() == "[DONE]" or _ENDS.match(line) is not None


def _counts_the_answer(chunk: dict[str, Any]) -> bool:
    """Whether a chunk has the tokens of the answer, and no more of it."""
    usage = chunk.get("usage")
    return not chunk.get("choices") and isinstance(usage, dict) and bool(usage.get("completion_tokens"))


def _chunks(lines: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The JSON of the lines of data."""
    for number, line in enumerate(lines, 1):
        data = line.removeprefix(_DATA).strip() if line.startswith(_DATA) else ""
        if not data or data == "[DONE]":
            continue
        try:
            chunk = json.loads(data)
        except ValueError:
            if number < len(lines):
                raise
            raise BrokenStream("the answer, a stream, broke off within a chunk") from None
        if isinstance(chunk, dict):
            yield chunk


def _join(whole: dict[str, Any], piece: dict[str, Any]) -> None:
    """Add one piece of a choice; what has no pieces, such as the reason for its end, is taken as it comes."""
    parts = piece.get("delta") or piece.get("message")
    message = whole["message"]
    for name, value in parts.items() if isinstance(parts, dict) else ():
        before = message.get(name)
        if name in _TEXTS and isinstance(before, str) and isinstance(value, str):
            message[name] = before + value
        elif value is not None:
            message[name] = value
    for name, value in piece.items():
        if name == "logprobs" and isinstance(value, dict):
            content = whole.setdefault(name, {"content": []})["content"]
            content += value.get("content") or []
        elif name not in ("delta", "message", "index") and value is not None:
            whole[name] = value
