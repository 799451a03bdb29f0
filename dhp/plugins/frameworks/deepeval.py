"""Metrics of deepeval: a copy of the metric measures each text, as a metric keeps its last score."""

import copy
import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from dhp.judge.adapters.adapter import INPUT, OUTPUT, REFERENCE, SOURCE, Adapter, is_of

_LISTS = ("context", "retrieval_context")


def adapt(scorer: Any) -> Adapter | None:
    """An adapter for a `BaseMetric`; None for what is none."""
    if not is_of(scorer, "deepeval", "BaseMetric"):
        return None
    base: Any = next(b for b in type(scorer).__mro__ if b.__name__ == "BaseMetric")
    is_async = type(scorer).a_measure is not base.a_measure

    async def awaited(arguments: Mapping[str, str | None]) -> object:
        metric = copy.copy(scorer)
        return _read(metric, await metric.a_measure(_case(arguments), **_quiet(metric.a_measure)))

    def called(arguments: Mapping[str, str | None]) -> object:
        metric = copy.copy(scorer)
        return _read(metric, metric.measure(_case(arguments), **_quiet(metric.measure)))

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
    given: dict[str, object] = dict(arguments)
    for name in _LISTS:
        given[name] = None if given[name] is None else [given[name]]
    return import_module("deepeval.test_case").LLMTestCase(**{**given, "input": given["input"] or ""})


def _quiet(measure: Any) -> dict[str, bool]:
    """The metric without its progress bar, if it has one."""
    return {"_show_indicator": False} if "_show_indicator" in inspect.signature(measure).parameters else {}


def _read(metric: Any, returned: object) -> dict[str, object]:
    if metric.error is not None:
        raise RuntimeError(metric.error)
    return {"score": metric.score if returned is None else returned, "reason": metric.reason}
