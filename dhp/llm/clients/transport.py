"""Transports: their interface, the fast one by aiohttp and the one by `openai`."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from dhp.core.errors import InputError
from dhp.llm.api import Unreachable
from dhp.llm.clients.connection import Connection, find_proxy

if TYPE_CHECKING:
    import aiohttp
    import openai

_CONNECT_SECONDS = 15.0


class Transport(Protocol):
    """Sends the JSON of a chat completion to a server."""

    async def open(self) -> None:
        """Open connections, in the loop that will make the calls.

        Raises `InputError` where the configuration cannot work.
        """

    async def close(self) -> None:
        """Close them."""

    async def post(
        self, url: str, body: Mapping[str, object], most: int
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body of the answer to one call; of a body longer than `most` one byte more.

        Headers are got by their names in any case. Redirects are not followed and nothing is tried again.
        Raises `Unreachable` if no connection can be made, and `ConnectionError` if it breaks; the caller sees
        to it that a call does not take too long.
        """
        ...


class FastTransport:
    """Calls over aiohttp."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._session: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        """See `Transport`."""
        import aiohttp

        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
            headers={"content-type": "application/json", **self._connection.headers},
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
        import aiohttp

        assert self._session is not None
        data = json.dumps(body, ensure_ascii=False).encode()
        address = f"{url}/chat/completions"
        try:
            async with self._session.post(address, data=data, allow_redirects=False) as response:
                return response.status, response.headers, await _read(response, most)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as e:
            raise Unreachable(_why(e)) from None
        except (aiohttp.ClientError, OSError) as e:
            raise ConnectionError(_why(e)) from None


async def _read(response: "aiohttp.ClientResponse", most: int) -> bytes:
    """The body, unpacked as it comes; one byte more than `most` of what is longer."""
    length, packed = response.content_length, "Content-Encoding" in response.headers
    if length is not None and length <= most and not packed:
        return await response.read()
    body = bytearray()
    while len(body) <= most and (chunk := await response.content.readany()):
        body += chunk
    return bytes(body[: most + 1])


def _why(error: BaseException) -> str:
    return str(getattr(error, "os_error", None) or error) or type(error).__name__


_NO_CONNECTION = ("ConnectError", "ConnectTimeout")
"""Causes of an error of the package, by name: their module depends on its version."""


class SdkTransport:
    """Calls through `openai.AsyncOpenAI` or `AsyncAzureOpenAI`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._client: openai.AsyncOpenAI | None = None
        self._most = 0
        self._further: dict[str, Any] = {}

    async def open(self) -> None:
        """See `Transport`."""
        import openai

        connection = self._connection
        find_proxy(connection.urls[0])
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
            if "authorization" not in connection.headers:
                self._further["extra_headers"] = {"Authorization": openai.Omit()}
            self._client = openai.AsyncOpenAI(
                base_url=connection.urls[0],
                api_key=connection.key or "none",
                organization=connection.headers.get("openai-organization"),
                project=connection.headers.get("openai-project"),
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
        arguments: Any = body
        try:
            raw = await self._client.chat.completions.with_raw_response.create(**arguments, **self._further)
            return raw.status_code, raw.headers, raw.content
        except openai.APIStatusError as e:
            return e.status_code, e.response.headers, e.response.content
        except openai.APIConnectionError as e:
            cause = e.__cause__ or e
            kind = Unreachable if type(cause).__name__ in _NO_CONNECTION else ConnectionError
            raise kind(str(cause)) from None
