"""Batches at Google Gemini through the package `google-genai`."""

import itertools
import json
import tempfile
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from dhp.plugins.batch.providers import State

_RUNNING = ("QUEUED", "PENDING", "RUNNING", "CANCELLING", "PAUSED", "UPDATING", "UNSPECIFIED")
_FINISH = {"STOP": "stop", "MAX_TOKENS": "length"}
_LATEST = 1000
_NAMES = {
    "temperature": "temperature",
    "top_p": "topP",
    "max_tokens": "maxOutputTokens",
    "max_completion_tokens": "maxOutputTokens",
    "n": "candidateCount",
    "seed": "seed",
    "logprobs": "responseLogprobs",
    "top_logprobs": "logprobs",
}
"""Parameter of a chat completion -> that of Gemini's."""


class GeminiBatches:
    """See `Provider`; a batch has its tag as its display name."""

    def __init__(self, endpoint: str) -> None:
        from google import genai

        self._client = genai.Client()  # address and key from the environment

    def submit(self, path: Path, tag: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            converted, model = Path(folder) / f"{tag}.jsonl", ""
            with path.open("rb") as lines, converted.open("w", encoding="utf-8") as out:
                for line in lines:
                    data = json.loads(line)
                    model = data["body"]["model"]
                    out.write(
                        json.dumps({"key": data["custom_id"], "request": _request(data["body"])}) + "\n"
                    )
            file = self._client.files.upload(
                file=str(converted), config={"display_name": tag, "mime_type": "application/jsonl"}
            )
        return str(
            self._client.batches.create(model=model, src=file.name or "", config={"display_name": tag}).name
        )

    def find(self, tag: str, count: int, since: float, known: Collection[str]) -> str | None:
        for batch in itertools.islice(self._client.batches.list(), _LATEST):
            if batch.display_name == tag:
                return str(batch.name)
        return None

    def state(self, batch: str) -> State:
        found = self._client.batches.get(name=batch)
        word = (found.state.value if found.state else "").removeprefix("JOB_STATE_")
        failed = (found.error and found.error.message) or "no reason given"
        return State(word.lower(), word not in _RUNNING, failed if word == "FAILED" else "")

    def results(self, batch: str) -> Iterator[Mapping[str, Any]]:
        found = self._client.batches.get(name=batch)
        if found.dest is None or not found.dest.file_name:
            return
        data = self._client.files.download(file=found.dest.file_name)
        for line in data.decode().split("\n"):
            if line.strip():
                yield _result(json.loads(line))

    def cancel(self, batch: str) -> None:
        self._client.batches.cancel(name=batch)


def _request(body: Mapping[str, Any]) -> dict[str, Any]:
    """A chat completion as a request of Gemini's."""
    system = [m["content"] for m in body["messages"] if m["role"] == "system"]
    contents = [
        {"role": "model" if m["role"] == "assistant" else "user", "parts": [{"text": m["content"]}]}
        for m in body["messages"]
        if m["role"] != "system"
    ]
    request: dict[str, Any] = {
        "contents": contents,
        "generationConfig": {_NAMES[name]: body[name] for name in _NAMES if name in body},
    }
    if system:
        request["systemInstruction"] = {"parts": [{"text": "\n\n".join(system)}]}
    return request


def _result(line: Mapping[str, Any]) -> dict[str, Any]:
    """A result of Gemini's as a line in OpenAI's form."""
    response, error = line.get("response"), line.get("error")
    if not isinstance(response, dict):
        error = error if isinstance(error, dict) else {}
        said = {"message": error.get("message", ""), "code": error.get("status", "")}
        status = {400: 400, 3: 400, 401: 401, 403: 403, 404: 404, 5: 404}.get(error.get("code", 500), 500)
        answer = {"status_code": status, "body": {"error": said}}
        return {"custom_id": line["key"], "response": answer, "error": None}
    usage = response.get("usageMetadata", {})
    body = {
        "model": response.get("modelVersion", ""),
        "choices": [_choice(i, candidate) for i, candidate in enumerate(response.get("candidates", []))],
        "usage": {
            "prompt_tokens": usage.get("promptTokenCount", 0),
            "completion_tokens": usage.get("candidatesTokenCount", 0) + usage.get("thoughtsTokenCount", 0),
        },
    }
    if not body["choices"] and response.get("promptFeedback"):
        body["choices"] = [{"index": 0, "message": {"content": ""}, "finish_reason": "content_filter"}]
    return {"custom_id": line["key"], "response": {"status_code": 200, "body": body}, "error": None}


def _choice(index: int, candidate: Mapping[str, Any]) -> dict[str, Any]:
    parts = (candidate.get("content") or {}).get("parts", [])
    text = "".join(part.get("text", "") for part in parts if not part.get("thought"))
    finish = candidate.get("finishReason", "STOP")
    choice = {
        "index": candidate.get("index", index),
        "message": {"content": text},
        "finish_reason": _FINISH.get(finish, "content_filter"),
    }
    if logprobs := candidate.get("logprobsResult"):
        choice["logprobs"] = {"content": _positions(logprobs)}
    return choice


def _positions(logprobs: Mapping[str, Any]) -> list[dict[str, Any]]:
    tops = logprobs.get("topCandidates", [])
    chosen = logprobs.get("chosenCandidates", [])

    def token(found: Mapping[str, Any]) -> dict[str, Any]:
        return {"token": found.get("token", ""), "logprob": found.get("logProbability", 0.0)}

    return [
        {
            **token(one),
            "top_logprobs": [token(t) for t in (tops[i] if i < len(tops) else {}).get("candidates", [])],
        }
        for i, one in enumerate(chosen)
    ]
