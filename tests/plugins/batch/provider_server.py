"""A local server that answers batches in the protocols of OpenAI, Anthropic and Gemini."""

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.plugins.batch.answers import answer, completion, expired, score
from tests.server import Answer, Call, scripted_server

Lines = list[dict[str, Any]]


class Lost(Exception):
    """The connection ends without an answer."""


@dataclass
class Provider:
    """What the server holds; a batch has ended after so many looks at it."""

    looks: int = 1
    url: str = ""
    result: Callable[[dict[str, Any]], dict[str, Any]] = answer
    """A request line in OpenAI's form -> its result line there."""
    direct: int = 0
    """Chat completions that were asked for directly."""
    lost: int = 0
    """Batches that it will make without saying so."""
    failed: str = ""
    """Why it refuses batches."""
    cuts: int = 0
    """Times that a file of results will be served without its second half."""
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)

    def lines(self, batch: dict[str, Any]) -> Lines:
        return [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]

    def seen(self, name: str) -> bool:
        batch = self.batches[name]
        batch["looks"] += 1
        return batch["looks"] > self.looks or batch["cancelled"]

    def made(self, **given: Any) -> dict[str, Any]:
        name = f"batch_{len(self.batches)}"
        self.batches[name] = {"id": name, "looks": 0, "cancelled": False, **given}
        if self.lost:
            self.lost -= 1
            raise Lost
        return self.batches[name]

    # OpenAI

    def openai(self, name: str) -> dict[str, Any]:
        batch, lines = self.batches[name], self.lines(self.batches[name])
        ended = self.seen(name)
        status = "in_progress"
        if self.failed:
            status = "failed"
        elif ended:
            status = "cancelled" if batch["cancelled"] else "completed"
        found = {**batch, "object": "batch", "endpoint": "x", "completion_window": "24h", "created_at": 0}
        found |= {"status": status, "request_counts": {"total": len(lines), "completed": 0, "failed": 0}}
        if self.failed:
            found["errors"] = {"object": "list", "data": [{"code": "x", "message": self.failed}]}
        if status == "completed":
            results = [self.result(line) for line in lines]
            good = [r for r in results if r["response"] and r["response"]["status_code"] == 200]
            bad = [r for r in results if r not in good]
            found["request_counts"] |= {"completed": len(good), "failed": len(bad)}
            for key, part in (("output_file_id", good), ("error_file_id", bad)):
                if part:
                    found[key] = f"{name}-{key}"
                    self.files[found[key]] = "".join(json.dumps(r) + "\n" for r in part).encode()
        return found

    # Anthropic

    def anthropic(self, name: str) -> dict[str, Any]:
        batch = self.batches[name]
        ended = self.seen(name)
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        if ended:
            batch.setdefault("results", self.anthropic_results(name))
            for line in map(json.loads, batch["results"].splitlines()):
                counts["succeeded" if line["result"]["type"] == "succeeded" else "expired"] += 1
        else:
            counts["processing"] = len(batch["requests"])
        return {
            "id": name,
            "type": "message_batch",
            "created_at": "2040-01-01T00:00:00Z",
            "expires_at": "2040-01-02T00:00:00Z",
            "request_counts": counts,
            "processing_status": "ended" if ended else "in_progress",
            "results_url": f"{self.url}/v1/messages/batches/{name}/results" if ended else None,
        }

    def anthropic_results(self, name: str) -> bytes:
        out = []
        for request in self.batches[name]["requests"]:
            body = {**request["params"], "n": 1}
            said = self.result({"custom_id": request["custom_id"], "body": body})
            if said["response"] is None:
                result: dict[str, Any] = {"type": "expired"}
            else:
                text = completion(body)["choices"][0]["message"]["content"]
                message = {
                    "id": "m",
                    "type": "message",
                    "role": "assistant",
                    "model": body["model"],
                    "content": [{"type": "text", "text": text}],
                    "stop_reason": "end_turn",
                    "stop_sequence": None,
                    "usage": {"input_tokens": 10, "output_tokens": 1},
                }
                result = {"type": "succeeded", "message": message}
            out.append(json.dumps({"custom_id": request["custom_id"], "result": result}))
        return "\n".join(out).encode()

    # Gemini

    def gemini(self, name: str) -> dict[str, Any]:
        batch, ended = self.batches[name], self.seen(name)
        state = "BATCH_STATE_SUCCEEDED" if ended else "BATCH_STATE_RUNNING"
        metadata: dict[str, Any] = {"displayName": batch["display"], "state": state, "model": batch["model"]}
        if ended:
            out = []
            for line in map(json.loads, self.files[batch["file"]].splitlines()):
                said = self.result(
                    {"custom_id": line["key"], "body": {"model": "m", "messages": [{"content": ""}]}}
                )
                if said["response"] is None:
                    result = {"error": {"code": 14, "message": "unavailable"}}
                else:
                    text = score(line["request"]["contents"][-1]["parts"][0]["text"])
                    count = line["request"]["generationConfig"].get("candidateCount", 1)
                    one = {"content": {"parts": [{"text": text}], "role": "model"}, "finishReason": "STOP"}
                    usage = {"promptTokenCount": 10, "candidatesTokenCount": count}
                    result = {"response": {"candidates": [one] * count, "usageMetadata": usage}}
                out.append(json.dumps({"key": line["key"], **result}))
            self.files[f"files/out{name}"] = "\n".join(out).encode()
            metadata["output"] = {"responsesFile": f"files/out{name}"}
        return {"name": f"batches/{name}", "metadata": metadata, "done": ended}

    def perhaps_cut(self, results: bytes) -> bytes:
        """A file of results, or as long as there are cuts left its first half."""
        lines, whole = results.splitlines(keepends=True), not self.cuts
        self.cuts = max(0, self.cuts - 1)
        return b"".join(lines if whole else lines[: len(lines) // 2])

    def answer(self, call: Call) -> Any:
        """JSON, bytes, or JSON with headers."""
        path, _, _ = call.path.partition("?")
        if path.startswith("/gemini/"):
            path = path.removeprefix("/gemini").replace("/v1/", "/v1beta/")
        found = re.search(r"batch_\d+", path)
        name = found[0] if found else ""
        match call.method, path.removesuffix("/"):
            case "POST", "/v1/chat/completions":
                self.direct += 1
                return completion(call.body)
            case "GET", "/v1/models":
                return {"object": "list", "data": []}
            case "POST", "/v1/files":
                file = f"file-{len(self.files)}"
                lines = [line for line in call.raw.split(b"\n") if line.startswith(b'{"custom_id"')]
                self.files[file] = b"\n".join(lines)
                return {
                    "id": file,
                    "object": "file",
                    "bytes": 1,
                    "created_at": 0,
                    "filename": "f",
                    "purpose": "batch",
                }
            case "GET", p if p.startswith("/v1/files/"):
                return self.perhaps_cut(self.files[p.split("/")[3]])
            case "POST", "/v1/batches":
                return self.openai(self.made(**call.body)["id"])
            case "GET", "/v1/batches":
                return {"object": "list", "data": [self.openai(n) for n in self.batches], "has_more": False}
            case "POST", "/v1/messages/batches":
                return self.anthropic(self.made(**call.body)["id"])
            case "GET", "/v1/messages/batches":
                return {"data": [self.anthropic(n) for n in self.batches], "has_more": False}
            case "GET", p if p.endswith("/results"):
                return self.perhaps_cut(self.batches[name]["results"])
            case "POST", p if p.endswith(("/cancel", ":cancel")):
                self.batches[name]["cancelled"] = True
                return (
                    self.openai(name)
                    if p.startswith("/v1/batches")
                    else (self.anthropic(name) if "messages" in p else {})
                )
            case "GET", p if p.startswith("/v1/batches/"):
                return self.openai(name)
            case "GET", p if p.startswith("/v1/messages/batches/"):
                return self.anthropic(name)
            case "POST", "/upload/v1beta/files":
                return {}, {"x-goog-upload-url": f"{self.url}/gemini/put", "x-goog-upload-status": "active"}
            case "POST" | "PUT", "/put":
                file = f"files/f{len(self.files)}"
                self.files[file] = call.raw
                return {"file": {"name": file, "uri": file, "state": "ACTIVE"}}, {
                    "x-goog-upload-status": "final"
                }
            case "POST", p if p.endswith(":batchGenerateContent"):
                given = call.body["batch"]
                made = self.made(display=given["displayName"], model=p, file=given["inputConfig"]["fileName"])
                return self.gemini(made["id"])
            case "GET", "/v1beta/batches":
                return {"operations": [self.gemini(n) for n in self.batches]}
            case "GET", p if p.startswith("/v1beta/batches/"):
                return self.gemini(name)
            case "GET", p if ":download" in p:
                return self.perhaps_cut(self.files[re.sub(r"^/(download/)?v1beta/|:download$", "", p)])
        raise AssertionError(f"unknown call {call.method} {path}")


@contextlib.contextmanager
def provider_server(provider: Provider) -> Iterator[Provider]:
    """Start it on a free port."""

    def says(call: Call) -> Answer | None:
        try:
            answer = provider.answer(call)
        except Lost:
            return None
        except KeyError:
            return 404, {}, ""
        body, headers = answer if isinstance(answer, tuple) else (answer, {})
        kind = "application/x-jsonl" if isinstance(body, bytes) else "application/json"
        return 200, {"Content-Type": kind, **headers}, body

    with scripted_server(says, get=says) as server:
        provider.url = server.url
        yield provider


def half_expired(line: dict[str, Any]) -> dict[str, Any]:
    """Every second request is not reached in time."""
    return answer(line) if int(line["custom_id"], 16) % 2 else expired(line)
