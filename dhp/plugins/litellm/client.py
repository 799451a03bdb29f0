"""The transport by the package `litellm`, for providers with other protocols than OpenAI's.

The shared client writes a request in OpenAI's form; `LitellmTransport` hands it to the package, and gives
what comes back, an answer or one of its many exceptions, as a server of OpenAI's would send it.
"""

import json
import os
import re
from collections.abc import Mapping
from http import HTTPStatus
from importlib import import_module
from typing import Any

from dhp.core.errors import InputError, require
from dhp.core.secrets import remember
from dhp.llm.api import Unreachable
from dhp.llm.clients.connection import Connection, public, warn_if_readable
from dhp.llm.clients.openai_client import OpenAIClient
from dhp.llm.settings import ModelSettings

_KEY = "the variable of its provider, such as ANTHROPIC_API_KEY"
_BY_PROXY = ("ProxyError", "ClientHttpProxyError")
"""What the packages below litellm raise for a proxy."""
_MOVED = re.compile(r"HTTP (3\d\d) redirects to (\S+)")
"""Words of `_stay` in the error of the package: "HTTP 302 redirects to https://example.org/"."""
# The variable by which litellm takes the list of prices that it brings along.
_LOCAL_PRICES = "LITELLM_LOCAL_MODEL_COST_MAP"


def open_litellm(name: str, settings: ModelSettings) -> OpenAIClient:
    """The model called `litellm/NAME`, with NAME as litellm knows it, e.g. `anthropic/claude-haiku-4-5`.

    `base_url` is that of a server of one's own, as litellm's `api_base`; None takes the provider's. Raises
    `InputError` if the package is not installed, and for a transport.
    """
    base_url, timeout = settings.base_url, settings.timeout
    if settings.transport is not None:
        raise InputError(
            f"`transport` {settings.transport}: is for openai/NAME; litellm/{name} is reached by litellm"
        )
    require("litellm", purpose=f"model 'litellm/{name}'", extra="litellm")
    # litellm reads the key itself, from one of many variables: all that may be one are kept out of files.
    endings = ("_API_KEY", "_TOKEN", "_SECRET_ACCESS_KEY")
    secrets = [value for name, value in os.environ.items() if name.endswith(endings)]
    where = public(base_url) if base_url else "litellm"
    if remember(*secrets) and base_url:
        warn_if_readable(base_url)
    connection = Connection((where,), where, key_variable=_KEY)
    by = LitellmTransport(name, timeout, base_url)
    client = OpenAIClient(name, timeout=timeout, provider="litellm", connection=connection, connected=by)
    client.multi_sample = not name.startswith(("anthropic/", "claude"))  # these take no `n`
    return client


class LitellmTransport:
    """Calls through `litellm.acompletion`; its exceptions come back as the answers of a server."""

    def __init__(self, name: str, timeout: float, base_url: str | None) -> None:
        self._name = name
        self._timeout = timeout
        self._further: dict[str, Any] = {} if base_url is None else {"api_base": base_url}
        self._litellm: Any = None

    async def open(self) -> None:
        """See `Transport`."""
        os.environ.setdefault(_LOCAL_PRICES, "True")  # else importing it asks a server for prices
        self._litellm = import_module("litellm")
        self._litellm.suppress_debug_info = True
        self._litellm.telemetry = False
        _follow_no_redirect()
        try:
            self._litellm.get_llm_provider(self._name)
        except Exception as e:  # noqa: BLE001  a class of its own that only the package has
            raise InputError(
                f"model 'litellm/{self._name}': litellm does not know its provider "
                f"({type(e).__name__}); must have the form litellm/PROVIDER/NAME"
            ) from None

    async def close(self) -> None:
        """See `Transport`."""

    async def post(
        self, url: str, body: Mapping[str, object], most: int
    ) -> tuple[int, Mapping[str, str], bytes]:
        """See `Transport`; `url` is not needed, and the package reads a body whole before it is cut."""
        try:
            answer = await self._litellm.acompletion(
                **body, **self._further, timeout=self._timeout, num_retries=0, max_retries=0
            )
        except Exception as e:  # noqa: BLE001  one class of exceptions a provider; all have a status or none
            return self._refused(e)
        if body.get("stream"):
            # Pieces of a stream as a server sends them.
            events = ""
            async for chunk in answer:
                events += f"data: {json.dumps(chunk.model_dump(), default=str)}\n\n"
            written = events.encode()
        else:
            # Not by pydantic: it refuses lone surrogates and writes null for numbers that are not finite.
            written = json.dumps(answer.model_dump(), default=str).encode()
        return 200, {}, written[: most + 1]  # one byte more than is allowed says that it is too long

    def _refused(self, error: Exception) -> tuple[int, Mapping[str, str], bytes]:
        """The refusal of a provider or a proxy, as a server of OpenAI's would send it."""
        if _unknown_to_proxy(error):
            return HTTPStatus.PROXY_AUTHENTICATION_REQUIRED, {}, b""
        moved = _MOVED.search(str(error))
        if moved:
            return int(moved[1]), {"Location": moved[2].rstrip(".")}, b""
        if type(error).__name__ in ("Timeout", "APIConnectionError"):
            if "onnect" in str(error):  # "Connection refused", "Cannot connect to host"
                raise Unreachable(_first_line(error)) from None
            kind = TimeoutError if type(error).__name__ == "Timeout" else ConnectionError
            raise kind(_first_line(error)) from None
        content = _body(error)
        if content is not None:
            return getattr(error, "status_code", 400), {}, content
        # Any other error is told in the words of a server; without a status the request was bad.
        status = getattr(error, "status_code", None)
        problem = {"message": _first_line(error), "code": str(getattr(error, "code", None) or "")}
        headers = getattr(getattr(error, "response", None), "headers", None)
        status = status if isinstance(status, int) and status >= 300 else 400
        return status, dict(headers or {}), json.dumps({"error": problem}).encode()


def _follow_no_redirect() -> None:
    """Let the clients of the package go to no other host: the key of a provider is in a header of its own.

    The package has no setting for it, so its clients are changed where they are made.
    """
    openai = import_module("litellm.llms.openai.common_utils").BaseOpenAILLM
    others = import_module("litellm.llms.custom_httpx.http_handler").AsyncHTTPHandler
    if others.create_client.__module__ == __name__:  # changed already
        return
    create_for_openai, create = openai._get_async_http_client, others.create_client

    def for_openai(*arguments: Any, **more: Any) -> Any:
        client = create_for_openai(*arguments, **more)
        client.follow_redirects = False
        return client

    def create_client(self: Any, *arguments: Any, **more: Any) -> Any:
        client = create(self, *arguments, **more)
        client.event_hooks["response"].append(_stay)  # no setting: that would lose where it leads to
        return client

    openai._get_async_http_client = staticmethod(for_openai)
    others.create_client = create_client


async def _stay(response: Any) -> None:
    """Raise an error, which the package passes on, for an answer that leads to another address."""
    if response.has_redirect_location:
        raise ConnectionError(f"HTTP {response.status_code} redirects to {response.headers['location']}")


def _unknown_to_proxy(error: BaseException | None) -> bool:
    """Whether an error comes of a proxy that wants a user, however far down."""
    while error is not None:
        if type(error).__name__ in _BY_PROXY and "407" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _body(error: BaseException) -> bytes | None:
    """What the server itself said, if the package's own message leaves it out: a list of faults."""
    cause: BaseException | None = error
    while cause is not None:
        body = getattr(cause, "body", None)
        if isinstance(body, dict) and isinstance(body.get("detail"), list):
            return json.dumps(body, default=str).encode()
        cause = cause.__cause__ or cause.__context__
    return None


def _first_line(error: Exception) -> str:
    """Without the traceback that the package may put into its message."""
    return str(error).strip().partition("\n")[0].partition(" Traceback (")[0]
