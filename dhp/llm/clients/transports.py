"""How the JSON of a call reaches a server: over aiohttp, or through the openai package.

aiohttp takes a fraction of the processor time of the package (`docs/architecture.md` has the figures), which
counts with servers that answer in milliseconds. The package speaks Azure's own protocol. Neither follows a
redirect or tries again, and neither reads more of an answer than it is told to.
"""

import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Protocol

from dhp.core.errors import InputError
from dhp.llm.api import Unreachable
from dhp.llm.clients.connection import Connection, find_proxy

if TYPE_CHECKING:
    import aiohttp
    import openai


_CONNECT_SECONDS = 15.0
"""To open a connection; a call itself may take as long as its caller lets it. Chosen."""


class Transport(Protocol):
    """Sends the JSON of a chat completion to a server."""

    async def open(self) -> None:
        """Open connections, in the loop that will make the calls.

        Raises `InputError` if the configuration cannot work.
        """

    async def close(self) -> None:
        """Close them."""

    async def post(
        self, url: str, body: Mapping[str, object], most: int
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body of the answer to one call; of a body longer than `most` one byte more.

        Header names are case-insensitive. Redirects are not followed and nothing is tried again.
        Raises `Unreachable` if no connection can be made, and `ConnectionError` if it breaks; the caller sees
        to it that a call does not take too long.
        """
        ...


class FastTransport:
    """Calls over aiohttp."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._session: aiohttp.ClientSession | None = None
        self._headers = {"content-type": "application/json", **connection.headers}

    async def open(self) -> None:
        """See `Transport`."""
        import aiohttp

        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=find_proxy(self._connection.urls[0]),  # aiohttp would read it, and netrc, at each call
        )

    async def close(self) -> None:
        """See `Transport`."""
        if self._session:
            await self._session.close()

    async def post(
        self, url: str, body: Mapping[str, object], most: int
    ) -> tuple[int, Mapping[str, str], bytes]:
        """See `Transport`."""
        data = json.dumps(body, ensure_ascii=False).encode()
        return await self.send(f"{url}/chat/completions", data, most)

    async def send(self, address: str, data: bytes, most: int) -> tuple[int, Mapping[str, str], bytes]:
        """Like `post`, with the whole address of a call and the body as bytes."""
        import aiohttp

        assert self._session is not None
        # The session holds no header: aiohttp would send it to the proxy, too, a key as the proxy's own.
        call = self._session.post(address, data=data, headers=self._headers, allow_redirects=False)
        try:
            async with call as response:
                return response.status, response.headers, await _read(response, most)
        except aiohttp.ClientHttpProxyError as e:
            return refused_by_proxy(e.status, e.message)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as e:
            raise Unreachable(_why(e)) from None
        except (aiohttp.ClientError, OSError) as e:
            raise ConnectionError(_why(e)) from None


async def _read(response: "aiohttp.ClientResponse", most: int) -> bytes:
    """The body, unpacked as it comes; one byte more than `most` of what is longer."""
    # The usual answer names its length. A packed one names that of the package, which may unpack to anything.
    length, packed = response.content_length, "Content-Encoding" in response.headers
    if length is not None and length <= most and not packed:
        return await response.read()
    body = bytearray()
    while len(body) <= most:
        chunk = await response.content.readany()
        if not chunk:
            break
        body += chunk
    return bytes(body[: most + 1])


def _why(error: BaseException) -> str:
    """What the system says, which aiohttp keeps as `os_error`; else the error's own words, or its name."""
    return str(getattr(error, "os_error", None) or error) or type(error).__name__


def refused_by_proxy(status: int, reason: str) -> tuple[int, Mapping[str, str], bytes]:
    """The answer to a call that a proxy refuses, as it wants to know who calls.

    Raises `Unreachable` if it has another reason.
    """
    if status != HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        raise Unreachable(f"HTTP {status} {reason}".rstrip())
    return status, {}, b""


_NO_CONNECTION = ("ConnectError", "ConnectTimeout", "ProxyError")
"""Causes of an error of the package, by name: their module depends on its version."""
_BY_PROXY = re.compile(r"(\d{3}) *(.*)")
"""What a proxy says, in the message of such a cause: status and reason, `403 Forbidden`."""


class SdkTransport:
    """Calls through `openai.AsyncOpenAI` or `AsyncAzureOpenAI`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._client: openai.AsyncOpenAI | None = None
        self._most = 0
        """Bytes of a body: one bound for all calls, as the hook does not know whose body it reads."""
        self._further: dict[str, Any] = {}

    async def open(self) -> None:
        """See `Transport`."""
        import openai

        connection = self._connection
        find_proxy(connection.urls[0])  # httpx finds it by itself: here one of another kind is refused
        settings: dict[str, Any] = {
            "max_retries": 0,
            "timeout": openai.Timeout(None, connect=_CONNECT_SECONDS),
            "http_client": openai.DefaultAsyncHttpxClient(
                follow_redirects=False, event_hooks={"response": [self._read]}
            ),
        }
        try:
            if connection.azure:
                self._client = openai.AsyncAzureOpenAI(azure_endpoint=connection.urls[0], **settings)
                return
            # Without a key of the user's own the package would send "Bearer none".
            if "authorization" not in connection.headers:
                self._further["extra_headers"] = {"Authorization": openai.Omit()}
            self._client = openai.AsyncOpenAI(
                base_url=connection.urls[0],
                api_key=connection.key or "none",
                default_headers=connection.headers,
                **settings,
            )
        except (openai.OpenAIError, ValueError) as e:
            raise InputError(f"the openai package: {' '.join(str(e).split())}") from None

    async def close(self) -> None:
        """See `Transport`."""
        if self._client:
            await self._client.close()

    async def _read(self, response: Any) -> None:
        """Read a body before the package does, which would read it whole however long it is."""
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > self._most:
                break
        await response.aclose()
        response._content = bytes(body[: self._most + 1])

    async def post(
        self, url: str, body: Mapping[str, object], most: int
    ) -> tuple[int, Mapping[str, str], bytes]:
        """See `Transport`."""
        import openai

        assert self._client is not None
        self._most = max(self._most, most)
        if not self._connection.azure:
            self._client.base_url = url
        # The package takes no field that it does not know but in `extra_body`.
        rest = dict(body)
        known = {"model": rest.pop("model"), "messages": rest.pop("messages")}
        arguments: Any = {**known, "extra_body": rest, **self._further}
        try:
            raw = await self._client.chat.completions.with_raw_response.create(**arguments)
            return raw.status_code, raw.headers, raw.content
        except openai.APIStatusError as e:
            return e.status_code, e.response.headers, e.response.content
        except openai.APIConnectionError as e:
            cause = e.__cause__ or e
            match = _BY_PROXY.match(str(cause)) if type(cause).__name__ == "ProxyError" else None
            if match:
                return refused_by_proxy(int(match[1]), match[2])
            kind = Unreachable if type(cause).__name__ in _NO_CONNECTION else ConnectionError
            raise kind(str(cause)) from None
