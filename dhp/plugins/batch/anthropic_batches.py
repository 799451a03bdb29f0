"""Batches at Anthropic through the package `anthropic`."""

import itertools
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from dhp.core.errors import InputError
from dhp.plugins.batch.providers import State

_FINISH = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "refusal": "content_filter"}
_STATUS = {"invalid_request_error": 400, "authentication_error": 401, "not_found_error": 404}
"""Kinds of errors with the status that means the same; others may pass."""
_LATEST = 100
_SKEW = 60.0
"""Seconds by which the clock here may be ahead of that there."""


class AnthropicBatches:
    """See `Provider`. A request has one sample; a batch has no tag: a lost one is known by size and age."""

    def __init__(self, endpoint: str) -> None:
        import anthropic

        self._client = anthropic.Anthropic()  # address and key from the environment

    def submit(self, path: Path, tag: str) -> str:
        with path.open("rb") as lines:
            requests: list[Any] = [_request(json.loads(line)) for line in lines]
        once = self._client.with_options(max_retries=0)  # a lost answer does not mean a lost batch
        return str(once.messages.batches.create(requests=requests).id)

    def find(self, tag: str, count: int, since: float, known: Collection[str]) -> str | None:
        for batch in itertools.islice(self._client.messages.batches.list(limit=100), _LATEST):
            numbers = batch.request_counts
            total = sum(getattr(numbers, name) for name in _COUNTS)
            if since - _SKEW <= batch.created_at.timestamp() and total == count and batch.id not in known:
                return str(batch.id)
        return None

    def state(self, batch: str) -> State:
        found = self._client.messages.batches.retrieve(batch)
        total = sum(getattr(found.request_counts, name) for name in _COUNTS)
        said = f"{found.processing_status}, {found.request_counts.succeeded} of {total} answered"
        return State(said, found.processing_status == "ended")

    def results(self, batch: str) -> Iterator[Mapping[str, Any]]:
        for line in self._client.messages.batches.results(batch):
            yield _result(line.model_dump(mode="json"))

    def cancel(self, batch: str) -> None:
        self._client.messages.batches.cancel(batch)


_COUNTS = ("processing", "succeeded", "errored", "canceled", "expired")


def _request(line: Mapping[str, Any]) -> dict[str, Any]:
    """A line in OpenAI's form as a request of Anthropic's."""
    body = line["body"]
    if "logprobs" in body:
        raise InputError(
            "`batch` anthropic: gives no log-probabilities; allowed: `extraction` parse or another provider"
        )
    params: dict[str, Any] = {
        "model": body["model"],
        "max_tokens": body.get("max_tokens") or body.get("max_completion_tokens"),
        "messages": [m for m in body["messages"] if m["role"] != "system"],
    }
    if system := "\n\n".join(m["content"] for m in body["messages"] if m["role"] == "system"):
        params["system"] = system
    params |= {name: body[name] for name in ("temperature", "top_p") if name in body}
    return {"custom_id": line["custom_id"], "params": params}


def _result(line: Mapping[str, Any]) -> dict[str, Any]:
    """A result of Anthropic's as a line in OpenAI's form."""
    result, name = line["result"], line["custom_id"]
    if result["type"] == "succeeded":
        message = result["message"]
        text = "".join(part.get("text") or "" for part in message["content"] if part["type"] == "text")
        finish = _FINISH.get(message["stop_reason"], message["stop_reason"])
        usage = message["usage"]
        body = {
            "model": message["model"],
            "choices": [{"index": 0, "message": {"content": text}, "finish_reason": finish}],
            "usage": {"prompt_tokens": usage["input_tokens"], "completion_tokens": usage["output_tokens"]},
        }
        return {"custom_id": name, "response": {"status_code": 200, "body": body}, "error": None}
    if result["type"] == "errored":
        error = result["error"].get("error") or result["error"]
        response = {"status_code": _STATUS.get(error.get("type"), 500), "body": {"error": error}}
        return {"custom_id": name, "response": response, "error": None}
    return {"custom_id": name, "response": None, "error": {"code": f"batch_{result['type']}"}}
