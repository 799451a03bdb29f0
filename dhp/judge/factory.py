"""Judges by name.

A name's part before the slash is its provider. What asks a language model gets one judge for each protocol
and each prompt; a function, a scorer, a table of ratings or a baseline is one judge. `find_judges` goes
through the models and protocols, `request_builder` reads the texts that a protocol names, and `find_judge`
knows the judges without a language model.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from dhp.content.catalog import (
    names_of,
    override,
    read_persona,
    read_protocol,
    read_steps,
    read_task,
    read_wording,
)
from dhp.content.yaml_files import content_folder
from dhp.core.answer_forms import FILE_FORMS, FORMS
from dhp.core.errors import InputError, one_of, suggest
from dhp.core.objects import PREFIX
from dhp.core.options import as_list, near_keywords
from dhp.core.plugins import load_target, offered
from dhp.core.protocol_spec import Protocol, Protocols
from dhp.judge.adapters.adapter import instance, load_object
from dhp.judge.adapters.scorer import ObjectJudge, object_judge
from dhp.judge.adapters.settings import JudgeSettings
from dhp.judge.api import Judge, as_judge, is_judge
from dhp.judge.judges.compared import ComparedRatings
from dhp.judge.judges.llm import LlmJudge
from dhp.judge.judges.mock import AlwaysFirst, ConstantJudge, RandomJudge, mock_judge
from dhp.judge.judges.recorded import is_store, reads_table, recorded_file, recorded_judges
from dhp.judge.judges.surface import SurfaceJudge
from dhp.judge.prompt_files import PromptFiles, prompt_versions, read_files
from dhp.judge.question_files import is_json
from dhp.judge.requests import RequestBuilder
from dhp.llm.api import Client, LocalModel, providers
from dhp.llm.cached_model import CachedModel, RequestContext
from dhp.llm.clients.servers import OTHER_PROVIDERS
from dhp.llm.settings import ModelSettings
from dhp.llm.store import open_store
from dhp.llm.stored_model import StoredModel, stored_model

_DEFAULT, _DECISION = "dhp", "decision"
"""Protocols of models that write, and of decision models, unless one is named."""
_FILE_TOKENS = 512
"""Most tokens of an answer to a prompt file, which may ask for reasons, unless another number is given."""
_WITHOUT_MODEL = ("baseline", "mock")
"""Providers of judges of our own that ask no model."""
_BASELINES: dict[str, Callable[[int], Judge]] = {
    "baseline/constant": lambda seed: ConstantJudge(),
    "baseline/random": RandomJudge,
    "baseline/surface": lambda seed: SurfaceJudge(),
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
    one_metric: bool = False,
) -> list[Judge]:
    """The judges: each language model under each protocol with each prompt, other judges once.

    Under a pairwise protocol judges compare; of those that rate texts alone the ratings are compared. Several
    folders of prompts are versions, each for a judge of its own; with `one_metric`, by which judges rate
    alone, several prompt files are versions, too. Raises `InputError` for an unknown name, an object that is
    not a judge, or the same judge twice.
    """
    each_protocol = [_protocol(each) for each in as_list(protocols)]
    chosen = sorted(each_protocol, key=lambda each: each.pairwise)  # judges that rate texts alone come first
    pointwise = any(not each.pairwise for each in chosen)
    pairwise = any(each.pairwise for each in chosen)
    judges: list[Judge] = []
    has_functions = False
    for entry in as_list(model):
        if isinstance(entry, str) and _asks_a_model(entry):
            asked = _cached_model(entry, settings, context)
            sent = seed if settings.send_seed else None
            for each in chosen:
                fitting = _fitting(each, asked.model)
                for builder in _builders(fitting, prompt_files, sent, one_metric):
                    judges.append(LlmJudge(asked, replace(builder, body=settings.body)))
            continue

        # What asks no model: once for all protocols that rate texts alone, and once for those that compare.
        others = _other_judges(entry, seed, judge_settings, context)
        has_functions = has_functions or any(isinstance(judge, ObjectJudge) for judge in others)
        judges += [judge for judge in others if pointwise or judge.compare]
        if pairwise:
            judges += [ComparedRatings(judge) for judge in others if not judge.compare]
    if judge_settings != JudgeSettings() and not has_functions:
        raise InputError(
            "`judge_settings`: are for functions and scorers, python:MODULE:OBJECT; none is given"
        )
    _check_judges(judges)
    return judges


def _fitting(chosen: Protocol, model: Client | LocalModel) -> Protocol:
    """The protocol, or for a decision model that of its own in place of the default one.

    Raises `InputError` for a protocol that asks for words of a model that writes none, or for the answers of
    a decision model from another one.
    """
    asks_data, is_decider = FORMS[chosen.answer].data, getattr(model, "decides", False)
    if is_decider and chosen.protocol == _DEFAULT and not asks_data:
        changes = {name: getattr(chosen, name) for name in chosen.changed}
        return override(read_protocol(_DECISION), **changes)
    if is_decider and not asks_data:
        raise InputError(
            f"{model.model}: is a decision model, which answers no prompt, and protocol '{chosen.protocol}' "
            f"writes prompts; allowed: `protocol` {', '.join(_decision_protocols())}"
        )
    if asks_data and not is_decider and not isinstance(model, StoredModel):
        raise InputError(
            f"`protocol` {chosen.protocol}: asks typed questions, which {model.model} does not take; "
            "allowed: a decision model, decisions/NAME"
        )
    return chosen


def _decision_protocols() -> list[str]:
    """The protocols of decision models, by name."""
    names = [*names_of("protocol"), *names_of("pairwise protocol")]
    return [name for name in names if FORMS[read_protocol(name).answer].data]


def _builders(
    protocol: Protocol, prompt_files: PromptFiles, seed: int | None, one_metric: bool
) -> list[RequestBuilder]:
    """The protocol with each version of a prompt."""
    if protocol.pairwise:
        return [request_builder(protocol, seed=seed)]
    whole = FORMS[protocol.answer].own_prompt or all(map(is_json, as_list(prompt_files)))
    versions = prompt_versions(prompt_files, one_prompt=one_metric or whole)
    if len(versions) > 1 and "protocol" in protocol.changed:
        raise InputError("`name`: is for one prompt; several are named by their files")
    return [request_builder(protocol, prompt_files=files, seed=seed) for files in versions]


def _check_judges(judges: Sequence[Judge]) -> None:
    """Raise `InputError` for no judge, and for a duplicate judge."""
    names = [(judge.model, judge.protocol, judge.compare) for judge in judges]
    if not judges:
        raise InputError("no model is given; name at least one")
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise InputError(f"model '{repeated[0][0]}' is given twice in one protocol; give each one once")


def _protocol(chosen: object) -> Protocol:
    """A protocol as it may be given: by its name, its file, or as it is."""
    if isinstance(chosen, str):
        return protocol(chosen)
    if not isinstance(chosen, Protocol):
        raise InputError(
            f"`protocol` {chosen!r}: is of type {type(chosen).__name__}; allowed: a name, a file, "
            "dhp.protocol(...)"
        )
    return chosen


def _other_judges(
    model: object, seed: int, settings: JudgeSettings, context: RequestContext
) -> Sequence[Judge]:
    """Judges that are no language model: the user's own, an object or the name of one, or those by name."""
    if isinstance(model, str) and reads_table(model):
        return recorded_judges(model)
    if isinstance(model, str) and not model.startswith(PREFIX):
        return [find_judge(model, seed=seed)]
    name = model if isinstance(model, str) else None
    target = model if name is None else load_object(name)
    built = instance(target, f"model '{name}'" if name else f"model {target!r}")
    return [as_judge(built) if is_judge(built) else object_judge(built, name, settings, context)]


def find_judge(model: str, *, seed: int = 0) -> Judge:
    """The judge called `provider/name` that asks no language model.

    Names: `baseline/NAME`, `mock/KIND?dial=value`, and those of plug-ins. Raises
    `InputError` with the near name for an unknown one.
    """
    provider, slash, _ = model.partition("/")
    if ".py" in provider:  # `judge.py:rate`, which would be an unknown provider
        raise InputError(f"model '{model}': a function of a file is named python:FILE.py:FUNCTION")
    added = offered("judges")
    known = [*_WITHOUT_MODEL, *added, *providers()]
    if not slash:
        raise InputError(
            f"model '{model}': must have the form provider/name, e.g. openai/gpt-4o-mini; providers: "
            f"{', '.join(sorted(known))}"
        )
    if provider == "baseline":
        one_of("model", model, _BASELINES)
        return _BASELINES[model](seed)
    if provider == "mock":
        return AlwaysFirst() if model == AlwaysFirst.model else mock_judge(model, seed)
    if provider not in added:
        raise InputError(
            f"model '{model}': unknown provider '{provider}'; {suggest(provider, known)}; {OTHER_PROVIDERS}"
        )
    return as_judge(load_target(added[provider])(model, seed))


@near_keywords
def llm_judge(
    model: str,
    protocol: str | Protocol = "dhp",
    *,
    settings: ModelSettings = ModelSettings(),
    prompt: PromptFiles = (),
    seed: int = 0,
) -> LlmJudge:
    """One language model under one protocol, as a judge to rate with or to give to `dhp.run`.

    Parameters
    ----------
    model
        `provider/name` of a language model, or `recorded/STORE.sqlite`.
    protocol
        How it is asked and read: a name, a file, or `dhp.protocol(...)`.
    settings
        How it is reached, how hard it is worked, and what it may cost.
    prompt
        Published prompts to use as they are.
    seed
        Sent with sampled answers.

    Raises
    ------
    InputError
        For a name that is not a language model's, for several prompts, and for a filler.
    """
    if settings.filler is not None and settings.filler.is_used:
        raise InputError("`settings.filler`: is for whole runs; leave it out, or name the model in dhp.run")
    judges = find_judges(model, protocol, settings, settings.context(), prompt_files=prompt, seed=seed)
    if len(judges) != 1 or not isinstance(judges[0], LlmJudge):  # several prompts make several judges
        raise InputError(f"model '{model}': is not one language model under one protocol")
    return judges[0]


def request_builder(
    protocol: Protocol, *, prompt_files: PromptFiles = (), seed: int | None = 0
) -> RequestBuilder:
    """A protocol with the texts that it names; raises `InputError` for one that cannot be had."""
    wording = read_wording(protocol.language, pairwise=protocol.pairwise)
    if FORMS[protocol.answer].data and not protocol.pairwise:
        one_of("levels", protocol.levels, wording.levels, f"protocol '{protocol.protocol}'")
    # Whoever writes a protocol states a limit; that of a bundled one is raised if answers need it.
    bundled = Path(protocol.origin).is_relative_to(content_folder("protocols"))
    limit_given = "max_tokens" in protocol.changed or not bundled
    if protocol.pairwise:
        return RequestBuilder(protocol, wording, seed=seed, limit_given=limit_given)
    if FORMS[protocol.answer].own_prompt and not prompt_files:
        raise InputError("`answer` json: needs a prompt of your own that asks for it, by `prompt`")
    writes = not FORMS[protocol.answer].data
    if prompt_files and writes and "max_tokens" not in protocol.changed:  # the prompt may ask for reasons
        protocol = override(protocol, max_tokens=max(protocol.max_tokens, _FILE_TOKENS))
    if prompt_files and (protocol.answer not in FILE_FORMS or protocol.steps == "auto"):
        raise InputError(
            f"prompt files say themselves how to answer and by which steps; with them allowed: `answer` "
            f"{', '.join(FILE_FORMS)}, and `steps` written or none"
        )
    known_metrics: set[str] = set()
    if prompt_files:
        for name in names_of("task"):
            known_metrics.update(read_task(name).metric_names)
    steps = None
    if protocol.steps not in ("none", "written", "auto"):
        steps = read_steps(Path(protocol.steps))
    return RequestBuilder(
        protocol,
        wording,
        persona=read_persona(protocol.persona, wording),
        steps=steps,
        prompt_files=read_files(prompt_files, json=FORMS[protocol.answer].data),
        seed=seed,
        limit_given=limit_given,
        known_metrics=sorted(known_metrics),
    )


def all_own(model: object) -> bool:
    """Whether all of these judges bring their metrics: functions, scorers, recorded judgements."""
    judges = as_list(model)
    return bool(judges) and all(_is_function(judge) or reads_table(judge) for judge in judges)


def any_function(model: object) -> bool:
    """Whether one of these judges is a function or scorer, whose scores have a scale of their own."""
    return any(map(_is_function, as_list(model)))


def _is_function(judge: object) -> bool:
    """Whether it names a function or scorer, or is one."""
    if isinstance(judge, str):
        return judge.startswith(PREFIX)
    return not isinstance(judge, Judge)


def any_recorded(model: object) -> bool:
    """Whether one of these judges reads its ratings from a table, which has none of new texts."""
    return any(map(reads_table, as_list(model)))


def _asks_a_model(model: str) -> bool:
    """Whether it names a language model, or a store of its replies."""
    return is_store(model) or model.startswith(tuple(f"{provider}/" for provider in providers()))


def _cached_model(model: str, settings: ModelSettings, context: RequestContext) -> CachedModel:
    """A language model by name, or the replies of one that a store holds."""
    if not is_store(model):
        opened = settings.open(model, context)
        if settings.body and not isinstance(opened, Client):
            name, *_ = settings.body
            raise InputError(f"`body` {name}: is for models behind a server, not for {model}; leave it out")
        return CachedModel(opened, context)
    query = model.partition("?")[2]
    if query and not query.startswith("model="):
        raise InputError(f"model '{model}': unknown setting '{query}'; allowed: model=NAME")
    store = open_store(recorded_file(model))
    chosen = stored_model(store, query.removeprefix("model=") if query else None)
    return CachedModel(chosen, RequestContext(store, keep_going=True))
