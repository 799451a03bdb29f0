"""The interface of transports, and the failures of a call."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


class Retry(Exception):
    """This call failed and may succeed later."""

    def __init__(self, reason: str, *, after: float | None = None, overload: bool = False) -> None:
        super().__init__(reason)
        self.after = after
        """Seconds that the server asks to wait."""
        self.overload = overload
        """Whether fewer calls at once would help."""


class Unreachable(Retry):
    """No server answers at the address."""


class Garbled(Retry):
    """What answers does not speak the protocol."""


class Rejected(Exception):
    """This request will never be answered, others may be."""


class Refused(Rejected):
    """The caller, the model or the address is refused, and most likely for any other request, too."""


class TooLong(Rejected):
    """The prompt of this request does not fit into the model's context."""


@dataclass(frozen=True, slots=True)
class RawReply:
    """What came back over the wire."""

    status: int
    headers: Mapping[str, str]
    """Names in any case; `get` does not mind."""
    body: bytes
    """What is longer than was allowed ends after one byte more."""


class Transport(Protocol):
    """Sends the JSON of a chat completion to a server."""

    async def open(self) -> None:
        """Open connections, in the loop that will make the calls.

        Raises `InputError` where the configuration cannot work.
        """

    async def close(self) -> None:
        """Close them."""

    async def post(self, url: str, body: Mapping[str, object], most: int) -> RawReply:
        """One call, of whose answer at most so many bytes are read.

        Redirects are not followed and nothing is tried again. Raises `Unreachable` if no connection can be
        made, and `Retry` if it breaks, or no answer comes in time.
        """
        ...
