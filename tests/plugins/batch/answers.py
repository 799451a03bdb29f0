"""Answers batch files as a provider would: result lines in a shuffled order."""

import json
import random
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

Says = Callable[[str], str]


def score(prompt: str) -> str:
    """A score from 1 to 5 that depends on the prompt alone."""
    return str(1 + zlib.crc32(prompt.encode()) % 5)


def completion(body: dict[str, Any], says: Says = score) -> dict[str, Any]:
    """A chat completion for a request body."""
    text = says(body["messages"][-1]["content"])
    choices = [
        {"index": i, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        for i in range(body.get("n", 1))
    ]
    usage = {"prompt_tokens": 10, "completion_tokens": len(choices)}
    return {"id": "c", "model": f"{body['model']}-2026-01-01", "choices": choices, "usage": usage}


def answer(request: dict[str, Any], says: Says = score) -> dict[str, Any]:
    """The result line of a request line."""
    response = {"status_code": 200, "request_id": "r", "body": completion(request["body"], says)}
    return {"id": "b", "custom_id": request["custom_id"], "response": response, "error": None}


def expired(request: dict[str, Any]) -> dict[str, Any]:
    """The line of the error file for a request that was not reached in time."""
    error = {"code": "batch_expired", "message": "This request could not be executed in time."}
    return {"id": "b", "custom_id": request["custom_id"], "response": None, "error": error}


def refused(request: dict[str, Any], status: int, message: str) -> dict[str, Any]:
    """The line of the error file for a request that was refused."""
    response = {"status_code": status, "request_id": "r", "body": {"error": {"message": message}}}
    return {"id": "b", "custom_id": request["custom_id"], "response": response, "error": None}


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    """Write lines in another order."""
    lines = list(lines)
    random.Random(0).shuffle(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def write_answers(requests: Path, results: Path, says: Says = score) -> Path:
    """Answer all of a request file."""
    return write(results, [answer(line, says) for line in read(requests)])
