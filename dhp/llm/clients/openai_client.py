"""A model behind an OpenAI-compatible server: what is asked of it, and what it learns of the server.

`complete` makes one call and returns its replies, or raises what went wrong; when and how often it is called,
and what is stored, is up to `dhp.llm.engine`. Servers differ in what they take, and say it by refusing it.
So a call that is refused is made again in another form, if there is one, and what helped holds for all
further calls:

- a parameter that the error names is left out, or sent by its newer name (`_learn`);
- after a failure that names nothing, the suspects are tried: several samples in one call (`_one_sample`), the
  seed (`_without_seed`), the schema (`_without_schema`);
- an answer without choices is asked for once more (`_second_try`).

Each such change is a note for the user. `_error` says what any other refusal means: for this request, or for
all of them.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from dhp.core.checks import check_value
from dhp.core.errors import DhpError, InputError, StoppedEarly, require
from dhp.core.files import is_utf8
from dhp.core.secrets import hidden_words
from dhp.llm.api import Filtered, Refused, Rejected, Retry, TooLong, Unreachable
from dhp.llm.clients.connection import (
    Connection,
    find_connection,
    public,
    server_connection,
    server_fault,
)
from dhp.llm.clients.repeated import without_request
from dhp.llm.clients.responses import (
    NoChoices,
    Problem,
    longest_body,
    overlong,
    parameter_advice,
    problem_inside,
    read_problem,
    read_replies,
    shortened,
)
from dhp.llm.clients.servers import DECISION_MODELS, SERVERS, TransportName
from dhp.llm.clients.transports import FastTransport, SdkTransport, Transport
from dhp.llm.limits import TIMEOUT
from dhp.llm.records import Reply, Request

_LOGPROBS = (20, 5, 0)
"""Alternatives a token that servers are asked for, until one of these is not refused: OpenAI gives at most
20, others fewer or none."""
_LEFT_OUT = {
    "n": "samples are asked one by one",
    "seed": "sampling cannot be repeated there",
    "response_format": "the prompt alone asks for JSON",
    "stream_options": "the tokens of answers cannot be counted",
}
"""Parameter without which calls are made if it is refused -> what follows."""
_OF_THE_REQUEST = (400, 422)
"""Statuses by which a server refuses a request for what it asks."""
_SECOND_TRY = 0.5
"""Seconds before a call that was answered without choices is made again. Chosen."""
_BLOCKED_IN_A_ROW = 10
"""Answers without choices in a row, after which it is no fault of the prompts'. Chosen."""


def _with_costs(reply: Reply, others: Sequence[Reply]) -> Reply:
    """A reply that counts, besides its own, the calls and tokens of others that it took."""
    for other in others:
        reply = replace(
            reply,
            prompt_tokens=reply.prompt_tokens + other.prompt_tokens,
            completion_tokens=reply.completion_tokens + other.completion_tokens,
            calls=reply.calls + other.calls,
            cached_tokens=reply.cached_tokens + other.cached_tokens,
        )
    return reply


class OpenAIClient:
    """One model behind one address.

    For Azure `name` is that of the deployment, and the default transport the official package (`sdk`), else
    aiohttp (`fast`). `provider`, `connection` and `connected` are for a provider that is reached in another
    way. Raises `InputError` if the address is invalid, or the transport is unknown or cannot reach Azure.
    """

    def __init__(
        self,
        name: str,
        base_url: str | None = None,
        *,
        timeout: float = TIMEOUT,
        transport: TransportName | None = None,
        provider: str = "openai",
        connection: Connection | None = None,
        connected: Transport | None = None,
    ) -> None:
        self.model = f"{provider}/{name}"
        self.timeout = timeout
        self._name = name
        if connection is None and provider in SERVERS:
            connection = server_connection(provider, base_url)
        elif connection is None:
            connection = find_connection(base_url)
        self._connection = connection
        self.endpoint = self._connection.endpoint
        self._url, *self._other_urls = self._connection.urls
        self._transport = connected or self._chosen(transport)
        # What is known of the server, and learned from its answers:
        self.multi_sample = urlsplit(self.endpoint).hostname != "api.anthropic.com"
        """Whether the server gives several samples in one call."""
        self._has_sent_several = False
        """Whether any answer held several samples: then one with fewer is no sign that `n` is ignored."""
        self._has_sent_bytes = False
        """Whether it was said that an answer holds bytes that are not UTF-8."""
        self._tokens = "max_tokens"
        """Name of the parameter for the room of an answer."""
        self._left_out: set[str] = set()
        """Parameters that the server refuses."""
        self._taken: set[str] = set()
        """Parameters of calls that were answered."""
        self._streams = False
        """Whether the server answers in streams only."""
        self._writes_by_schema = False
        """Whether an answer under a schema held a text, or a schema is not what keeps it empty."""
        self._failures_with_seed = 0
        self._logprobs = _LOGPROBS[0]
        """Alternatives a token that are asked for at most."""
        self._has_given_logprobs = self._has_sent_empty_lists = False
        self._blocked_in_a_row = 0
        self._answered = False
        """Whether any call was answered."""
        self._checked = self._connection.azure or connected is not None
        """Whether the server was asked for its models, or cannot be."""
        self.notes: list[str] = []
        """What had to be asked otherwise than planned."""

    def _chosen(self, transport: TransportName | None) -> Transport:
        check_value("transport", transport, TransportName | None)
        if self._connection.azure and transport == "fast":
            raise InputError("`transport` fast: does not reach Azure (AZURE_OPENAI_ENDPOINT); allowed: sdk")
        if self._connection.azure or transport == "sdk":
            purpose = "Azure" if self._connection.azure else "`transport` sdk"
            require("openai", purpose=purpose, extra="openai")
            return SdkTransport(self._connection)
        return FastTransport(self._connection)

    async def open(self) -> None:
        """Open the connections; must be called in the loop that will make the calls.

        Raises `InputError` if OpenAI's own server is meant and there is no key in `OPENAI_API_KEY`.
        """
        self._connection.check(self.model)
        await self._transport.open()

    def check(self) -> None:
        """Raise `InputError` if no call can succeed: no key, no server, a key that it refuses.

        Asks the server for its models, once; nothing is paid.
        """
        self._connection.check(self.model)
        if self._checked:
            return
        self._checked = True
        match server_fault(self._url, self._connection.headers):
            case "key":
                raise InputError(f"{self.model}: {self._refused_key(401)}")
            case "proxy":
                raise InputError(f"{self.model}: {self._connection.unknown_to_proxy(self._url)}")
            case str(why):
                raise InputError(f"{self.model}: {self._connection.unanswered(self._url, why)}")

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def complete(self, request: Request, samples: tuple[int, ...]) -> list[Reply]:
        """See `Client`."""
        first_problem: Problem | None = None  # of the first address, if another one is tried
        while True:  # each time round, something of what is sent has changed
            body = self.body(request, samples)
            try:
                response = await self._post(body)
            except Retry as e:
                if e.overload or not self._may_fail_of_seed(body):
                    raise
                return await self._without_seed(request, samples, e)
            if isinstance(response, bytes):
                try:
                    replies = self._read(response, body, len(samples))
                except NoChoices:
                    return await self._second_try(body, len(samples))
                if self._may_fail_of_schema(body, replies):
                    return await self._without_schema(request, samples, replies)
                return replies

            if response.cut_off:  # paid for, and without a word: each sample is an answer that was cut off
                cut = Reply("", "length", 0, 0, 0)
                return [replace(cut, calls=1), *[cut] * (len(samples) - 1)]
            # `http://host` may mean that address or `http://host/v1`: the other one is tried.
            if response.status in (404, 405) and self._other_urls and not self._answered:
                first_problem, self._url = response, self._other_urls.pop()
                continue
            self._learn(response, body)
            if "n" in body and not self.multi_sample:  # known only now, or since another call
                return []  # the engine asks for one sample after the other
            if self.body(request, samples) != body:
                continue  # what was refused is left out now

            # Nothing was learned: the suspects are tried, if no answer has cleared them yet.
            error = self._error(first_problem or response, body)
            if response.status in _OF_THE_REQUEST and type(error) is Rejected and self._may_fail_of_n(body):
                return await self._one_sample(request, samples, error)
            if response.status >= 500 and not response.overload and self._may_fail_of_seed(body):
                return await self._without_seed(request, samples, error)
            raise error

    def body(self, request: Request, samples: tuple[int, ...]) -> dict[str, Any]:
        """The call's JSON."""
        params = request.params
        body: dict[str, Any] = {
            "model": self._name,
            "messages": request.messages,
            self._tokens: params.max_tokens,
        }
        if params.temperature is not None:
            body["temperature"] = params.temperature
        if params.top_p is not None:
            body["top_p"] = params.top_p
        if params.seed is not None and "seed" not in self._left_out:
            # Samples asked for one by one would all be alike under one seed.
            body["seed"] = params.seed + samples[0]
        if len(samples) > 1:
            body["n"] = len(samples)
        logprobs = min(params.top_logprobs, self._logprobs)
        if logprobs:
            body["logprobs"] = True
            body["top_logprobs"] = logprobs
        for name, value in params.body:
            if name not in self._left_out:
                body[name] = json.loads(value)
        if self._streams:
            body["stream"] = True
            if "stream_options" not in self._left_out:
                body["stream_options"] = {"include_usage": True}
        return body

    async def _post(self, body: dict[str, Any]) -> bytes | Problem:
        """The answer, or the problem. A far too long answer is rejected."""
        most = longest_body(body)
        try:
            async with asyncio.timeout(self.timeout):
                status, headers, content = await self._transport.post(self._url, body, most)
        except TimeoutError:
            raise Retry(f"no answer within {self.timeout:g} seconds", overload=True) from None
        except Unreachable as e:
            raise Unreachable(self._connection.unanswered(self._url, str(e))) from None
        except ConnectionError as e:
            raise Retry(f"the connection broke ({e})") from None
        if status == 200 and len(content) > most:
            raise Rejected(
                f"the answer has more than {most:,} bytes, the most for {body[self._tokens]} tokens"
            )
        problem = problem_inside(content) if status == 200 else read_problem(status, content)
        if problem is None:  # an answer
            return content
        # What a server repeats of the prompt says nothing of the server: words about money may be the text's.
        message = hidden_words(without_request(problem.message, body["messages"]))
        return replace(problem, message=message, headers=headers)

    def _may_fail_of_n(self, body: dict[str, Any]) -> bool:
        """Whether several samples were asked for, and no server's answer says yet that it takes that."""
        return "n" in body and "n" not in self._taken

    async def _one_sample(
        self, request: Request, samples: tuple[int, ...], failure: Exception
    ) -> list[Reply]:
        """The first sample alone, as a refusal may mean `n`; raises `failure` if that fails too."""
        try:
            replies = await self.complete(request, samples[:1])
        except (DhpError, Retry, Rejected):
            raise failure from None
        if self.multi_sample:
            self.multi_sample = False
            self.notes.append(f"a call for several samples was refused ({failure}): {_LEFT_OUT['n']}")
        return replies

    def _may_fail_of_seed(self, body: dict[str, Any]) -> bool:
        """Whether this failure is the second of a call with a seed, and nothing was answered yet."""
        if "seed" not in body or self._answered:
            return False
        self._failures_with_seed += 1
        return self._failures_with_seed > 1

    async def _without_seed(
        self, request: Request, samples: tuple[int, ...], failure: Exception
    ) -> list[Reply]:
        """The same call without a seed, of which some servers fail; raises `failure` if that fails too."""
        self._left_out.add("seed")
        try:
            replies = await self.complete(request, samples)
        except Unreachable:
            self._left_out.remove("seed")
            raise Unreachable(
                f"{failure}, and it is gone now; `send_seed=False` leaves out the seed"
            ) from None
        except (DhpError, Retry, Rejected):
            self._left_out.remove("seed")
            raise failure from None
        self.notes.append(f"the server fails with a seed ({failure}): it is left out, sampling varies")
        return replies

    def _may_fail_of_schema(self, body: dict[str, Any], replies: list[Reply]) -> bool:
        """Whether nothing was written under a schema, under which nothing was ever written.

        Some servers end an answer at once, or give blanks up to the limit, if they cannot keep to a schema.
        """
        if "response_format" not in body:
            return False
        for reply in replies:
            is_nothing = not reply.text.strip() and (reply.finish == "stop" or reply.text != "")
            if not is_nothing:
                self._writes_by_schema = True
        return not self._writes_by_schema

    async def _without_schema(
        self, request: Request, samples: tuple[int, ...], replies: list[Reply]
    ) -> list[Reply]:
        """The same call without a schema; the empty `replies` if it is answered by nothing, too."""
        self._left_out.add("response_format")
        try:
            others = await self.complete(request, samples)
        except (DhpError, Retry, Rejected):
            others = []
        if not any(reply.text.strip() for reply in others):
            self._left_out.discard("response_format")
            self._writes_by_schema = True  # the schema is not what keeps it from writing
            return [_with_costs(replies[0], others), *replies[1:]]
        note = f"the server answers nothing under a schema: {_LEFT_OUT['response_format']}"
        if note not in self.notes:
            self.notes.append(note)
        return [_with_costs(others[0], replies), *others[1:]]

    def _read(self, content: bytes, body: dict[str, Any], samples: int) -> list[Reply]:
        """The replies of an answer, and what it says of the server."""
        replies = read_replies(content)[:samples]
        why = overlong(replies, body)
        if why:
            raise Rejected(why)
        if not self._answered and len(self._connection.urls) > 1:
            self.notes.append(f"the address has no path; calls go to {public(self._url)}")
        if not is_utf8(content) and not self._has_sent_bytes:
            self._has_sent_bytes = True
            self.notes.append("an answer holds bytes that are not UTF-8; each is replaced by U+FFFD")
        self._answered = True
        self._blocked_in_a_row = 0
        self._taken |= body.keys()
        self._has_sent_several |= len(replies) > 1
        # Once it has given several, fewer are a fault of this answer, and the rest is asked for.
        if len(replies) < samples and self.multi_sample and not self._has_sent_several:
            self.multi_sample = False
            self.notes.append("the server ignores n: samples are asked one by one")
        if "logprobs" in body:
            replies = self._with_logprobs(replies)
        return replies

    def _with_logprobs(self, replies: list[Reply]) -> list[Reply]:
        """The replies; once the server has given log-probabilities, one without has an empty list."""
        if any(reply.positions == () for reply in replies) and not self._has_sent_empty_lists:
            self._has_sent_empty_lists = True
            self.notes.append("the server gives an empty list in place of log-probabilities")
        self._has_given_logprobs |= any(reply.positions for reply in replies)
        if not self._has_given_logprobs:
            return replies
        completed = []
        for reply in replies:
            lacks = reply.positions is None and reply.text
            completed.append(replace(reply, positions=()) if lacks else reply)
        return completed

    async def _second_try(self, body: dict[str, Any], samples: int) -> list[Reply]:
        """The same call after one that was answered without choices.

        A prompt to which nothing comes twice, while others are answered, was blocked: it is refused.
        """
        await asyncio.sleep(_SECOND_TRY)
        response = await self._post(body)
        if isinstance(response, Problem):
            raise self._error(response, body)
        try:
            return self._read(response, body, samples)
        except NoChoices as e:
            self._blocked_in_a_row += 1
            if not self._answered:
                raise Rejected(str(e)) from None
            if self._blocked_in_a_row > _BLOCKED_IN_A_ROW:
                raise
            return [Reply("", "content_filter", 0, 0, 2)]

    def _learn(self, problem: Problem, body: dict[str, Any]) -> None:
        """Change future requests, if a request without the refused parameter is possible."""
        if problem.wants_stream and not self._streams:
            self._streams = True
            self.notes.append(f"answers are asked for as streams ({problem.reason})")
            return
        name = problem.parameter(body, self._taken)
        # Each only once: a call that was under way meanwhile is refused for what is left out by now.
        if name == "max_tokens":
            of_its_size = problem.too_many or problem.too_few
            if name == self._tokens and not of_its_size:
                self._tokens = "max_completion_tokens"
                self.notes.append("the server refuses max_tokens: max_completion_tokens is sent")
        elif name in ("top_logprobs", "logprobs"):
            if body["top_logprobs"] == self._logprobs:
                # A server that refuses `logprobs` itself has none; one that speaks of their number has fewer.
                fewer = problem.too_many or name == "top_logprobs"
                following = _LOGPROBS[_LOGPROBS.index(self._logprobs) + 1]
                self._logprobs = following if fewer else 0
                self.notes.append(f"the server gives at most {self._logprobs} log-probabilities a token")
        elif name in _LEFT_OUT and name not in self._left_out:
            self._left_out.add(name)
            if name == "n":
                self.multi_sample = False
            self.notes.append(f"the server refuses {name}: {_LEFT_OUT[name]}")

    def _error(self, problem: Problem, body: dict[str, Any]) -> Exception:
        """What a refused call means for this request, or for all.

        A shortage comes first: it may have the status of a fault that passes, and waiting does not help.
        """
        failure = problem.failure(self.model)
        shortage = problem.shortage
        if shortage:
            remedy = f"{shortage.remedy}, then repeat the command to resume"
            return StoppedEarly(f"{self.model}: {problem.reason}; what was paid for is kept: {remedy}")
        if problem.too_long:
            return TooLong(failure)
        if problem.transient:
            return Retry(failure, after=problem.retry_after, overload=problem.overload)
        if problem.moderated:
            return Filtered(failure)
        return self._fatal(problem, body) or Rejected(failure)

    def _fatal(self, problem: Problem, body: dict[str, Any]) -> Exception | None:
        """Why no request can succeed, most likely; None if another may."""
        message = problem.reason
        if 300 <= problem.status < 400:
            target = problem.headers.get("Location") or "another address"
            target = shortened(target.removesuffix("/chat/completions"))
            return Refused(
                f"{public(self._url)} redirects to {target} (HTTP {problem.status}), which is not followed; "
                "name the right address by `base_url`"
            )
        if problem.status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
            return Refused(self._connection.unknown_to_proxy(self._url))
        if problem.wrong_key:
            return Refused(self._refused_key(problem.status))
        if problem.no_model or problem.wants_questions:
            return Refused(
                f"{public(self._connection.urls[0])} does not know the model '{self._name}', or is no "
                f"OpenAI-compatible server; {DECISION_MODELS} ({message})"
            )
        parameter = problem.parameter(body, self._taken)
        if parameter:
            advice = parameter_advice(parameter)
            return InputError(f"{self.model} refuses the parameter '{parameter}': {advice} ({message})")
        if problem.status == HTTPStatus.FORBIDDEN:
            return Refused(f"{public(self._url)} forbids it ({message})")
        return None

    def _refused_key(self, status: int) -> str:
        """That the server refuses the key, or calls without one."""
        sent = "authorization" in self._connection.headers or self._connection.azure
        variable = self._connection.key_variable
        key = f"the key in {variable}" if sent else f"calls without a key; set {variable}"
        return f"{public(self._url)} refuses {key} (HTTP {status})"
