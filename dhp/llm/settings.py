"""Settings of language models: address, rate limits, cost.

`ModelSettings` is what a user sets. `context` makes what all requests of a run share, `open` the client or
the model in this process, and `filled` repeats the work while a filler answers its requests.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from dhp.core.checks import Checked, exclusive, first_stated
from dhp.core.errors import InputError, Waiting, suggest
from dhp.core.options import option
from dhp.core.secrets import hidden_words, remember_fields
from dhp.llm.clients.servers import OTHER_PROVIDERS, SERVERS, TransportName
from dhp.llm.limits import TIMEOUT, Limits, Prices, RateLimits

if TYPE_CHECKING:
    from dhp.llm.api import Client, LocalModel
    from dhp.llm.cached_model import RequestContext
    from dhp.llm.filler_settings import FillerSettings


T = TypeVar("T")
_OWN_FIELDS: Mapping[str, str] = {
    "model": "the model",
    "messages": "the protocol",
    "temperature": "`temperature`",
    "top_p": "`top_p`",
    "max_tokens": "`max_tokens`",
    "max_completion_tokens": "`max_tokens`",
    "n": "`samples`",
    "seed": "`seed`",
    "logprobs": "`extraction`",
    "top_logprobs": "`extraction`",
}
"""Fields of a request that are settings of their own."""


def read_fields(pairs: Sequence[str]) -> dict[str, object]:
    """`KEY=JSON` pairs as a mapping; what is no JSON is a text."""
    values: dict[str, object] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        remember_fields(value, name)
        shown = hidden_words(pair)
        if not (name and equals):
            raise ValueError(f"'{shown}': must have the form KEY=JSON, e.g. reasoning_effort=low")
        if name in values:
            raise ValueError(f"'{shown}': '{name}' is given twice; give it once")
        try:
            values[name] = json.loads(value)
        except (ValueError, RecursionError):
            if value.lstrip().startswith(("{", "[", '"')):
                raise ValueError(f"'{shown}': is broken JSON; must be JSON, or a word") from None
            values[name] = value
    remember_fields(values)
    return values


# Rules of `ModelSettings`: what is wrong with a combination of settings; None if nothing is.


def _no_reserved_field(settings: "ModelSettings") -> str | None:
    for name in settings.body:
        if name in _OWN_FIELDS:
            return f"`body` {name}: is set by {_OWN_FIELDS[name]}; leave it out"
    return None


def _priced(settings: "ModelSettings") -> str | None:
    if settings.limits.cost is None or None not in (settings.prices.prompt, settings.prices.completion):
        return None
    return "`limits.cost`: requires `prices.prompt` and `prices.completion`, per million tokens"


def _replies_for_a_filler(settings: "ModelSettings") -> str | None:
    if settings.filler is None or not settings.filler.is_used or (settings.store and not settings.refresh):
        return None
    fault = "`store=False`: would lose"
    if settings.refresh:
        fault = "`refresh`: would ask again"
    way = ""
    if is_dataclass(settings.filler):
        way = f" by `{first_stated(settings.filler)}`"
    return f"{fault} what is answered later{way}; leave out one of them"


@dataclass(frozen=True, slots=True)
class ModelSettings(Checked):
    """How models are reached, how hard they are worked, and what they may cost."""

    rules = (
        exclusive("store", "cache"),
        exclusive("store", "refresh"),
        exclusive("refresh", "limits"),
        exclusive("store", "limits"),
        _priced,
        _no_reserved_field,
        _replies_for_a_filler,
    )

    base_url: str | None = option(
        "Address of an OpenAI-compatible server, up to and with /v1.", default=None, metavar="URL"
    )
    timeout: float = option("Timeout of one call, in seconds.", default=TIMEOUT, metavar="SECONDS", gt=0)
    body: Mapping[str, object] = option(
        "Further field of each request to a judge, as JSON or a word, e.g. reasoning_effort=low; may be "
        "repeated.",
        default_factory=dict,
        metavar="KEY=JSON",
        repeatable=True,
        read=read_fields,
    )
    transport: TransportName | None = option(
        "HTTP client: fast, or sdk (the openai package); default: fast, for Azure sdk.", default=None
    )
    send_seed: bool = option(
        "Send a seed with requests that sample; some servers fail on it.",
        default=True,
        name="--send-seed/--no-seed",
    )
    rate_limits: RateLimits = field(default_factory=RateLimits)
    """How hard a server may be worked."""
    prices: Prices = field(default_factory=Prices)
    """What tokens cost, for estimates and costs."""
    limits: Limits = field(default_factory=Limits)
    """What the run may use before it stops."""
    cache: str | Path | None = option(
        "Folder of cached replies; default: the user's cache folder.", default=None, metavar="DIR"
    )
    store: bool = option(
        "Cache replies, so that none is paid for twice and a run can be resumed.",
        default=True,
        name="--store/--no-store",
    )
    refresh: bool = option("Ask again for cached replies and replace them.", default=False)
    keep_going: bool = option("Continue even if most of the first answers cannot be read.", default=False)
    same_model: bool = option(
        "Stop if the server's answers name another model than the first one does.", default=False
    )
    filler: "FillerSettings | None" = field(default=None, metadata={"hook": "fillers"})
    """What answers requests instead of the engine; None if the engine answers all."""
    device: str = option(
        "Device of hf/ and vllm/ models: auto, cpu, cuda, cuda:N, or all GPUs.",
        default="auto",
        metavar="NAME",
    )
    dtype: str = option(
        "Number type of hf/ and vllm/ models: auto, float32, bfloat16, float16.",
        default="auto",
        metavar="NAME",
    )
    batch_size: int | None = option(
        "Batch size of an hf/ model; default: what fits the device.", default=None, metavar="K", ge=1
    )
    chat_template: str | Path | None = option(
        "Jinja chat template of hf/ and vllm/ models, in place of their own.", default=None, metavar="FILE"
    )

    def __post_init__(self) -> None:
        remember_fields(self.body)
        Checked.__post_init__(self)  # `super()` fails in a dataclass with slots

    def context(self) -> "RequestContext":
        """A context with nothing spent; the store is opened when it is first used."""
        from dhp.core.files import cache_folder
        from dhp.llm.cached_model import RequestContext
        from dhp.llm.limits import Budget
        from dhp.llm.store import FILE, Store

        cache = Path(self.cache or cache_folder())
        return RequestContext(
            store=Store(cache / FILE) if self.store else None,
            refresh=self.refresh,
            rate_limits=self.rate_limits,
            budget=Budget(self.limits, self.prices),
            keep_going=self.keep_going,
            same_model=self.same_model,
            multi_sample=self.filler is None or self.filler.multi_sample,
            discounted=self.filler is not None and self.filler.discounted,
        )

    def filled(self, work: "Callable[[RequestContext], T]") -> "T":
        """What `work` gives once its requests are answered; it is repeated while a filler answers them.

        Each time it gets further, as the store holds more replies.
        """
        context = self.context()
        if self.filler is None or not self.filler.is_used:
            return work(context)
        assert context.store is not None, "checked by `_replies_for_a_filler`"
        filler = self.filler.open(context)
        context = replace(context, filler=filler)
        while True:
            try:
                result = work(context)
            except Waiting:  # it needs the answers of this round to go on
                pass
            else:
                filler.end()
                return result
            filler.fill()

    def open(self, model: str, context: "RequestContext") -> "Client | LocalModel":
        """The model called `openai/NAME`, or by a provider of a plug-in.

        Raises
        ------
        InputError
            For an unknown provider, an empty name, or what the model itself cannot do with these settings.
        """
        if model not in context.opened:
            # Before, so that nothing is loaded in vain; and after, when its address is known.
            if context.filler is not None:
                context.filler.check(model)
            opened = context.opened[model] = self._open(model)
            if context.filler is not None:
                context.filler.check(model, opened.endpoint)
        return context.opened[model]

    def _open(self, model: str) -> "Client | LocalModel":
        from dhp.core.plugins import load_target, offered
        from dhp.llm.api import providers

        provider, _, name = model.partition("/")
        if provider not in providers():
            known = suggest(provider, providers())
            raise InputError(f"model '{model}': unknown provider '{provider}'; {known}; {OTHER_PROVIDERS}")
        if not name.strip("/"):
            raise InputError(f"model '{model}': its name is missing; must have the form {provider}/NAME")
        if provider == "openai" or provider in SERVERS:
            from dhp.llm.clients.openai_client import OpenAIClient

            if self.base_url is not None and not self.base_url.strip():
                raise InputError("`base_url`: is empty; must be the address of a server, up to /v1")
            if self.chat_template is not None:
                raise InputError(
                    f"`chat_template` {self.chat_template}: is for hf/NAME, vllm/NAME; a server has its own"
                )
            return OpenAIClient(
                name, self.base_url, timeout=self.timeout, transport=self.transport, provider=provider
            )
        # A provider of a plug-in: called with the name and the settings, it may take any of them.
        opened: Client | LocalModel = load_target(offered("models")[provider])(name, self)
        return opened
