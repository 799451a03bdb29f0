"""Judges by name."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from dhp.content.catalog import content_folder, read_task, task_names
from dhp.content.protocols import (
    is_pairwise,
    override,
    read_pair_wording,
    read_pairwise,
    read_persona,
    read_protocol,
    read_steps,
    read_wording,
)
from dhp.core.errors import InputError, suggest
from dhp.core.keywords import Registry, as_list, near_keywords
from dhp.core.pair_spec import AnyProtocol, PairwiseProtocol, Protocols
from dhp.core.plugins import load_target, offered
from dhp.core.protocol_spec import Protocol
from dhp.judge.adapters.judge import ObjectJudge
from dhp.judge.adapters.load import PREFIX, load_object
from dhp.judge.adapters.settings import JudgeSettings
from dhp.judge.adapters.shapes import object_judges
from dhp.judge.api import Judge, PlainJudge, complete, is_plain
from dhp.judge.judges.baseline import ConstantJudge, RandomJudge
from dhp.judge.judges.llm import LlmJudge
from dhp.judge.judges.mock import mock_judge
from dhp.judge.judges.recorded import RecordedJudge
from dhp.judge.judges.spread import spread
from dhp.judge.metrics.column import column_judge
from dhp.judge.metrics.judge import metric_judge
from dhp.judge.pairwise.benchmark import PairwiseRatings
from dhp.judge.pairwise.llm import LlmPairwiseJudge
from dhp.judge.pairwise.offline import AlwaysFirst, RatingsCompared
from dhp.judge.prompt_files import PromptFiles, prompt_versions, read_files
from dhp.judge.requests import RequestBuilder
from dhp.llm.api import providers
from dhp.llm.cached_model import CachedModel, RequestContext
from dhp.llm.replay import StoredModel, open_store
from dhp.llm.settings import ModelSettings

_REPLAY = "replay/"
_COMPUTED = ("baseline/", "metric/", "mock/")
"""Judges that compute their ratings of any text: no call is made, and texts are shared out among workers."""
_FILE_FORMS = ("score-only", "free-text", "rate-explain", "analyze-rate", "json")
"""Answers on the metric's own scale."""
_FILE_TOKENS = 512
"""Most tokens of an answer to a prompt file, which may ask for reasons, unless another number is given."""


def _surface_judge(seed: int) -> PlainJudge:
    from dhp.judge.surface.judge import SurfaceJudge  # with numpy, which other judges do without

    return SurfaceJudge()


_BASELINES: dict[str, Callable[[int], PlainJudge]] = {
    "baseline/constant": lambda seed: ConstantJudge(),
    "baseline/random": RandomJudge,
    "baseline/surface": _surface_judge,
}

_FINDERS: dict[str, Callable[[str, int], PlainJudge]] = {
    "baseline": lambda model, seed: Registry("model", _BASELINES)[model](seed),
    "column": column_judge,
    "metric": metric_judge,
    "mock": mock_judge,
    "replay": lambda model, seed: RecordedJudge(model),
}


def protocol(name: str = "dhp", /, **changes: object) -> Protocol:
    """A protocol by name or YAML file, with changes to its settings.

    Example: `dhp.protocol("dhp", samples=3, temperature=1.0)`. Raises `InputError` for an unknown name, an
    unknown setting or settings that contradict each other.
    """
    return override(read_protocol(name), **changes)


def find_judges(
    model: object,
    protocols: Protocols,
    settings: ModelSettings,
    context: RequestContext,
    *,
    prompt_files: PromptFiles = (),
    seed: int = 0,
    judge_settings: JudgeSettings = JudgeSettings(),
    by_metric: bool = False,
    one_metric: bool = False,
) -> list[Judge]:
    """The judges: each language model under each protocol with each prompt, other judges once.

    Parameters
    ----------
    model
        Names of models, judges, functions, scorers of a framework, or a sequence of these.
    protocols
        Names of protocols, protocols, or a sequence of both.
    settings, context
        How language models are reached and asked.
    prompt_files
        Prompts to use as they are; several folders are versions, each for a judge of its own.
    seed
        Of every random choice.
    judge_settings
        What is said about functions and scorers: their scale, their threshold and more.
    by_metric
        Whether pairwise judges compare by each metric, or as a whole.
    one_metric
        Whether judges rate by one metric alone; several prompt files are versions then, too.

    Raises
    ------
    InputError
        For an unknown name, an object that is not a judge, or the same judge twice.
    """
    given_protocols = [_protocol(each) for each in as_list(protocols)]
    pairwise = [each for each in given_protocols if isinstance(each, PairwiseProtocol)]
    chosen = [each for each in given_protocols if isinstance(each, Protocol)]
    both = partial(_both_ways, pointwise=bool(chosen), pairwise=bool(pairwise), by_metric=by_metric)
    judges: list[Judge] = []
    for given in as_list(model):
        if not isinstance(given, str) or given.startswith(PREFIX):
            judges += both(_own_judges(given, judge_settings, context))
        elif given == AlwaysFirst.model and pairwise:
            judges.append(PairwiseRatings(AlwaysFirst(), by_metric=by_metric))
        elif _asks_a_model(given):
            cached_model = _cached_model(given, settings, context)
            sent = seed if settings.send_seed else None
            builders = [
                request_builder(each, prompt_files=files, seed=sent)
                for each in chosen
                for files in _versions(each, prompt_files, one_metric=one_metric)
            ]
            judges += [LlmJudge(cached_model, each) for each in builders]
            judges += [_comparing(cached_model, each, sent, by_metric=by_metric) for each in pairwise]
        else:
            found = find_judge(given, seed=seed)
            judges += both([spread(found, context.executor) if given.startswith(_COMPUTED) else found])
    _check_judges(judges, judge_settings)
    return judges


def _versions(protocol: Protocol, prompt_files: PromptFiles, *, one_metric: bool) -> list[PromptFiles]:
    versions = prompt_versions(prompt_files, one_prompt=one_metric or protocol.answer == "json")
    if len(versions) > 1 and "protocol" in protocol.changed:
        raise InputError("`name`: is for one prompt; several are named by their files")
    return versions


def _comparing(model: CachedModel, protocol: PairwiseProtocol, seed: int | None, *, by_metric: bool) -> Judge:
    judge = LlmPairwiseJudge(model, protocol, read_pair_wording(protocol.language), seed=seed)
    return PairwiseRatings(judge, by_metric=by_metric)


def _check_judges(judges: Sequence[Judge], judge_settings: JudgeSettings) -> None:
    """Raise `InputError` for no judge, a duplicate judge, and settings that are for none of them."""
    if judge_settings.says_anything() and not any(
        isinstance(judge, ObjectJudge | PairwiseRatings) for judge in judges
    ):
        raise InputError(
            "`judge_settings`: are for functions and scorers, python:MODULE:OBJECT; none is given"
        )
    names = [(judge.model, judge.protocol) for judge in judges]
    if not judges:
        raise InputError("no model is given; name at least one")
    if repeated := [model for model, protocol in names if names.count((model, protocol)) > 1]:
        raise InputError(f"model '{repeated[0]}' is given twice in one protocol; give each one once")


def _both_ways(judges: Sequence[Judge], *, pointwise: bool, pairwise: bool, by_metric: bool) -> list[Judge]:
    """Judges that ask no model, once for all protocols of a kind: pairwise their ratings are compared."""
    compared = [PairwiseRatings(RatingsCompared(judge), by_metric=by_metric) for judge in judges]
    return [*(judges if pointwise else ()), *(compared if pairwise else ())]


def _protocol(chosen: object) -> AnyProtocol:
    if isinstance(chosen, str):
        return read_pairwise(chosen) if is_pairwise(chosen) else protocol(chosen)
    if not isinstance(chosen, Protocol | PairwiseProtocol):
        raise InputError(
            f"`protocol` {chosen!r}: is a {type(chosen).__name__}; allowed: a name, a file, dhp.protocol(...)"
        )
    return chosen


def _own_judges(model: object, settings: JudgeSettings, context: RequestContext) -> Sequence[Judge]:
    """The user's own judges: an object, or the name of one."""
    name = model if isinstance(model, str) else None
    found = model if name is None else load_object(name)
    return [complete(found)] if is_plain(found) else object_judges(found, name, settings, context)


def find_judge(model: str, *, seed: int = 0) -> Judge:
    """The judge called `provider/name` that asks no language model.

    Names: `baseline/NAME`, `mock/KIND?dial=value`, `replay/FILE?setting=value`, and those of plug-ins. Raises
    `InputError` with the near name for an unknown one.
    """
    provider, slash, _ = model.partition("/")
    if not slash:
        known = ", ".join(sorted([*_FINDERS, *providers()]))
        raise InputError(
            f"model '{model}': must have the form provider/name, e.g. openai/gpt-4o-mini; providers: {known}"
        )
    if provider in _FINDERS:
        return complete(_FINDERS[provider](model, seed))
    added = offered("judges")
    if provider not in added:
        known = suggest(provider, [*_FINDERS, *added, *providers()])
        raise InputError(f"model '{model}': unknown provider '{provider}'; {known}")
    return complete(load_target(added[provider])(model, seed))


@near_keywords
def llm_judge(
    model: str,
    protocol: str | Protocol = "dhp",
    *,
    settings: ModelSettings = ModelSettings(),
    prompt_files: PromptFiles = (),
    seed: int = 0,
) -> LlmJudge:
    """One language model under one protocol, as a judge to rate with or to give to `dhp.run`.

    Parameters
    ----------
    model
        `provider/name` of a language model, or `replay/STORE.sqlite`.
    protocol
        How it is asked and read: a name, a file, or `dhp.protocol(...)`.
    settings
        How it is reached, how hard it is worked, and what it may cost.
    prompt_files
        Published prompts to use as they are.
    seed
        Sent with sampled answers.

    Raises
    ------
    InputError
        For a name that is not a language model's, or a protocol that compares two texts.
    """
    found = find_judges(model, protocol, settings, settings.context(), prompt_files=prompt_files, seed=seed)
    if len(found) != 1 or not isinstance(found[0], LlmJudge):
        raise InputError(f"model '{model}': is not a language model under a protocol that rates one text")
    return found[0]


def request_builder(
    protocol: Protocol, *, prompt_files: PromptFiles = (), seed: int | None = 0
) -> RequestBuilder:
    """A protocol with the texts that it names; raises `InputError` for one that cannot be had."""
    wording = read_wording(protocol.language)
    if protocol.answer == "json" and not prompt_files:
        raise InputError("`answer` json: needs a prompt of your own that asks for it, by `prompt_files`")
    bundled = Path(protocol.origin).is_relative_to(content_folder("protocols"))
    room_given = "max_tokens" in protocol.changed or not bundled
    if prompt_files and "max_tokens" not in protocol.changed and protocol.max_tokens < _FILE_TOKENS:
        protocol = override(protocol, max_tokens=_FILE_TOKENS)
    if prompt_files and (protocol.answer not in _FILE_FORMS or protocol.steps == "auto"):
        raise InputError(
            f"prompt files say themselves how to answer and by which steps; with them allowed: `answer` "
            f"{', '.join(_FILE_FORMS)}, and `steps` written or none"
        )
    tasks, steps = [read_task(name) for name in task_names()] if prompt_files else [], None
    if protocol.steps not in ("none", "written", "auto"):
        steps = read_steps(Path(protocol.steps))
    return RequestBuilder(
        protocol,
        wording,
        persona=read_persona(protocol.persona, wording),
        steps=steps,
        prompt_files=read_files(prompt_files),
        seed=seed,
        room_given=room_given,
        known_metrics=sorted({m for t in tasks for m in t.metric_names}),
    )


def any_recorded(model: object) -> bool:
    """Whether one of these judges reads its scores or answers from a table, which has none of new texts."""
    names = [each for each in as_list(model) if isinstance(each, str)]
    return any(name.startswith(("column/", _REPLAY)) and not _asks_a_model(name) for name in names)


def _asks_a_model(model: str) -> bool:
    """Whether it names a language model, or a store of its replies."""
    path = model.removeprefix(_REPLAY).partition("?")[0]
    is_store = model.startswith(_REPLAY) and Path(path).suffix == ".sqlite"
    return is_store or model.startswith(tuple(f"{provider}/" for provider in providers()))


def _cached_model(model: str, settings: ModelSettings, context: RequestContext) -> CachedModel:
    if not model.startswith(_REPLAY):
        return CachedModel(settings.open(model, context), context)
    path, _, query = model.removeprefix(_REPLAY).partition("?")
    chosen = query.removeprefix("model=") if query else None
    if query and not query.startswith("model="):
        raise InputError(f"model '{model}': unknown setting '{query}'; allowed: model=NAME")
    store = open_store(Path(path))
    return CachedModel(StoredModel(store, chosen), RequestContext(store, keep_going=True))
