"""From names to judges: the one bridge between content, language models and judges."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dhp.content import override, read_persona, read_protocol, read_steps, read_task, read_wording, task_names
from dhp.errors import InputError
from dhp.files import cache_folder
from dhp.judge import Judge, LlmJudge, Questions, find_judge, read_prompt_files
from dhp.llm import Asker, Budget, Client, Limits, LocalModel, Pace, Prices, Store, Terms
from dhp.llm.find import PROVIDERS, open_model
from dhp.llm.store import FILE
from dhp.llm.stored import StoredModel, open_store
from dhp.protocols import Protocol

_REPLAY = "replay/"
_FILE_FORMS = ("score-only", "free-text", "rate-explain", "analyze-rate")
"""Answers on the metric's own scale."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How models are reached, how hard they are worked, and what they may cost."""

    base_url: str | None = None
    """Of an OpenAI-compatible server, up to and including `/v1`."""
    timeout: float = 120.0
    """Seconds for one call."""
    pace: Pace = field(default_factory=Pace)
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

    def terms(self) -> Terms:
        """With nothing spent; the store is opened when it is first used."""
        store = Store(Path(self.cache or cache_folder()) / FILE) if self.store else None
        return Terms(store, self.refresh, self.pace, Budget(self.limits, self.prices))

    def open(self, model: str) -> Client | LocalModel:
        """The model called `provider/name`."""
        return open_model(
            model,
            base_url=self.base_url,
            timeout=self.timeout,
            device=self.device,
            dtype=self.dtype,
            batch_size=self.batch_size,
        )


def protocol(name: str = "dhp", **changes: object) -> Protocol:
    """A protocol by name or YAML file, with changes to its settings.

    Example: `dhp.protocol("dhp", samples=3, temperature=1.0)`. Raises `InputError` for an unknown name, an
    unknown setting or settings that contradict each other.
    """
    return override(read_protocol(name), **changes)


def make_judges(
    model: str,
    protocols: Sequence[Protocol],
    asking: Asking,
    terms: Terms,
    *,
    prompt_files: Sequence[str] = (),
    seed: int = 0,
) -> list[Judge]:
    """The judges of one model: one a protocol for a language model, else one."""
    if not model.startswith((*(f"{p}/" for p in PROVIDERS), _REPLAY)) or _is_recording(model):
        return [find_judge(model, seed=seed)]
    asked = [questions(each, prompt_files=prompt_files, seed=seed) for each in protocols]
    asker = _asker(model, asking, terms)
    return [LlmJudge(asker, each) for each in asked]


def questions(protocol: Protocol, *, prompt_files: Sequence[str] = (), seed: int = 0) -> Questions:
    """A protocol with the texts that it names; raises `InputError` for one that cannot be had."""
    wording = read_wording(protocol.language)
    if prompt_files and (protocol.answer not in _FILE_FORMS or protocol.steps == "auto"):
        raise InputError(
            f"prompt files say themselves how to answer and by which steps; with them allowed: --answer "
            f"{', '.join(_FILE_FORMS)}, and --steps written or none"
        )
    steps = None
    if protocol.steps not in ("none", "written", "auto"):
        steps = read_steps(Path(protocol.steps))
    metrics = {m for name in task_names() for m in read_task(name).metric_names}
    return Questions(
        protocol,
        wording,
        persona=read_persona(protocol.persona, wording),
        steps=steps,
        prompt_files=read_prompt_files(prompt_files, sorted(metrics)) if prompt_files else None,
        seed=seed,
    )


def _is_recording(model: str) -> bool:
    """Whether it names recorded answers other than a store of replies."""
    path = model.removeprefix(_REPLAY).partition("?")[0]
    return model.startswith(_REPLAY) and Path(path).suffix != ".sqlite"


def _asker(model: str, asking: Asking, terms: Terms) -> Asker:
    if not model.startswith(_REPLAY):
        return Asker(asking.open(model), terms)
    path, _, query = model.removeprefix(_REPLAY).partition("?")
    chosen = query.removeprefix("model=") if query else None
    if query and not query.startswith("model="):
        raise InputError(f"model '{model}': unknown setting '{query}'; allowed: model=NAME")
    store = open_store(Path(path))
    return Asker(StoredModel(store, chosen), Terms(store))
