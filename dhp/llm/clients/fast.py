"""A client for OpenAI-compatible servers: the chat completions protocol over aiohttp.

The official client costs ten times the processor time a call; the requests are the same.
"""

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from dhp.core.errors import InputError, StoppedEarly
from dhp.llm.clients.responses import Problem, Unreadable, problem_inside, read_problem, read_replies
from dhp.llm.engine.rate_limits import retry_after
from dhp.llm.records import Reply, Request

if TYPE_CHECKING:
    import aiohttp

OPENAI_URL = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"
_LOGPROBS = (20, 5, 0)
"""Alternatives a token that servers are asked for, until one of these is not refused."""
_CONNECT_SECONDS = 15.0
_SHORTEST_SECRET = 12  # characters
_ADVICE = {
    "temperature": "--temperature default leaves it to the model",
    "top_p": "--top-p default leaves it to the model",
    "max_tokens": "--answer-tokens sets another number",
    "max_completion_tokens": "--answer-tokens sets another number",
}


class Retry(Exception):
    """This call failed and may succeed later."""

    def __init__(self, reason: str, *, after: float | None = None, overload: bool = False) -> None:
        super().__init__(reason)
        self.after = after
        """Seconds that the server asks to wait."""
        self.overload = overload
        """Whether fewer calls at once would help."""


class Rejected(Exception):
    """This request will never be answered, others may be."""


class Unreachable(Retry):
    """No server answers at the address."""


class Garbled(Retry):
    """What answers does not speak the protocol."""


class OpenAIClient:
    """One model behind one address.

    Parameters
    ----------
    name
        The model's name as the server knows it.
    base_url
        Up to and including `/v1`; default: `OPENAI_BASE_URL`, else OpenAI's own.
    timeout
        Seconds for one call.

    Raises
    ------
    InputError
        If the address is none.
    """

    def __init__(self, name: str, base_url: str | None = None, *, timeout: float = 120.0) -> None:
        self.model = f"openai/{name}"
        self._name = name
        self._url = (base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL).rstrip("/")
        _check_address(self._url)
        self.endpoint = self._url
        self._key = os.environ.get(KEY_VARIABLE, "").strip()
        self.timeout = timeout
        self._session: aiohttp.ClientSession | None = None
        self.many = True
        """Whether the server gives several samples in one call."""
        self._tokens = "max_tokens"
        self._seed = True
        self._logprobs = _LOGPROBS[0]
        self._answered = False
        self.notes: list[str] = []
        """What had to be asked otherwise than planned."""

    async def open(self) -> None:
        """Open the connections; must be called in the loop that will make the calls.

        Raises `InputError` if OpenAI's own server is meant and there is no key in `OPENAI_API_KEY`.
        """
        import aiohttp

        if not self._key and self._url == OPENAI_URL:
            raise InputError(
                f"{self.model}: there is no key in {KEY_VARIABLE}; set it, or name a server by --base-url"
            )
        if not self._key.isprintable():
            raise InputError(f"{KEY_VARIABLE} holds a line break or another control character")
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(total=self.timeout, sock_connect=_CONNECT_SECONDS),
            headers=headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=_proxy(self._url),
        )

    async def close(self) -> None:
        """Close the connections."""
        if self._session:
            await self._session.close()

    async def complete(self, request: Request, samples: tuple[int, ...]) -> list[Reply]:
        """One call for `samples` of a request; fewer replies than samples where the server ignores `n`.

        Raises
        ------
        Retry, Rejected
            See there.
        InputError
            If going on is pointless: key, model or parameter refused, prompt too long.
        StoppedEarly
            If the account is empty.
        """
        while True:
            body = self.body(request, samples)
            status, headers, answer = await self._post(body)
            problem = read_problem(status, answer) if status != 200 else problem_inside(answer)
            if problem is not None:
                problem = replace(problem, message=self._hidden(problem.message))
            if problem is None:
                return self._read(answer, len(samples))
            self._learn(problem, body)
            if "n" in body and not self.many:
                return []
            if self.body(request, samples) == body:
                raise self._error(problem, request, body, headers)

    def body(self, request: Request, samples: tuple[int, ...]) -> dict[str, Any]:
        """The call's JSON."""
        params = request.params
        body: dict[str, Any] = {
            "model": self._name,
            "messages": [{"role": "user", "content": request.prompt}],
            self._tokens: params.max_tokens,
        }
        if params.temperature is not None:
            body["temperature"] = params.temperature
        if params.top_p is not None:
            body["top_p"] = params.top_p
        if params.seed is not None and self._seed:
            body["seed"] = params.seed + samples[0]
        if len(samples) > 1:
            body["n"] = len(samples)
        if logprobs := min(params.top_logprobs, self._logprobs):
            body["logprobs"] = True
            body["top_logprobs"] = logprobs
        return body

    async def _post(self, body: dict[str, Any]) -> tuple[int, Any, bytes]:
        import aiohttp

        assert self._session is not None
        data = json.dumps(body, ensure_ascii=False).encode(errors="replace")
        try:
            async with self._session.post(f"{self._url}/chat/completions", data=data) as response:
                answer = await response.read()
                return response.status, response.headers, answer
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as e:
            raise Unreachable(f"no server answers at {self._url} ({self._hidden(_why(e))})") from None
        except TimeoutError:
            raise Retry(f"no answer within {self.timeout:g} seconds", overload=True) from None
        except (aiohttp.ClientError, OSError) as e:
            raise Retry(f"the connection broke ({self._hidden(_why(e))})") from None

    def _read(self, body: bytes, samples: int) -> list[Reply]:
        try:
            replies = read_replies(body)[:samples]
        except Unreadable as e:
            raise Garbled(self._hidden(str(e))) from None
        self._answered = True
        if len(replies) < samples and self.many:
            self.many = False
            self.notes.append("the server ignores n: samples are asked one by one")
        return replies

    def _learn(self, problem: Problem, body: dict[str, Any]) -> None:
        """Ask the same in another way from now on, where a refused parameter leaves one."""
        match problem.parameter(body):
            case "max_tokens" if not problem.too_many and not problem.too_long:
                self._tokens = "max_completion_tokens"
            case "n" if self.many:
                self.many = False
                self.notes.append("the server refuses n: samples are asked one by one")
            case "seed" if self._seed:
                self._seed = False
                self.notes.append("the server refuses seed: sampling cannot be repeated there")
            case "top_logprobs" | "logprobs" if body["top_logprobs"] == self._logprobs:
                fewer = problem.too_many or problem.named == "top_logprobs"
                self._logprobs = _LOGPROBS[_LOGPROBS.index(self._logprobs) + 1] if fewer else 0
                self.notes.append(f"the server gives at most {self._logprobs} log-probabilities a token")

    def _error(self, problem: Problem, request: Request, body: dict[str, Any], headers: Any) -> Exception:
        said = problem.reason
        if problem.out_of_money:
            return StoppedEarly(f"{self.model}: {said}; fill the account and run the same command again")
        if problem.too_long:
            return InputError(
                f"{request.place}: the prompt is too long for {self.model} ({said}); nothing was cut off; "
                "choose a model with a longer context or leave the example out"
            )
        if problem.transient:
            after = retry_after(headers.get("Retry-After"))
            return Retry(said, after=after, overload=problem.overload)
        if problem.moderated:
            return Rejected(f"content filter: {said}")
        if problem.wrong_key:
            key = f"the key in {KEY_VARIABLE}" if self._key else f"calls without a key; set {KEY_VARIABLE}"
            return InputError(f"{self.model}: {self._url} refuses {key} (HTTP {problem.status})")
        if problem.no_model:
            return InputError(
                f"{self.model}: {self._url} does not know the model '{self._name}', "
                f"or is no OpenAI-compatible server ({said})"
            )
        parameter = problem.parameter(body)
        if parameter and not self._answered:
            advice = _ADVICE.get(parameter, "another server may take it")
            return InputError(f"{self.model} refuses the parameter '{parameter}': {advice} ({said})")
        if problem.status == 403:
            return InputError(f"{self.model}: {self._url} forbids it ({said})")
        return Rejected(said)

    def _hidden(self, said: str) -> str:
        """An error message without the key; a word for a key, as local servers take, is no secret."""
        return said.replace(self._key, "***") if len(self._key) >= _SHORTEST_SECRET else said


def _check_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        fits = fits and not (parts.username or parts.query)
    except ValueError:
        parts, fits = urlsplit(""), False
    if not fits:
        shown = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()
        raise InputError(
            f"base URL '{shown}': must have the form http://HOST:PORT/v1, without name, key or query"
        )


def _proxy(url: str) -> str | None:
    """The proxy that the environment names for an address; aiohttp would read it, and netrc, at each call."""
    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.hostname):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def _why(error: BaseException) -> str:
    return str(getattr(error, "os_error", None) or error) or type(error).__name__
