"""Plain functions, any object that is called like one, and the functions of langfuse and openevals."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from dhp.core.errors import InputError
from dhp.judge.adapters.adapter import INPUT, OUTPUT, REFERENCE, USUAL, Adapter

_KINDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_OF_LANGFUSE = {"input", "output", "expected_output"}
"""Parameters of an evaluator of langfuse."""


def adapt(scorer: object) -> Adapter | None:
    """An adapter for a callable; None for what is none."""
    if not callable(scorer) or isinstance(scorer, type):
        return None
    adapter = _function(scorer)
    if str(getattr(scorer, "__module__", "")).startswith("openevals."):  # as `create_llm_as_judge(...)` makes
        return replace(adapter, shape="openevals evaluator", scale=(0.0, 1.0))
    return replace(adapter, shape="langfuse evaluator") if set(adapter.fields) >= _OF_LANGFUSE else adapter


def _function(scorer: Callable[..., Any]) -> Adapter:
    name = getattr(scorer, "__name__", None) or type(scorer).__name__
    if isinstance(scorer, partial):
        name = getattr(scorer.func, "__name__", name)
    try:
        parameters = inspect.signature(scorer).parameters.values()
    except (TypeError, ValueError):
        raise InputError(
            f"judge '{name}': its parameters are unknown; allowed: a function with named parameters, such as "
            "f(*, inputs, outputs, reference_outputs=None)"
        ) from None
    if nameless := [p.name for p in parameters if p.kind is p.POSITIONAL_ONLY]:
        raise InputError(f"judge '{name}': parameter '{nameless[0]}' has no name by which it can be given")
    named = [p for p in parameters if p.kind in _KINDS]
    further = any(p.kind is p.VAR_KEYWORD for p in parameters)
    fields = {p.name: USUAL.get(p.name, (p.name,)) for p in named}
    if further and OUTPUT not in fields.values():
        fields |= {"inputs": INPUT, "outputs": OUTPUT, "reference_outputs": REFERENCE}
    return Adapter(
        shape="function",
        name="score",
        fields=fields,
        call=_call(scorer),
        required=frozenset(p.name for p in named if p.default is p.empty and p.name not in USUAL),
        optional=frozenset(p.name for p in named if p.default is not p.empty),
        takes_further=further,
        is_async=_is_async(scorer),
    )


def _is_async(scorer: object) -> bool:
    of_instance = getattr(type(scorer), "__call__", None)  # noqa: B004  the method itself is wanted
    return any(
        inspect.iscoroutinefunction(each)
        for each in (scorer, of_instance, scorer.func if isinstance(scorer, partial) else None)
    )


def _call(scorer: Callable[..., Any]) -> Callable[[Mapping[str, str | None]], object]:
    if _is_async(scorer):

        async def awaited(arguments: Mapping[str, str | None]) -> object:
            return await scorer(**arguments)

        return awaited
    return lambda arguments: scorer(**arguments)
