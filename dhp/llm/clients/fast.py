"""The fast transport by aiohttp: the calls of the official package at a tenth of its CPU time."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from dhp.llm.clients.connection import Connection, by_proxy, find_proxy
from dhp.llm.clients.transport import RawReply, Retry, Unreachable

if TYPE_CHECKING:
    import aiohttp

_CONNECT_SECONDS = 15.0


class FastTransport:
    """Calls over aiohttp; `timeout` is in seconds for one call."""

    def __init__(self, connection: Connection, timeout: float) -> None:
        self._connection = connection
        self._timeout = timeout
        self._session: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        """See `Transport`."""
        import aiohttp

        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            timeout=aiohttp.ClientTimeout(total=self._timeout, sock_connect=_CONNECT_SECONDS),
            headers={"content-type": "application/json", **self._connection.headers},
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=find_proxy(self._connection.urls[0]),  # aiohttp would read it, and netrc, at each call
        )

    async def close(self) -> None:
        """See `Transport`."""
        if self._session:
            await self._session.close()

    async def post(self, url: str, body: Mapping[str, object], most: int) -> RawReply:
        """See `Transport`."""
        import aiohttp

        assert self._session is not None
        data = json.dumps(body, ensure_ascii=False).encode()
        address = f"{url}/chat/completions"
        try:
            async with self._session.post(address, data=data, allow_redirects=False) as response:
                return RawReply(response.status, response.headers, await _read(response, most))
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as e:
            raise Unreachable(f"no server answers at {url} ({_why(e)}{by_proxy(url)})") from None
        except TimeoutError:
            raise Retry(f"no answer within {self._timeout:g} seconds", overload=True) from None
        except (aiohttp.ClientError, OSError) as e:
            raise Retry(f"the connection broke ({_why(e)})") from None


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
