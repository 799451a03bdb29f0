"""Reading what an OpenAI-compatible server answers, good or bad."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dhp.llm.records import Position, Reply

_LONGEST_REASON = 200
_REFUSED = re.compile(
    r"unsupported|not supported|not support|does not support|unrecognized|unknown|unexpected|not permitted|"
    r"extra (?:inputs|fields)|invalid|must be|not available|not allowed|only the default",
    re.I,
)
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|maximum context|too many tokens|prompt is too long|"
    r"exceeds? the (?:model|maximum|available)|input is too long|longer than the (?:model|maximum)",
    re.I,
)
_PARAMETERS = (
    "max_completion_tokens",
    "max_tokens",
    "top_logprobs",
    "logprobs",
    "temperature",
    "top_p",
    "seed",
    "n",
)


class Unreadable(Exception):
    """A body that holds no answer, though the server said all is well; says what it holds instead."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What a server said instead of an answer."""

    status: int
    message: str
    code: str
    parameter: str | None
    """The request's parameter that it refuses."""

    @property
    def too_long(self) -> bool:
        """Whether the prompt does not fit the model."""
        return self.status in (400, 413, 422) and (
            self.code == "context_length_exceeded" or bool(_TOO_LONG.search(self.message))
        )

    @property
    def out_of_money(self) -> bool:
        """Whether waiting is in vain until the account is filled."""
        return self.code in ("insufficient_quota", "billing_hard_limit_reached") or self.status == 402

    @property
    def filtered(self) -> bool:
        """Whether a content filter stopped the prompt."""
        return self.status == 400 and self.code in ("content_filter", "content_policy_violation")

    @property
    def transient(self) -> bool:
        """Whether the same call may succeed later."""
        return self.status in (408, 409, 425, 429) or self.status >= 500

    @property
    def reason(self) -> str:
        """In one short line."""
        return f"HTTP {self.status}: {self.message}" if self.message else f"HTTP {self.status}"


def read_problem(status: int, body: bytes) -> Problem:
    """What an answer with an error status says."""
    try:
        data = json.loads(body)
    except ValueError:
        data = None
    if isinstance(data, list) and data:
        data = data[0]
    error = data.get("error", data) if isinstance(data, dict) else data
    if not isinstance(error, dict):
        return Problem(status, shortened(error if isinstance(error, str) else _plain(body)), "", None)
    message = error.get("message") or error.get("detail") or error.get("msg") or ""
    message = message if isinstance(message, str) else json.dumps(message)
    code = str(error.get("code") or error.get("type") or "")
    named = error.get("param")
    return Problem(status, shortened(message), code, _parameter(status, str(named or ""), message))


def _parameter(status: int, named: str, message: str) -> str | None:
    if status not in (400, 422):
        return None
    if named in _PARAMETERS:
        return named
    if not _REFUSED.search(message):
        return None
    for parameter in _PARAMETERS:
        if re.search(rf"(?<![\w-])['\"`]?{parameter}['\"`]?(?![\w-])", message):
            return parameter
    return None


def shortened(text: str) -> str:
    """One line of at most 200 characters."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_REASON else line[: _LONGEST_REASON - 1] + "…"


def _plain(body: bytes) -> str:
    text = body[:2000].decode(errors="replace")
    if "<html" in text.lower() or text.lstrip().lower().startswith("<!doctype"):
        title = re.search(r"<title>(.*?)</title>", text, re.I | re.S)
        return f"a web page{f' ({title[1].strip()})' if title else ''}"
    return text


def read_replies(body: bytes) -> list[Reply]:
    """The replies of a successful call; usage stands on the first.

    Raises
    ------
    Unreadable
        Where there is no choice in it.
    """
    try:
        data = json.loads(body)
    except ValueError:
        raise Unreadable(f"the server did not answer in JSON but with: {shortened(_plain(body))}") from None
    choices = data.get("choices") if isinstance(data, dict) else None
    if not isinstance(choices, list) or not choices:
        message = data.get("error") if isinstance(data, dict) else None
        raise Unreadable(f"the answer holds no choices{f': {shortened(str(message))}' if message else ''}")
    usage = data.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    try:
        replies = [_reply(choice) for choice in sorted(choices, key=lambda c: int(c.get("index") or 0))]
        first = replies[0]
        tokens = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
    except (AttributeError, TypeError, ValueError, KeyError) as e:
        raise Unreadable(f"the answer's choices have an unknown form ({e})") from None
    replies[0] = Reply(first.text, first.finish, *tokens, 1, first.positions)
    return replies


def _reply(choice: Mapping[str, Any]) -> Reply:
    message = choice["message"]
    finish = str(choice.get("finish_reason") or "stop")
    if message.get("tool_calls") and not message.get("content"):
        finish = "tool_calls"
    text = message.get("content") or message.get("refusal") or ""
    if not isinstance(text, str):  # some servers give a list of parts
        text = "".join(str(part.get("text", "")) for part in text)
    return Reply(text, finish, 0, 0, 0, _positions(choice.get("logprobs")))


def _positions(logprobs: object) -> tuple[Position, ...] | None:
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list) or not content:
        return None
    return tuple(
        Position(
            str(place["token"]),
            tuple((str(top["token"]), float(top["logprob"])) for top in place.get("top_logprobs") or [place]),
        )
        for place in content
    )
