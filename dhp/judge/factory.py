"""From names to judges: the one bridge between content, language models and judges."""

from collections.abc import Callable, Sequence
from pathlib import Path

from dhp.content.catalog import read_task, task_names
from dhp.content.protocols import override, read_persona, read_protocol, read_steps, read_wording
from dhp.core.errors import InputError, suggest
from dhp.core.protocol_spec import Protocol
from dhp.core.registry import Registry
from dhp.judge.api import Judge
from dhp.judge.judges.baseline import ConstantJudge, RandomJudge
from dhp.judge.judges.llm import LlmJudge
from dhp.judge.judges.mock import mock_judge
from dhp.judge.judges.recorded import RecordedJudge
from dhp.judge.prompt_files import read_prompt_files
from dhp.judge.questions import Questions
from dhp.judge.surface.judge import SurfaceJudge
from dhp.llm.cached_model import CachedModel, RequestContext
from dhp.llm.load import PROVIDERS
from dhp.llm.settings import ModelSettings
from dhp.llm.stored import StoredModel, open_store

_REPLAY = "replay/"
_FILE_FORMS = ("score-only", "free-text", "rate-explain", "analyze-rate")
"""Answers on the metric's own scale."""

_BASELINES: dict[str, Callable[[int], Judge]] = {
    "baseline/constant": lambda seed: ConstantJudge(),
    "baseline/random": RandomJudge,
    "baseline/surface": lambda seed: SurfaceJudge(),
}

_FINDERS: dict[str, Callable[[str, int], Judge]] = {
    "baseline": lambda model, seed: Registry("model", _BASELINES)[model](seed),
    "mock": mock_judge,
    "replay": lambda model, seed: RecordedJudge(model),
}


def protocol(name: str = "dhp", **changes: object) -> Protocol:
    """A protocol by name or YAML file, with changes to its settings.

    Example: `dhp.protocol("dhp", samples=3, temperature=1.0)`. Raises `InputError` for an unknown name, an
    unknown setting or settings that contradict each other.
    """
    return override(read_protocol(name), **changes)


def make_judges(
    model: str,
    protocols: Sequence[Protocol],
    settings: ModelSettings,
    context: RequestContext,
    *,
    prompt_files: Sequence[str] = (),
    seed: int = 0,
) -> list[Judge]:
    """The judges of one model: one a protocol for a language model, else one."""
    if not model.startswith((*(f"{p}/" for p in PROVIDERS), _REPLAY)) or _is_recording(model):
        return [find_judge(model, seed=seed)]
    asked = [questions(each, prompt_files=prompt_files, seed=seed) for each in protocols]
    cached_model = _asker(model, settings, context)
    return [LlmJudge(cached_model, each) for each in asked]


def find_judge(model: str, *, seed: int = 0) -> Judge:
    """The judge called `provider/name` that asks no language model.

    Names: `baseline/NAME`, `mock/KIND?dial=value` and `replay/FILE?setting=value`. Raises `InputError` with
    the near name for an unknown one.
    """
    provider, slash, _ = model.partition("/")
    if not slash:
        providers = ", ".join(sorted([*_FINDERS, *PROVIDERS]))
        raise InputError(
            f"model '{model}': must have the form provider/name, e.g. openai/gpt-4o-mini; "
            f"providers: {providers}"
        )
    if provider not in _FINDERS:
        known = suggest(provider, [*_FINDERS, *PROVIDERS])
        raise InputError(f"model '{model}': unknown provider '{provider}'; {known}")
    return _FINDERS[provider](model, seed)


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


def _asker(model: str, settings: ModelSettings, context: RequestContext) -> CachedModel:
    if not model.startswith(_REPLAY):
        return CachedModel(settings.open(model), context)
    path, _, query = model.removeprefix(_REPLAY).partition("?")
    chosen = query.removeprefix("model=") if query else None
    if query and not query.startswith("model="):
        raise InputError(f"model '{model}': unknown setting '{query}'; allowed: model=NAME")
    store = open_store(Path(path))
    return CachedModel(StoredModel(store, chosen), RequestContext(store))
