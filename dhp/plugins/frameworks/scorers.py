"""Scorers of frameworks that need one function each: autoevals, deepeval, mlflow.genai and phoenix.

Each `adapt_...` function looks at an object and says None if it is not of its framework; no framework is
imported for that. Else it makes an `Adapter`: which texts of ours the scorer wants by which names, a call
that puts them into the framework's own form, and a reader that makes score and reason of what comes back.
"""

import copy
import inspect
from collections.abc import Collection, Mapping
from importlib import import_module
from typing import Any

from dhp.judge.adapters.adapter import INPUT, OUTPUT, REFERENCE, SOURCE, USUAL, Adapter, is_of

_LISTS_OF_DEEPEVAL = ("context", "retrieval_context")
"""Parameters of deepeval that hold texts, of which a judge is given one."""


def listed_texts(arguments: Mapping[str, str | None], names: Collection[str]) -> dict[str, object]:
    """The arguments, in which each of these names has a list of one text."""
    values: dict[str, object] = dict(arguments)
    for name in names:
        if arguments.get(name) is not None:
            values[name] = [arguments[name]]
    return values


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


def adapt_deepeval(scorer: Any) -> Adapter | None:
    """An adapter for a `BaseMetric`, of which a copy measures each text, as a metric keeps its last score."""
    if not is_of(scorer, "deepeval", "BaseMetric"):
        return None
    # A metric of one's own may have `measure` alone.
    # The base class is found among the metric's own bases, so that deepeval need not be imported.
    by_name = {kind.__name__: kind for kind in type(scorer).__mro__}
    base: Any = by_name["BaseMetric"]
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
    values = listed_texts(arguments, _LISTS_OF_DEEPEVAL)
    values["input"] = values["input"] or ""  # deepeval takes no None
    return import_module("deepeval.test_case").LLMTestCase(**values)


def _quiet(measure: Any) -> dict[str, bool]:
    """The metric without its progress bar, if it has one."""
    has_bar = "_show_indicator" in inspect.signature(measure).parameters
    return {"_show_indicator": False} if has_bar else {}


def _measured(metric: Any, returned: object) -> dict[str, object]:
    if metric.error is not None:
        raise RuntimeError(metric.error)
    score = metric.score if returned is None else returned
    return {"score": score, "reason": metric.reason}


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
        required=frozenset(needed) - set(USUAL),
        optional=frozenset(wanted) - set(needed),
        call=call,
        is_async=True,
        # Labels that all have one value make no scale.
        scale=(min(values), max(values)) if len(set(values)) > 1 else None,
        lower_is_better=scorer.direction == "minimize",
    )


def _score_of(score: Any) -> dict[str, object]:
    reason = score.explanation
    if not reason and score.label:
        reason = f"labelled {score.label}"
    return {"name": score.name, "score": score.score, "reason": reason}
