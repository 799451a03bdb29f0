"""Scorers of other frameworks: autoevals, deepeval, inspect_ai, mlflow.genai, phoenix and ragas.

Each `adapt_...` function looks at an object and says None if it is not of its framework; no framework is
imported for that. Else it makes an `Adapter`: which texts of ours the scorer wants by which names, a call
that puts them into the framework's own form, and a reader that makes score and reason of what comes back.
"""

import copy
import inspect
from collections.abc import Collection, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from dhp.core.errors import InputError, require
from dhp.judge.adapters.adapter import (
    INPUT,
    OUTPUT,
    REFERENCE,
    SOURCE,
    USUAL,
    Adapter,
    is_of,
    made_without_arguments,
)
from dhp.plugins.frameworks.log_forms import log_kind


def adapt_autoevals(scorer: Any) -> Adapter | None:
    """An adapter for a `Scorer` of autoevals; None if it is not one."""
    if not is_of(scorer, "autoevals", "Scorer"):
        return None

    async def call(arguments: Mapping[str, str | None]) -> object:
        return await scorer.eval_async(**arguments)

    return Adapter(
        shape="autoevals scorer",
        name=scorer._name(),
        fields={"input": INPUT, "output": OUTPUT, "expected": REFERENCE, "context": SOURCE},
        optional=frozenset({"input", "context"}),
        call=call,
        is_async=True,
        scale=(0.0, 1.0),
    )


def _listed(arguments: Mapping[str, str | None], names: Collection[str]) -> dict[str, object]:
    """The arguments, those of these names as lists of one."""
    listed: dict[str, object] = dict(arguments)
    for name in names:
        if arguments.get(name) is not None:
            listed[name] = [arguments[name]]
    return listed


_LISTS_OF_DEEPEVAL = ("context", "retrieval_context")


def adapt_deepeval(scorer: Any) -> Adapter | None:
    """An adapter for a `BaseMetric`, of which a copy measures each text, as a metric keeps its last score."""
    if not is_of(scorer, "deepeval", "BaseMetric"):
        return None
    # A metric of one's own may have `measure` alone.
    base: Any = next(kind for kind in type(scorer).__mro__ if kind.__name__ == "BaseMetric")
    is_async = type(scorer).a_measure is not base.a_measure

    async def awaited(arguments: Mapping[str, str | None]) -> object:
        metric = copy.copy(scorer)
        return _measured(metric, await metric.a_measure(_case(arguments), **_quiet(metric.a_measure)))

    def called(arguments: Mapping[str, str | None]) -> object:
        metric = copy.copy(scorer)
        return _measured(metric, metric.measure(_case(arguments), **_quiet(metric.measure)))

    return Adapter(
        shape="deepeval metric",
        name=scorer.__name__,
        fields={
            "input": INPUT,
            "actual_output": OUTPUT,
            "expected_output": REFERENCE,
            "context": SOURCE,
            "retrieval_context": SOURCE,
        },
        call=awaited if is_async else called,
        is_async=is_async,
        scale=(0.0, 1.0),
    )


def _case(arguments: Mapping[str, str | None]) -> object:
    listed = _listed(arguments, _LISTS_OF_DEEPEVAL)
    return import_module("deepeval.test_case").LLMTestCase(**{**listed, "input": listed["input"] or ""})


def _quiet(measure: Any) -> dict[str, bool]:
    """The metric without its progress bar, if it has one."""
    return {"_show_indicator": False} if "_show_indicator" in inspect.signature(measure).parameters else {}


def _measured(metric: Any, returned: object) -> dict[str, object]:
    if metric.error is not None:
        raise RuntimeError(metric.error)
    return {"score": metric.score if returned is None else returned, "reason": metric.reason}


_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0}
"""The grades of inspect_ai, correct, partial and incorrect, and the numbers that it counts them by."""
_NO_ANSWER = "N"
"""Its grade for a text without an answer, which is no score."""


def adapt_inspect_ai(scorer: Any) -> Adapter | None:
    """An adapter for a scorer of inspect_ai, which is called with a task state made by hand."""
    info = getattr(scorer, "__registry_info__", None)
    is_scorer = getattr(info, "type", None) == "scorer" or _takes_state_and_target(scorer)
    if not is_scorer:
        return None
    if not _takes_state_and_target(scorer):  # the function that makes it
        scorer = made_without_arguments(scorer, "the judge")

    async def call(arguments: Mapping[str, str | None]) -> object:
        return _read(await scorer(*_state_and_target(arguments)))

    name = str(getattr(info, "name", "")).rpartition("/")[2]
    return Adapter(
        shape="inspect_ai scorer",
        name=name or "score",
        fields={"input": INPUT, "output": OUTPUT, "target": REFERENCE},
        call=call,
        is_async=True,
        scale=(0.0, 1.0),
    )


def _takes_state_and_target(scorer: object) -> bool:
    if not callable(scorer):
        return False
    try:
        return list(inspect.signature(scorer).parameters)[:2] == ["state", "target"]
    except (TypeError, ValueError):
        return False


def _state_and_target(arguments: Mapping[str, str | None]) -> tuple[object, object]:
    model, solver = import_module("inspect_ai.model"), import_module("inspect_ai.solver")
    asked, answer = arguments["input"] or "", arguments["output"] or ""
    target = import_module("inspect_ai.scorer").Target(arguments["target"] or "")
    state = solver.TaskState(
        model="dhp/text",
        sample_id=1,
        epoch=1,
        input=asked,
        messages=[model.ChatMessageUser(content=asked), model.ChatMessageAssistant(content=answer)],
        target=target,
        output=model.ModelOutput.from_content("dhp/text", answer),
        completed=True,
    )
    return state, target


def _read(score: Any) -> object:
    """A score as ours are read: grades as numbers, what is unscored stays so."""
    if score is None:
        return None
    reason = getattr(score, "reason", None) or score.explanation
    value = score.value
    if isinstance(value, Mapping):
        return [{"key": key, "score": graded(each), "reason": reason} for key, each in value.items()]
    if value == _NO_ANSWER:
        reason = reason or "no answer"
    return {"score": graded(value), "reason": reason}


def graded(value: object) -> object:
    """The number of a grade of inspect_ai, None for its `N`; any other value as it is."""
    if value == _NO_ANSWER:
        return None
    return _GRADES.get(value, value) if isinstance(value, str) else value


def log_scorers(log: str) -> list[object] | None:
    """The scorers that a log names, made anew by the package; None for another file."""
    if log_kind(Path(log)) != "inspect_ai":
        return None
    require("inspect-ai", purpose=f"{log}: scoring by the scorers of the log")
    try:
        header = import_module("inspect_ai.log").read_eval_log(log, header_only=True)
        scorers: list[object] = import_module("inspect_ai._eval.score").resolve_scorers(header)
    except (Exception, SystemExit) as e:  # noqa: BLE001  scorers are anyone's code
        reason = " ".join(f"{type(e).__name__}: {e}".split())[:300]
        raise InputError(
            f"{log}: its scorers cannot be made ({reason}); name a judge by `judge` python:FILE.py:OBJECT"
        ) from None
    return scorers


def adapt_mlflow(scorer: Any) -> Adapter | None:
    """An adapter for a `Scorer` of mlflow: decorated functions, classes, judges that `make_judge` makes."""
    if not is_of(scorer, "mlflow", "Scorer"):
        return None

    def call(arguments: Mapping[str, str | None]) -> object:
        # mlflow has all but output and reference in one parameter, without what is empty.
        inputs = {name: text for name, text in arguments.items() if text}
        inputs.pop("outputs", None)
        expected = arguments["expected_response"]
        inputs.pop("expected_response", None)
        return scorer.run(
            inputs=inputs,
            outputs=arguments["outputs"],
            expectations=None if expected is None else {"expected_response": expected},
        )

    return Adapter(
        shape="mlflow scorer",
        name=scorer.name,
        fields={
            "question": ("question",),
            "source": SOURCE,
            "outputs": OUTPUT,
            "expected_response": REFERENCE,
        },
        call=call,
    )


_OF_PHOENIX = {"input": INPUT, "output": OUTPUT, "context": SOURCE, "reference": REFERENCE}
"""Parameters of an evaluator of phoenix that does not name its own."""


def adapt_phoenix(scorer: Any) -> Adapter | None:
    """An adapter for an `Evaluator` of phoenix; None if it is not one."""
    if not is_of(scorer, "phoenix", "Evaluator"):
        return None

    async def call(arguments: Mapping[str, str | None]) -> object:
        scores = await scorer.async_evaluate(dict(arguments))
        if len(scores) == 1:
            return _score_of(scores[0])
        return [_score_of(score) for score in scores]

    wanted = scorer.input_schema.model_fields if scorer.input_schema else {}
    needed = [name for name, each in wanted.items() if each.is_required()]
    # A classifier has a score for each label, of which the ends are those of its scale.
    labels = getattr(scorer, "label_score_map", None) or {}
    values = [float(value) for value in labels.values() if value is not None]
    return Adapter(
        shape="phoenix evaluator",
        name=scorer.name,
        fields={name: USUAL.get(name, (name,)) for name in wanted} or _OF_PHOENIX,
        required=frozenset(needed) - {*USUAL},
        optional=frozenset(wanted) - {*needed},
        call=call,
        is_async=True,
        scale=(min(values), max(values)) if len(set(values)) > 1 else None,
        lower_is_better=scorer.direction == "minimize",
    )


def _score_of(score: Any) -> dict[str, object]:
    reason = score.explanation or (f"labelled {score.label}" if score.label else None)
    return {"name": score.name, "score": score.score, "reason": reason}


_OF_RAGAS = {**USUAL, "user_input": INPUT, "retrieved_contexts": SOURCE, "reference_contexts": SOURCE}
_LISTS_OF_RAGAS = ("retrieved_contexts", "reference_contexts")
_SINGLE_TURN = {"user_input": INPUT, "response": OUTPUT, "reference": REFERENCE, "retrieved_contexts": SOURCE}


def adapt_ragas(scorer: Any) -> Adapter | None:
    """An adapter for a metric: of collections, a decorated function, a prompt with a model, an older one."""
    if is_of(scorer, "ragas", "SimpleBaseMetric"):
        return _simple(scorer)
    return _single_turn(scorer) if is_of(scorer, "ragas", "SingleTurnMetric") else None


def _simple(scorer: Any) -> Adapter:
    names, optional = _parameters(scorer)
    further: dict[str, object] = {}
    if is_of(scorer, "ragas", "SimpleLLMMetric"):
        if getattr(scorer, "llm", None) is None:
            raise InputError(
                f"judge '{scorer.name}': a ragas metric with a prompt needs a model; set its attribute llm"
            )
        further["llm"] = scorer.llm

    async def call(arguments: Mapping[str, str | None]) -> object:
        result = await scorer.ascore(**_listed(arguments, _LISTS_OF_RAGAS), **further)
        return {"score": result.value, "reason": result.reason}

    allowed = scorer.allowed_values
    return Adapter(
        shape="ragas metric",
        name=scorer.name,
        fields={name: _OF_RAGAS.get(name, (name,)) for name in names},
        required=frozenset(names) - {*_OF_RAGAS} - optional,
        optional=optional,
        call=call,
        is_async=True,
        scale=(float(allowed[0]), float(allowed[1])) if _is_range(allowed) else None,
    )


def _parameters(scorer: Any) -> tuple[list[str], frozenset[str]]:
    """The parameters of a metric, and those that are optional: of a prompt, a function or a method."""
    if is_of(scorer, "ragas", "SimpleLLMMetric"):
        return list(scorer.get_variables()), frozenset()
    if hasattr(scorer, "_create_pydantic_model"):
        fields = scorer._create_pydantic_model().model_fields
        free = frozenset(name for name, each in fields.items() if not each.is_required())
        return list(fields), free

    names, optional = [], set()
    for each in inspect.signature(scorer.ascore).parameters.values():
        if each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL):
            continue
        names.append(each.name)
        if each.default is not each.empty:
            optional.add(each.name)
    return names, frozenset(optional)


def _is_range(allowed: object) -> bool:
    """Whether the values are the ends of a scale; a list holds the labels of a verdict."""
    if not isinstance(allowed, tuple) or len(allowed) != 2:
        return False
    return all(isinstance(each, int | float) for each in allowed)


def _single_turn(scorer: Any) -> Adapter:
    async def call(arguments: Mapping[str, str | None]) -> object:
        sample = import_module("ragas.dataset_schema").SingleTurnSample(**_listed(arguments, _LISTS_OF_RAGAS))
        return await scorer.single_turn_ascore(sample)

    return Adapter(
        shape="ragas metric",
        name=scorer.name,
        fields=_SINGLE_TURN,
        call=call,
        is_async=True,
        scale=(0.0, 1.0),
    )
