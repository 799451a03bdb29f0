"""The transport by the official package `openai`, Azure included."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dhp.core.errors import InputError
from dhp.llm.clients.connection import Connection, by_proxy, find_proxy
from dhp.llm.clients.transport import RawReply, Retry, Unreachable

if TYPE_CHECKING:
    import openai

_CONNECT_SECONDS = 15.0
_NO_CONNECTION = ("ConnectError", "ConnectTimeout")
"""Causes of an error of the package, by name: their module depends on its version."""


class SdkTransport:
    """Calls through `openai.AsyncOpenAI` or `AsyncAzureOpenAI`; `timeout` is in seconds for one call."""

    def __init__(self, connection: Connection, timeout: float) -> None:
        self._connection = connection
        self._timeout = timeout
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
            "timeout": openai.Timeout(self._timeout, connect=_CONNECT_SECONDS),
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

    async def post(self, url: str, body: Mapping[str, object], most: int) -> RawReply:
        """See `Transport`."""
        import openai

        assert self._client is not None
        self._most = max(self._most, most)
        if not self._connection.azure:
            self._client.base_url = url
        arguments: Any = body
        try:
            async with asyncio.timeout(self._timeout):
                raw = await self._client.chat.completions.with_raw_response.create(
                    **arguments, **self._further
                )
            return RawReply(raw.status_code, raw.headers, raw.content)
        except openai.APIStatusError as e:
            return RawReply(e.status_code, e.response.headers, e.response.content)
        except (TimeoutError, openai.APIConnectionError) as e:
            cause = e.__cause__
            if type(cause).__name__ in _NO_CONNECTION:
                raise Unreachable(f"no server answers at {url} ({cause}{by_proxy(url)})") from None
            if isinstance(e, TimeoutError | openai.APITimeoutError):
                raise Retry(f"no answer within {self._timeout:g} seconds", overload=True) from None
            raise Retry(f"the connection broke ({cause or e})") from None
