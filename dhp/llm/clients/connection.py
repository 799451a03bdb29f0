"""Address and key of a server, from `--base-url` and the environment, and whether it can be reached.

The variables are those of the official package, so that whoever uses it has nothing more to set:
`OPENAI_API_KEY`, `OPENAI_BASE_URL`, `OPENAI_ORG_ID`, `OPENAI_PROJECT_ID` and `OPENAI_CUSTOM_HEADERS`; for
Azure `AZURE_OPENAI_ENDPOINT`, `OPENAI_API_VERSION` and `AZURE_OPENAI_API_KEY` or `AZURE_OPENAI_AD_TOKEN`.
They are read here because importing the package takes half a second.
"""

import errno
import json
import logging
import os
import re
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPException
from ipaddress import ip_address
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPRedirectHandler,
    ProxyHandler,
    Request,
    build_opener,
    getproxies,
    proxy_bypass,
)

from dhp.core.errors import InputError
from dhp.core.hiding import hidden
from dhp.core.secrets import remember, remember_address
from dhp.core.seeding import text_hash
from dhp.llm.clients.servers import SERVERS, Server

OPENAI_URL = "https://api.openai.com/v1"
"""Address of OpenAI's own server, which needs a key."""
KEY_VARIABLE = "OPENAI_API_KEY"
"""Variable of the environment that holds the key, unless a provider has one of its own."""
_AZURE_VARIABLE = "AZURE_OPENAI_ENDPOINT"
_AZURE_KEYS = ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN")


@dataclass(frozen=True, slots=True)
class Connection:
    """A server and what opens it."""

    urls: tuple[str, ...]
    """Addresses to try, the likeliest first; two if the given one has no path."""
    endpoint: str
    """The server's name in stored replies and manifests; holds no secret."""
    azure: bool = False
    """Whether it is Azure's own protocol, which only the official package speaks here."""
    key_variable: str = KEY_VARIABLE
    """Environment variable that holds the key."""
    needs_key: bool = False
    """Whether no call can succeed without a key."""
    key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with each call, with the key."""

    def check(self, model: str) -> None:
        """Raise `InputError` if a provider's own server is meant without a key, or a header cannot be
        sent.
        """
        if self.needs_key and "authorization" not in self.headers:
            variable = self.key_variable
            raise InputError(f"{model}: {variable} is not set; set it, or name a server by `base_url`")
        for name, value in self.headers.items():
            if not value.isprintable() or not name.isprintable():
                variable = self.key_variable if name == "authorization" else f"the header {name!r}"
                raise InputError(f"{variable} holds a line break or another control character")

    def unanswered(self, url: str, why: str) -> str:
        """That no server answers at an address, in words."""
        proxy = find_proxy(url)
        way = f", by the proxy {_without_password(proxy)}" if proxy else ""
        return f"no server answers at {url} ({why}{way})"

    def unknown_to_proxy(self, url: str) -> str:
        """That the proxy on the way to an address wants a user, or another one."""
        parts, proxy = urlsplit(url), find_proxy(url)
        if proxy is None:  # another package has chosen it, or the server plays a proxy
            return "a proxy refuses the calls (HTTP 407); set HTTPS_PROXY=http://USER:PASSWORD@HOST:PORT"
        start, _, rest = _without_password(proxy).partition("://")
        return (
            f"the proxy {start}://{rest} refuses calls to {parts.hostname} (HTTP 407); set "
            f"{parts.scheme.upper()}_PROXY={start}://USER:PASSWORD@{rest}, or NO_PROXY={parts.hostname}"
        )


def find_connection(base_url: str | None) -> Connection:
    """The connection to a server.

    `base_url` goes up to and including `/v1`; a missing `/v1` is tried, the path of a call left out. Default:
    `OPENAI_BASE_URL`, else Azure if `AZURE_OPENAI_ENDPOINT` is set, else OpenAI's own. Raises `InputError`
    if the address is invalid.
    """
    address = base_url or os.environ.get("OPENAI_BASE_URL")
    azure = os.environ.get(_AZURE_VARIABLE)
    if azure and not address:
        return _azure(azure)
    url = (address or OPENAI_URL).rstrip("/").removesuffix("/chat/completions")
    check_address(url, "base URL")
    urls = (url,) if urlsplit(url).path else (f"{url}/v1", url)
    key = os.environ.get(KEY_VARIABLE, "").strip()
    headers = _headers(key)
    if _remember(headers):
        warn_if_readable(url)
    return Connection(urls, public(urls[0]), needs_key=urls[0] == OPENAI_URL, key=key, headers=headers)


def server_connection(provider: str, base_url: str | None) -> Connection:
    """The connection to a provider of `SERVERS`; `base_url`, else a variable, names another address.

    A missing path is filled in. Raises `InputError` if the address is invalid, or the provider has none of
    its own and none is given.
    """
    server = SERVERS[provider]
    of_variable = os.environ.get(server.address_variable, "").strip()  # of no name: of none
    if provider == "azure" and not base_url and of_variable and os.environ.get("OPENAI_API_VERSION"):
        return _azure(of_variable)
    what = server.address_variable if of_variable and not base_url else "base URL"
    url = _completed(base_url or of_variable or server.url, server)
    if not url:
        raise InputError(f"{provider}/NAME: {server.address_variable} is not set; set it, or `base_url`")
    check_address(url, what)
    variable, key = _first_key(server.keys)
    if remember(key):
        warn_if_readable(url)
    return Connection(
        (url,),
        public(url),
        key_variable=variable,
        needs_key=bool(server.keys) and not base_url,
        key=key,
        headers={"authorization": f"Bearer {key}"} if key else {},
    )


def _first_key(variables: Sequence[str]) -> tuple[str, str]:
    """The first variable that is set, and the key that it holds; else the first one, and no key."""
    for variable in variables:
        key = os.environ.get(variable, "").strip()
        if key:
            return variable, key
    return (*variables, KEY_VARIABLE)[0], ""


def _completed(address: str, server: Server) -> str:
    """An address with what its variable may leave out: scheme and port of a server here, and the path.

    `OLLAMA_HOST` is mostly `127.0.0.1:11434` or `0.0.0.0`.
    """
    url = address.rstrip("/").removesuffix("/chat/completions")
    if url and "://" not in url:
        usual = urlsplit(server.url)
        has_port = ":" in url.rpartition("]")[2]  # behind an address such as [::1]
        port = "" if has_port else f":{usual.port}"
        url = f"{usual.scheme}://{url}{port}"
    url = url.replace("://0.0.0.0", "://127.0.0.1")  # where it listens, which is no address to call
    return url if not url or urlsplit(url).path else url + server.path


def public(url: str) -> str:
    """The address for files, `key-` and a hash in place of each part of its path that is or may be a key."""
    parts = urlsplit(url)
    keys = remember_address(url)
    pieces = []
    for piece in parts.path.split("/"):
        is_key = piece in keys or hidden(piece) != piece
        # The hash keeps replies of different accounts apart.
        pieces.append(f"key-{text_hash(piece)}" if is_key else piece)
    return parts._replace(path="/".join(pieces)).geturl()


def warn_if_readable(url: str) -> None:
    """Warn if a key goes to another machine without encryption."""
    parts = urlsplit(url)
    if parts.scheme != "http":
        return
    warn, host = logging.getLogger("dhp").warning, parts.hostname or ""
    proxy = find_proxy(url)
    if proxy:
        warn(
            "the API key goes to %s over plain http, where the proxy %s reads it; https hides it, and "
            "NO_PROXY=%s leaves the proxy out",
            host,
            _without_password(proxy),
            host,
        )
    elif not _is_here(host):
        warn("the API key goes to %s over plain http, where others can read it; https hides it", host)


def _is_here(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _azure(address: str) -> Connection:
    """The connection to Azure by its own protocol, whose key the official package reads."""
    url = address.rstrip("/")
    check_address(url, _AZURE_VARIABLE)
    variable, _ = _first_key(_AZURE_KEYS)
    for name in _AZURE_KEYS:  # the package reads both by itself
        remember(os.environ.get(name, "").strip())
    _remember(_headers(""))
    version = os.environ.get("OPENAI_API_VERSION", "")
    return Connection((url,), f"{public(url)} api-version={version}", azure=True, key_variable=variable)


def _headers(key: str) -> dict[str, str]:
    """Authorization, organization and project, and the user's own, which replace these."""
    headers = {"authorization": f"Bearer {key}"} if key else {}
    for name, variable in (("openai-organization", "OPENAI_ORG_ID"), ("openai-project", "OPENAI_PROJECT_ID")):
        value = os.environ.get(variable)
        if value:
            headers[name] = value
    for line in os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n"):
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    return headers


def _remember(headers: Mapping[str, str]) -> bool:
    """Remember what is secret in headers; whether there is anything."""
    secrets = [value for name, value in headers.items() if name not in _OF_EVERY_CALL]
    return remember(*secrets)


_OF_EVERY_CALL = "accept accept-language content-type http-referer origin referer user-agent x-title".split()
"""Headers that hold no secret."""


def check_address(url: str, what: str) -> None:
    """Raise `InputError` for an address of another form, with `what` as its name and no secret of it."""
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        fits = fits and not (parts.username or parts.query or parts.fragment)
    except ValueError:  # no number as its port, or half an IPv6 address; none of it is shown
        parts, fits = urlsplit(""), False
    if not fits:
        shown = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
        raise InputError(
            f"{what} '{shown}': must have the form http://HOST:PORT/v1, without name, key, query or fragment"
        )


def find_proxy(url: str) -> str | None:
    """The proxy that the environment names for an address; raises `InputError` for one of another kind."""
    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.hostname):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy:
        return None

    proxy = proxy if "://" in proxy else f"http://{proxy}"
    remember_address(proxy)
    try:
        fits = urlsplit(proxy).scheme in ("http", "https") and urlsplit(proxy).port != 0
    except ValueError:
        fits = False
    if not fits:
        raise InputError(
            f"proxy '{_without_password(proxy)}' of the environment: allowed: http://HOST:PORT, or NO_PROXY="
            f"{parts.hostname}"
        )
    return proxy


def _without_password(proxy: str) -> str:
    """The address of a proxy for messages: `http://host:8080` of `http://me:word@host:8080`."""
    start, _, rest = proxy.partition("://")
    return f"{start}://{rest.rpartition('@')[2]}"


_SECONDS = 3.0
"""For the question whether a server is there; one that is slower is asked all the same. Chosen."""
_LONGEST = 2**16
"""Bytes of a refusal that are read. Chosen."""
_LONGEST_LIST = 2**22
"""Bytes of a list of models. Chosen."""
_UNREACHABLE = (errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH)
"""Errors of the system that no later call would be without."""
_TUNNEL_REFUSED = "Tunnel connection failed: 407"
"""How `http.client` says that a proxy wants a user."""
_OF_ITS_SCOPE = re.compile(r"scope|permission", re.I)
"""Words of a refusal of a key that may do other things than list models: "missing scopes"."""


class _NoRedirect(HTTPRedirectHandler):
    """A key goes to the server that was named and to no other."""

    def redirect_request(self, *_: object) -> None:
        return None


def _ask_models(url: str, headers: Mapping[str, str], timeout: float) -> Any:
    """The response of the server to the question for its models."""
    proxy = find_proxy(url)
    opener = build_opener(_NoRedirect, ProxyHandler({urlsplit(url).scheme: proxy} if proxy else {}))
    return opener.open(Request(f"{url}/models", headers=dict(headers)), timeout=timeout)


def server_fault(url: str, headers: Mapping[str, str]) -> str | None:
    """Why no call to the server at `url` can succeed: `key`, `proxy`, or what the system says; else None.

    Servers need not know `/models`, and a slow list is not a fault: only a connection that is refused, a host
    that is not there, a key that is refused (401, unless it merely may not list models) and a proxy that
    wants a user are.
    """
    try:
        with _ask_models(url, headers, _SECONDS):
            return None
    except HTTPError as e:
        if e.code == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
            return "proxy"
        is_refused = e.code == HTTPStatus.UNAUTHORIZED and not _OF_ITS_SCOPE.search(_body(e))
        return "key" if is_refused else None
    except URLError as e:
        why = e.reason
        if _TUNNEL_REFUSED in str(why):
            return "proxy"
        if isinstance(why, socket.gaierror) or (isinstance(why, OSError) and why.errno in _UNREACHABLE):
            return str(why)
    except (OSError, HTTPException, ValueError):  # a broken answer is one
        pass
    return None


def served_models(url: str, headers: Mapping[str, str], timeout: float) -> list[str]:
    """The names of the models that the server at `url` lists, sorted.

    Raises `OSError` (`TimeoutError` after `timeout` seconds) or `HTTPException` if the server cannot be
    reached or refuses, and `ValueError`, `TypeError`, `KeyError` or `RecursionError` if it answers with
    anything but a list of models, or one of more than 4 MiB.
    """
    end = time.monotonic() + timeout
    answer = b""
    with _ask_models(url, headers, timeout) as response:
        while True:
            piece = response.read1(2**16)
            if not piece:
                break
            answer += piece
            # Of the whole: the timeout of the connection starts anew with each piece.
            if time.monotonic() > end:
                raise TimeoutError
            if len(answer) > _LONGEST_LIST:
                raise ValueError("too long for a list of models")
    names = [str(model["id"]) for model in json.loads(answer)["data"]]
    return sorted(names)


def _body(error: HTTPError) -> str:
    try:
        return error.read(_LONGEST).decode(errors="replace")
    except (OSError, HTTPException):
        return ""
