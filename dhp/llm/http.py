"""A client for OpenAI-compatible servers: the chat completions protocol over aiohttp.

The official client costs ten times the processor time a call; the requests are the same.
"""

import json
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from dhp.errors import DhpError, InputError, StoppedEarly
from dhp.llm.pace import retry_after
from dhp.llm.records import Reply, Request
from dhp.llm.responses import Problem, Unreadable, read_problem, read_replies

if TYPE_CHECKING:
    import aiohttp

OPENAI_URL = "https://api.openai.com/v1"
KEY_VARIABLE = "OPENAI_API_KEY"
_LOGPROBS = (20, 5, 0)
"""Alternatives a token that servers are asked for, until one of these is not refused."""


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
        If the address is none, or OpenAI's own is meant and there is no key in `OPENAI_API_KEY`.
    """

    def __init__(self, name: str, base_url: str | None = None, *, timeout: float = 120.0) -> None:
        self.model = f"openai/{name}"
        self._name = name
        self._url = (base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL).rstrip("/")
        parts = urlsplit(self._url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise InputError(
                f"base URL '{parts._replace(netloc=parts.hostname or '', query='').geturl()}': "
                "must have the form http://HOST:PORT/v1, without name, key or query"
            )
        self.endpoint = self._url
        self._key = os.environ.get(KEY_VARIABLE, "").strip()
        if not self._key and self._url == OPENAI_URL:
            raise InputError(
                f"{self.model}: there is no key in {KEY_VARIABLE}; set it, or name a server by --base-url"
            )
        self._timeout = timeout
        self._session: aiohttp.ClientSession | None = None
        self.many = True
        """Whether the server gives several samples in one call."""
        self._tokens = "max_tokens"
        self._seed = True
        self._most_logprobs = _LOGPROBS[0]
        self.notes: list[str] = []
        """What had to be asked otherwise than planned."""

    async def open(self) -> None:
        """Open the connections; must be called in the loop that will make the calls."""
        import aiohttp

        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(total=self._timeout),
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
            If no call to this server can succeed: key, model or parameter refused, prompt too long.
        StoppedEarly
            If the account is empty.
        """
        while True:
            body = self.body(request, samples)
            status, headers, answer = await self._post(body)
            if status == 200:
                return self._read(answer, len(samples))
            problem = read_problem(status, answer)
            self._learn(problem)
            if "n" in body and not self.many:
                return []
            if self.body(request, samples) == body:
                raise self._error(problem, request, headers)

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
        if logprobs := min(params.top_logprobs, self._most_logprobs):
            body["logprobs"] = True
            body["top_logprobs"] = logprobs
        return body

    async def _post(self, body: dict[str, Any]) -> tuple[int, Any, bytes]:
        import aiohttp

        assert self._session is not None
        data = json.dumps(body, ensure_ascii=False).encode(errors="replace")
        try:
            async with self._session.post(f"{self._url}/chat/completions", data=data) as response:
                return response.status, response.headers, await response.read()
        except aiohttp.ClientConnectorError as e:
            raise Unreachable(f"no server answers at {self._url} ({self._hidden(_why(e))})") from None
        except TimeoutError:
            raise Retry(f"no answer within {self._timeout:g} seconds", overload=True) from None
        except (aiohttp.ClientError, OSError) as e:
            raise Retry(f"the connection broke ({self._hidden(_why(e))})") from None

    def _read(self, body: bytes, samples: int) -> list[Reply]:
        try:
            replies = read_replies(body)[:samples]
        except Unreadable as e:
            raise Retry(self._hidden(str(e))) from None
        if len(replies) < samples and self.many:
            self.many = False
            self.notes.append("the server ignores n: samples are asked one by one")
        return replies

    def _learn(self, problem: Problem) -> None:
        """Ask the same in another way from now on, where a refused parameter leaves one."""
        match problem.parameter:
            case "max_tokens" if self._tokens == "max_tokens":
                self._tokens = "max_completion_tokens"
            case "n" if self.many:
                self.many = False
                self.notes.append("the server refuses n: samples are asked one by one")
            case "seed" if self._seed:
                self._seed = False
                self.notes.append("the server refuses seed: sampling cannot be repeated there")
            case "top_logprobs" | "logprobs" if self._most_logprobs:
                fewer = _LOGPROBS[_LOGPROBS.index(self._most_logprobs) + 1]
                self._most_logprobs = fewer if problem.parameter == "top_logprobs" else 0
                self.notes.append(f"the server gives at most {self._most_logprobs} log-probabilities a token")

    def _error(self, problem: Problem, request: Request, headers: Any) -> Exception:
        said = self._hidden(problem.reason)
        if problem.out_of_money:
            return StoppedEarly(f"{self.model}: {said}; fill the account and run the same command again")
        if problem.transient:
            after = retry_after(headers.get("Retry-After"))
            return Retry(said, after=after, overload=problem.status in (429, 503))
        if problem.status in (401, 403):
            return InputError(
                f"{self.model}: {self._url} refuses the key in {KEY_VARIABLE} (HTTP {problem.status})"
            )
        if problem.status == 404:
            return InputError(
                f"{self.model}: {self._url} does not know the model '{self._name}', "
                f"or is no OpenAI-compatible server ({said})"
            )
        if problem.too_long:
            return InputError(
                f"{request.place}: the prompt is too long for {self.model} ({said}); nothing was cut off; "
                "choose a model with a longer context or leave the example out"
            )
        if problem.parameter:
            return self._refused(problem.parameter, said)
        return Rejected(said if not problem.filtered else f"content filter: {said}")

    def _refused(self, parameter: str, said: str) -> DhpError:
        advice = {
            "temperature": "--temperature default leaves it to the model",
            "top_p": "--top-p default leaves it to the model",
            "max_tokens": "--answer-tokens sets another number",
            "max_completion_tokens": "--answer-tokens sets another number",
        }.get(parameter, "another server may take it")
        return InputError(f"{self.model} refuses the parameter '{parameter}': {advice} ({said})")

    def _hidden(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text


def _proxy(url: str) -> str | None:
    """The proxy that the environment names for an address; aiohttp would read it, and netrc, at each call."""
    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.hostname):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def _why(error: BaseException) -> str:
    return str(getattr(error, "os_error", None) or error) or type(error).__name__
