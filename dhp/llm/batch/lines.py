"""Lines of batch files in OpenAI's format."""

import codecs
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dhp.core.errors import InputError
from dhp.core.files import parse_json
from dhp.llm.clients.responses import Problem, holds_answer, problem_inside, read_problem, shortened

URL = "/v1/chat/completions"
_LONGEST_KIND = 80
_ALLOWED = "allowed: the results of a batch, one JSON object per line"


def request_line(custom_id: str, body: Mapping[str, object]) -> bytes:
    """One request; `custom_id` is the store's key of its first sample, in hexadecimal digits."""
    line = {"custom_id": custom_id, "method": "POST", "url": URL, "body": body}
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class ResultLine:
    """What a batch says of one request."""

    custom_id: str
    body: Mapping[str, Any] | None
    """A chat completion; None where there is a problem."""
    problem: Problem | None
    """Status 0 where the batch ended before the request was answered."""

    @property
    def kind(self) -> str:
        """The problem in a few words, the same for all of its kind."""
        if self.problem is None:
            return ""
        if self.problem.status == 0:
            return self.problem.code or "no answer"
        return shortened(self.problem.reason, _LONGEST_KIND)


def read_result_line(place: str, raw: bytes) -> ResultLine:
    """A line of an output file or an error file; raises `InputError` with the place for what is none."""
    try:
        data = parse_json(place, raw.removeprefix(codecs.BOM_UTF8).decode())
    except UnicodeDecodeError:
        raise InputError(f"{place}: not UTF-8 text; {_ALLOWED}, in UTF-8") from None
    except InputError as e:
        raise InputError(f"{e}; {_ALLOWED}") from None
    fits = isinstance(data, dict) and isinstance(data.get("custom_id"), str)
    if fits and "body" in data and "url" in data:
        raise InputError(
            f"{place}: is a request; allowed: the results that came back, custom_id with response"
        )
    if not fits or not ("response" in data or "error" in data):
        raise InputError(f"{place}: is not a result of a batch; must have custom_id, with response or error")
    response = data.get("response")
    response = response if isinstance(response, dict) else {}
    status, body = response.get("status_code"), response.get("body")
    if status == 200 and isinstance(body, dict) and not data.get("error"):
        fault = None if holds_answer(body) else problem_inside(json.dumps(body).encode())
        if fault is None and not holds_answer(body):
            fault = Problem(0, "", "without an answer that can be read", "")
        return ResultLine(data["custom_id"], body if fault is None else None, fault)
    said = data.get("error") or body or {}
    said = said if isinstance(said, dict) and "error" in said else {"error": said}
    status = status if isinstance(status, int) and status != 200 else 0
    return ResultLine(data["custom_id"], None, read_problem(status, json.dumps(said).encode()))
