"""From names to judges: the one bridge between content, language models and judges."""

from collections.abc import Sequence
from pathlib import Path

from dhp.asking import Asking
from dhp.content import override, read_persona, read_protocol, read_steps, read_task, read_wording, task_names
from dhp.errors import InputError
from dhp.judge import Judge, LlmJudge, Questions, find_judge, read_prompt_files
from dhp.llm import Asker, Terms
from dhp.llm.find import PROVIDERS
from dhp.llm.stored import StoredModel, open_store
from dhp.protocols import Protocol

_REPLAY = "replay/"
_FILE_FORMS = ("score-only", "free-text", "rate-explain", "analyze-rate")
"""Answers on the metric's own scale."""


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
