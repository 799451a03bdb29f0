"""How language models are asked: by judges and by perturbers alike."""

from dataclasses import dataclass, field
from pathlib import Path

from dhp.core.files import cache_folder
from dhp.llm.cached_model import LocalModel, RequestContext
from dhp.llm.cost.usage import Budget, Limits, Prices
from dhp.llm.engine.jobs import Client, RateLimits
from dhp.llm.load import open_model
from dhp.llm.store import FILE, Store


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How models are reached, how hard they are worked, and what they may cost."""

    base_url: str | None = None
    """Of an OpenAI-compatible server, up to and including `/v1`."""
    timeout: float = 120.0
    """Seconds for one call."""
    pace: RateLimits = field(default_factory=RateLimits)
    prices: Prices = field(default_factory=Prices)
    limits: Limits = field(default_factory=Limits)
    cache: str | Path | None = None
    """Folder of the stored replies; default: the user's cache folder."""
    store: bool = True
    """Whether replies are stored at all; without it nothing can be resumed."""
    refresh: bool = False
    """Ask again what is stored, and replace it."""
    device: str = "auto"
    """For models in this process: `auto`, `cpu`, `cuda`, ..."""
    dtype: str = "auto"
    """For models in this process: `auto`, `float32`, `bfloat16`, `float16`."""
    batch_size: int | None = None
    """For models in this process: rows computed together; default: as fits the device."""

    def context(self) -> RequestContext:
        """With nothing spent; the store is opened when it is first used."""
        store = Store(Path(self.cache or cache_folder()) / FILE) if self.store else None
        return RequestContext(store, self.refresh, self.pace, Budget(self.limits, self.prices))

    def open(self, model: str, context: RequestContext) -> Client | LocalModel:
        """The model called `provider/name`; one for all that is asked in a context, as loading it is dear."""
        if model not in context.opened:
            context.opened[model] = self._open(model)
        return context.opened[model]

    def _open(self, model: str) -> Client | LocalModel:
        return open_model(
            model,
            base_url=self.base_url,
            timeout=self.timeout,
            device=self.device,
            dtype=self.dtype,
            batch_size=self.batch_size,
        )
