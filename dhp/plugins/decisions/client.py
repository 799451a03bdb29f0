"""The client of decision models: the one that all servers share, over a transport with two wire forms.

The shared client keeps limits, retries, refusals and secrets. The transport turns its body into state and
questions, and the answers into the content of a chat completion, so that store, claims and costs need to know
nothing of them.

The way of a request: `_asked` takes the questions out of the prompt, `_post` sends as many as the server
takes in the wire form that it knows, `_data` and `_by_name` read the answers, and `_completion` wraps them.
"""

import json
import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from itertools import islice
from typing import Any

from dhp.core.errors import InputError
from dhp.judge.questions import OPENING
from dhp.llm.api import Garbled, Refused
from dhp.llm.clients.connection import Connection, public
from dhp.llm.clients.openai_client import OpenAIClient
from dhp.llm.clients.responses import Problem
from dhp.llm.clients.transports import FastTransport
from dhp.llm.records import Request
from dhp.llm.settings import ModelSettings
from dhp.plugins.decisions.servers import SYSTEM_ONE, DecisionServer, find_server

_TOO_LONG = "context_length_exceeded"
"""Code by which the shared client knows that a text does not fit."""
_TOO_MANY = re.compile(r"(?:at most|maximum|max\.?|up to|more than|limit)\D{0,30}(\d+)|(\d+) questions", re.I)
"""How servers say how many questions they take: "at most 3 questions a request", "limit: 8"."""

_OWN_FIELDS = ("model", "messages", "max_tokens")
"""Fields of the body that we write; all others are the user's."""

Answered = tuple[int, Mapping[str, str], bytes]
"""Status, headers and body of an answer."""


def open_decisions(name: str, settings: ModelSettings) -> "DecisionClient":
    """The model called `decisions/NAME`; see `find_server`. Raises `InputError` as that does."""
    if settings.transport is not None:
        raise InputError(f"`transport` {settings.transport}: is for openai/NAME, not for decisions/{name}")
    if settings.base_url is not None and not settings.base_url.strip():
        raise InputError("`base_url`: is empty; must be the address of a server, up to /v1")
    return DecisionClient(name, settings.base_url, timeout=settings.timeout)


class DecisionClient(OpenAIClient):
    """A decision model behind a server; errors are those of `find_server`."""

    decides = True

    def __init__(self, name: str, base_url: str | None, *, timeout: float) -> None:
        sent, server, connection = find_server(name, base_url)
        transport = DecisionTransport(connection, server)
        super().__init__(
            sent, timeout=timeout, provider="decisions", connection=connection, connected=transport
        )
        self.model = f"decisions/{name}"
        self.multi_sample = False

    def body(self, request: Request, samples: tuple[int, ...]) -> dict[str, Any]:
        """Name, questions and the user's own fields: a decision model has no settings of sampling."""
        body: dict[str, Any] = {"model": self._name, "messages": request.messages}
        body["max_tokens"] = request.params.max_tokens  # for the shared client; it is not sent, see `_post`
        for name, value in request.params.body:
            body[name] = json.loads(value)
        return body

    def _learn(self, problem: Problem, body: dict[str, Any]) -> None:
        """Nothing: there is no setting that could be left out."""

    def _fatal(self, problem: Problem, body: dict[str, Any]) -> Exception | None:
        """See `OpenAIClient`; other words for what has another meaning here."""
        where, message = public(self._url), problem.reason
        if problem.status in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED) or problem.no_model:
            return Refused(
                f"{where} does not know the decision model '{self._name}', or has neither /systemone nor "
                f"/decisions ({message}); a model that writes is named openai/NAME"
            )
        if problem.status == HTTPStatus.FORBIDDEN and "authorization" not in self._connection.headers:
            return Refused(
                f"{where} takes no calls without a key (HTTP 403); set {self._connection.key_variable}"
            )
        is_malformed = problem.status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)
        if is_malformed and not problem.wrong_key:
            # Once the server has answered others, the fault is this request's own, and the run goes on.
            return None if self._answered else Refused(f"{where} does not take the questions ({message})")
        return super()._fatal(problem, body)


class DecisionTransport(FastTransport):
    """Posts state and questions; answers as a chat completion whose content is the answers by name."""

    def __init__(self, connection: Connection, server: DecisionServer) -> None:
        super().__init__(connection)
        self._server = server
        self._forms = server.forms
        """Wire forms to try; one once a server has answered."""
        self._most = server.most_questions

    async def post(self, url: str, body: Mapping[str, object], most: int) -> Answered:
        """See `Transport`. Questions that are more than the server takes go in several calls."""
        asked = _asked(body)
        answers: dict[str, Any] = {}
        tokens, model = [0, 0, 0], None
        headers: Mapping[str, str] = {}
        pending = list(asked["questions"].items())
        while pending:
            # As many questions as the server takes, until all are answered.
            part = dict(islice(pending, self._most))
            status, headers, content = await self._post(url, body, asked | {"questions": part}, most)
            if status != HTTPStatus.OK:
                if self._fewer(status, content, len(part)):
                    continue  # the same questions again, fewer at once
                return status, headers, _refusal(status, content)
            data = _data(content)
            if data is None:
                return status, headers, content  # the shared client says what came instead
            answers |= _by_name(data["answers"], list(part))
            for place, count in enumerate(_tokens(data)):
                tokens[place] += count
            model = data.get("model")
            pending = pending[self._most :]
        return HTTPStatus.OK, headers, _completion(model, answers, tokens)

    async def _post(
        self, url: str, body: Mapping[str, object], asked: Mapping[str, Any], most: int
    ) -> Answered:
        """The answer in the first wire form that the server knows."""
        # Fields of the user's own go along; a decision model takes no messages and no limit of tokens.
        model = body["model"]
        further = {name: value for name, value in body.items() if name not in _OWN_FIELDS}
        first: Answered | None = None
        # A server without the first form says that there is no such address; then the other one is tried.
        for form in self._forms:
            written = asked if form == SYSTEM_ONE else _decisions(asked)
            data = json.dumps({"model": model, **written, **further}, ensure_ascii=False).encode()
            end = model if self._server.by_model else form
            answer = await self.send(f"{url}/{end}", data, most)
            status = answer[0]
            if status == HTTPStatus.OK:
                self._forms = (form,)
            if status not in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED):
                return answer
            first = first or answer  # what the server says of the form that it is likeliest to know
        assert first is not None
        return first

    def _fewer(self, status: int, content: bytes, asked: int) -> bool:
        """Whether the server wants fewer questions at once; as many as it says are asked from now on."""
        words = content.decode(errors="replace")
        if status not in (400, 413, 422) or "question" not in words.lower():
            return False
        # Such words may name both numbers, those asked and those allowed; only a smaller one helps.
        allowed = []
        for limit, count in _TOO_MANY.findall(words):
            number = int(limit or count)  # one of the two groups is empty
            if 0 < number < asked:
                allowed.append(number)
        if not allowed:
            return False
        self._most = max(allowed)
        return True


def _asked(body: Mapping[str, object]) -> dict[str, Any]:
    """State and questions: the last message. Raises `InputError` for a prompt in words."""
    messages: Any = body["messages"]
    text = messages[-1]["content"]
    if not isinstance(text, str) or not text.startswith(OPENING):
        raise InputError(
            f"decisions/{body['model']}: is a decision model, which answers typed questions and no prompts; "
            "a model that writes is needed here"
        )
    asked: dict[str, Any] = json.loads(text)
    return asked


def _decisions(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The same in OpenAI's form: the state is a text, the questions are a list."""
    return {
        "input": json.dumps(asked["state"], ensure_ascii=False),
        "questions": list(_listed(asked["questions"])),
    }


def _listed(questions: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, each in questions.items():
        criteria, instructions = each.get("criteria"), each["instructions"]
        asked: dict[str, Any]
        match each["type"]:
            case "noul":  # System One's word for a question of truth
                lines = [instructions]
                for word, text in (criteria or {}).items():
                    lines.append(f"{word.capitalize()}: {text}")
                asked = {"type": "predicate", "instructions": "\n".join(lines)}
            case "choice":
                choices = []
                for value, text in criteria.items():
                    choice = {"value": value}
                    if text:
                        choice["description"] = text
                    choices.append(choice)
                asked = {"type": "choice", "instructions": instructions, "choices": choices}
            case _:
                levels = []
                for number, text in enumerate(criteria):
                    levels.append({"label": str(number), "description": text})
                asked = {"type": "score", "instructions": instructions, "levels": levels}
        yield {"name": name, **asked}


def _data(content: bytes) -> dict[str, Any] | None:
    """An answer with `answers`; None for an error, or for what is no JSON.

    Raises `Garbled` for another object.
    """
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if isinstance(data, dict) and isinstance(data.get("result"), dict):  # an envelope
        data = data["result"]
    if isinstance(data, dict) and isinstance(data.get("answers"), dict | list):
        return data
    if isinstance(data, dict) and data.get("error"):
        return None
    raise Garbled("the answer holds no `answers`")


def _by_name(answers: Any, names: list[str]) -> dict[str, Any]:
    """The answers by the names of the questions; a list without names is in their order."""
    if isinstance(answers, dict):
        return answers
    named = {}
    for place, each in enumerate(answers):
        if isinstance(each, dict):
            name = each.get("name")
            if not name and len(answers) == len(names):  # else nobody knows which one is missing
                name = names[place]
            named[str(name)] = each
    return named


def _tokens(data: Mapping[str, Any]) -> list[int]:
    """Tokens read, written and cached."""
    usage = data.get("usage")
    if not isinstance(usage, dict):
        return [0, 0, 0]
    # Cached tokens stand as OpenAI has them, or in a field of their own.
    details = usage.get("input_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else usage.get("cached_input_tokens")
    tokens = []
    for count in (usage.get("input_tokens"), usage.get("output_tokens"), cached):
        if isinstance(count, int) and count > 0:
            tokens.append(count)
        else:
            tokens.append(0)
    return tokens


def _completion(model: object, answers: Mapping[str, Any], tokens: list[int]) -> bytes:
    """The answers as the content of a chat completion."""
    message = {"role": "assistant", "content": json.dumps(answers, ensure_ascii=False)}
    usage = {
        "prompt_tokens": tokens[0],
        "completion_tokens": tokens[1],
        "prompt_tokens_details": {"cached_tokens": tokens[2]},
    }
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json.dumps({"model": model, "choices": [choice], "usage": usage}).encode()


def _refusal(status: int, content: bytes) -> bytes:
    """The body of a refusal; for a text that is too long, with the code that the shared client knows."""
    if status != HTTPStatus.REQUEST_ENTITY_TOO_LARGE and b"max_tokens_exceeded" not in content:
        return content
    words = content[:2000].decode(errors="replace")
    return json.dumps({"error": {"code": _TOO_LONG, "message": words}}).encode()
