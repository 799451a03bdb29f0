"""Settings of language models: how they are reached, their rate limits and their cost."""

import warnings
from dataclasses import InitVar, dataclass, field
from pathlib import Path

from dhp.core.errors import InputError, suggest
from dhp.core.files import cache_folder
from dhp.llm.api import PROVIDERS, Client, LocalModel
from dhp.llm.batch.settings import BatchSettings
from dhp.llm.cached_model import RequestContext
from dhp.llm.engine.rate_limits import RateLimits
from dhp.llm.executor.load import open_executor
from dhp.llm.store import FILE, Store
from dhp.llm.usage import Budget, Limits, Prices


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How models are reached, how hard they are worked, and what they may cost."""

    base_url: str | None = None
    """Of an OpenAI-compatible server, up to and including `/v1`."""
    timeout: float = 120.0
    """Seconds for one call."""
    transport: str | None = None
    """Of calls to servers: `fast` or `sdk`, the official package; default: `fast`, for Azure `sdk`."""
    send_seed: bool = True
    """Whether sampled answers are asked for with the seed of the run; some servers fail of one."""
    rate_limits: RateLimits = field(default_factory=RateLimits)
    """How hard a server may be worked."""
    prices: Prices = field(default_factory=Prices)
    """Of tokens, for estimates and costs."""
    limits: Limits = field(default_factory=Limits)
    """What the run may use before it stops."""
    cache: str | Path | None = None
    """Folder of the stored replies; default: the user's cache folder."""
    store: bool = True
    """Whether replies are stored at all; without it nothing can be resumed."""
    refresh: bool = False
    """Ask again what is stored, and replace it."""
    keep_going: bool = False
    """Pay for the rest though fewer than half of the first answers can be read."""
    batch: BatchSettings = field(default_factory=BatchSettings)
    """Files of requests that are answered later, and of their results."""
    device: str = "auto"
    """For models in this process: `auto`, `cpu`, `cuda`, `cuda:N`, or `all`: spread over all GPUs."""
    dtype: str = "auto"
    """For models in this process: `auto`, `float32`, `bfloat16`, `float16`."""
    batch_size: int | None = None
    """For models in this process: rows computed together; default: as fits the device."""
    chat_template: str | Path | None = None
    """For models in this process: a file with the Jinja template by which messages become a prompt, in the
    place of the model's own, if it has one."""
    executor: str = "local"
    """Where the work is done: `local`, in this process, or `ray`, `ray:ADDRESS`, by workers of a cluster."""
    pace: InitVar[RateLimits | None] = None
    """Former name of `rate_limits`."""

    def __post_init__(self, pace: RateLimits | None) -> None:
        if pace is not None:
            warnings.warn("ModelSettings(pace=) is now rate_limits=", DeprecationWarning, stacklevel=3)
            object.__setattr__(self, "rate_limits", pace)
        if self.batch.given and (self.refresh or not self.store):
            fault = "`refresh`: would ask" if self.refresh else "`store=False`: would lose"
            raise InputError(f"{fault} again what came by batch; leave it out where batches are used")

    def context(self) -> RequestContext:
        """A context with nothing spent; the store is opened when it is first used."""
        cache = Path(self.cache or cache_folder())
        store = Store(cache / FILE) if self.store else None
        budget = self.batch.budget(Budget(self.limits, self.prices))
        batch = self.batch.open(cache) if self.store and not self.refresh else None
        return RequestContext(
            store,
            self.refresh,
            self.rate_limits,
            budget,
            self.keep_going,
            batch=batch,
            executor=open_executor(self.executor),
        )

    def open(self, model: str, context: RequestContext) -> Client | LocalModel:
        """The model called `openai/NAME`, `litellm/NAME`, `hf/NAME_OR_PATH` or `vllm/NAME_OR_PATH`.

        Raises
        ------
        InputError
            For an unknown provider, an empty name, or what the model itself cannot do with these settings.
        """
        if model not in context.opened:
            if context.batch is not None:
                context.batch.check(model)
            opened = context.opened[model] = self._open(model)
            if context.batch is not None:
                context.batch.check_address(opened)
        return context.opened[model]

    def _open(self, model: str) -> Client | LocalModel:
        provider, _, name = model.partition("/")
        if provider not in PROVIDERS:
            raise InputError(
                f"model '{model}': unknown provider '{provider}'; {suggest(provider, PROVIDERS)}"
            )
        if not name.strip("/"):
            raise InputError(f"model '{model}': its name is missing; must have the form {provider}/NAME")
        if provider == "litellm":
            from dhp.llm.clients.litellm import litellm_client

            if self.transport is not None:
                raise InputError(
                    f"`transport` {self.transport}: is for openai/NAME; {model} is reached by litellm"
                )
            return litellm_client(name, self.base_url, timeout=self.timeout)
        if provider == "openai":
            from dhp.llm.clients.openai_client import OpenAIClient

            if self.base_url is not None and not self.base_url.strip():
                raise InputError("`base_url`: is empty; allowed: the address of a server, up to /v1")
            if self.chat_template is not None:
                raise InputError(
                    f"`chat_template` {self.chat_template}: is for hf/NAME, vllm/NAME; a server has its own"
                )
            return OpenAIClient(name, self.base_url, timeout=self.timeout, transport=self.transport)
        if self.base_url is not None:
            raise InputError(f"`base_url` {self.base_url}: is for openai/NAME; {model} runs in this process")
        if provider == "vllm":
            from dhp.llm.hf.vllm_model import VllmModel

            if self.batch_size is not None:
                raise InputError(f"`batch_size` {self.batch_size}: is for hf/NAME; vLLM chooses it by itself")
            if self.device not in ("auto", "all"):
                raise InputError(
                    f"`device` {self.device}: is for hf/NAME; vLLM takes the GPUs of CUDA_VISIBLE_DEVICES; "
                    "allowed: auto (one of them), all"
                )
            return VllmModel(name, device=self.device, dtype=self.dtype, chat_template=self.chat_template)
        from dhp.llm.hf.model import HfModel

        return HfModel(
            name,
            device=self.device,
            dtype=self.dtype,
            batch_size=self.batch_size,
            chat_template=self.chat_template,
        )
