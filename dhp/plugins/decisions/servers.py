"""Servers of decision models: addresses, keys, and what they take, by provider and by host."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from dhp.core.errors import InputError
from dhp.core.secrets import remember
from dhp.llm.clients.connection import Connection, check_address, public, warn_if_readable

SYSTEM_ONE, DECISIONS = "systemone", "decisions"
"""Ends of the two addresses, by which the wire forms are called."""


@dataclass(frozen=True, slots=True)
class DecisionServer:
    """A provider of decision models."""

    url: str = ""
    """Its address, up to what comes before `/systemone` or `/decisions`; empty if each user has an own one.
    `{VARIABLE}` stands for a variable of the environment."""
    keys: tuple[str, ...] = ()
    """Variables, one of which holds the key."""
    addresses: tuple[str, ...] = ()
    """Variables, one of which may hold another address."""
    forms: tuple[str, ...] = (SYSTEM_ONE, DECISIONS)
    """Wire forms to try, the likeliest first."""
    path: str = "/v1"
    """Behind an address without a path."""
    most_questions: int = 255
    """Questions of one request that it takes."""
    by_model: bool = False
    """Whether the address of a call ends with the name of the model."""


SERVERS: Mapping[str, DecisionServer] = {
    "azure_ai": DecisionServer(
        "", ("AZURE_AI_API_KEY",), ("AZURE_AI_API_BASE",), (SYSTEM_ONE,), "/providers/microsoft/v1"
    ),
    "cloudflare": DecisionServer(
        "https://api.cloudflare.com/client/v4/accounts/{CLOUDFLARE_ACCOUNT_ID}/ai/run",
        ("CLOUDFLARE_API_KEY",),
        ("CLOUDFLARE_API_BASE",),
        (SYSTEM_ONE,),
        by_model=True,
    ),
    "databricks": DecisionServer("", ("DATABRICKS_TOKEN", "DATABRICKS_API_KEY"), ("DATABRICKS_API_BASE",)),
    "decisionapi": DecisionServer("https://decisionapi.net/v1", ("JEV_API_KEY",), most_questions=8),
    "fireworks": DecisionServer(
        "https://api.fireworks.ai/inference/v1",
        ("FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY"),
        ("FIREWORKS_API_BASE",),
    ),
    "hosted_vllm": DecisionServer("", ("HOSTED_VLLM_API_KEY",), ("HOSTED_VLLM_API_BASE",)),
    "laya": DecisionServer("", ("LAYA_API_KEY",), ("LAYA_API_BASE",)),
    "openai": DecisionServer(
        "https://api.openai.com/v1",
        ("OPENAI_API_KEY",),
        ("OPENAI_BASE_URL",),
        (DECISIONS,),
        most_questions=400,
    ),
    "openrouter": DecisionServer(
        "https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",), ("OPENROUTER_API_BASE",)
    ),
    "perplexity": DecisionServer(
        "https://api.perplexity.ai/v1",
        ("PERPLEXITY_API_KEY", "PERPLEXITYAI_API_KEY"),
        ("PERPLEXITY_API_BASE",),
        (DECISIONS,),
    ),
    "typesafe": DecisionServer(
        "https://api.typesafe.ai/v1", ("TYPESAFE_API_KEY",), ("TYPESAFE_BASE_URL", "TYPESAFE_API_BASE")
    ),
    "vercel": DecisionServer("https://ai-gateway.vercel.sh/typesafe/v1", ("AI_GATEWAY_API_KEY",)),
}
"""Provider, as in `decisions/PROVIDER/NAME` -> its server."""


def find_server(name: str, base_url: str | None) -> tuple[str, DecisionServer, Connection]:
    """The name of a model at its server, the server, and the connection to it.

    Without `base_url` the first part of the name may be a provider; else `gpt-...` is OpenAI's, and any other
    name TypeSafe's, whose variables may name another server. With it the key is that of the host's owner.
    Raises `InputError` for an invalid address, and for a provider without one.
    """
    provider, slash, rest = name.partition("/")
    if base_url is not None:
        server, address, what = _of_host(base_url), base_url, "base URL"
    else:
        # A name without a provider may have a slash of its own: "org/model".
        if not (slash and provider in SERVERS):
            provider, rest = "openai" if name.startswith("gpt-") else "typesafe", name
        server, name = SERVERS[provider], rest
        address, what = _own_address(server), "address"
        variable = _first_set(server.addresses)
        if variable:
            address, what = _variable(variable), variable
        if not address:
            variables = " or ".join(server.addresses)
            raise InputError(f"decisions/{provider}/{rest}: {variables} is not set; set it, or `base_url`")
    # An address that ends in a wire form is for that one alone.
    url, forms = _without_form(address.rstrip("/"), server)
    check_address(url, what)
    if not urlsplit(url).path:
        url += server.path
    server = replace(server, forms=forms)
    return name, server, _connection(url, server, needs_key=url == _own_address(server))


def _connection(url: str, server: DecisionServer, *, needs_key: bool) -> Connection:
    # The first variable that is set; if none is, the first one is named to the user.
    variable = _first_set(server.keys) or server.keys[0]
    key = _variable(variable)
    if remember(key):
        warn_if_readable(url)
    return Connection(
        (url,),
        public(url),
        key_variable=variable,
        needs_key=needs_key,
        key=key,
        headers={"authorization": f"Bearer {key}"} if key else {},
    )


def _of_host(address: str) -> DecisionServer:
    """The server of the host's owner; of an unknown host one with TypeSafe's key and either wire form."""
    host = urlsplit(address).hostname or ""
    for server in SERVERS.values():
        if server.url and urlsplit(server.url).hostname == host:
            return server
    if "databricks" in host:
        return SERVERS["databricks"]
    return DecisionServer("", SERVERS["typesafe"].keys)


def _without_form(url: str, server: DecisionServer) -> tuple[str, tuple[str, ...]]:
    """An address without the end that names its wire form, and the forms to try."""
    for form in (SYSTEM_ONE, DECISIONS):
        if url.endswith(f"/{form}"):
            return url.removesuffix(f"/{form}"), (form,)
    return url, server.forms


def _own_address(server: DecisionServer) -> str:
    """The provider's address; empty if a variable that is in it is not set."""
    url = server.url
    if "{" in url:
        name = url[url.index("{") + 1 : url.index("}")]
        url = url.replace(f"{{{name}}}", _variable(name)) if _variable(name) else ""
    return url


def _first_set(names: Sequence[str]) -> str:
    """The first of these variables that is set; empty if none is."""
    for name in names:
        if _variable(name):
            return name
    return ""


def _variable(name: str) -> str:
    return os.environ.get(name, "").strip()
