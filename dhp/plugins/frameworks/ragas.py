"""Metrics of ragas: collections, decorated functions, prompts with a model, older single-turn ones."""

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from dhp.core.errors import InputError
from dhp.judge.adapters.adapter import INPUT, OUTPUT, REFERENCE, SOURCE, USUAL, Adapter, is_of

_FIELDS = {**USUAL, "user_input": INPUT, "retrieved_contexts": SOURCE, "reference_contexts": SOURCE}
_LISTS = ("retrieved_contexts", "reference_contexts")
_SINGLE_TURN = {"user_input": INPUT, "response": OUTPUT, "reference": REFERENCE, "retrieved_contexts": SOURCE}


def adapt(scorer: Any) -> Adapter | None:
    """An adapter for a metric; None for what is none."""
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
        result = await scorer.ascore(**_listed(arguments), **further)
        return {"score": result.value, "reason": result.reason}

    allowed = scorer.allowed_values
    return Adapter(
        shape="ragas metric",
        name=scorer.name,
        fields={name: _FIELDS.get(name, (name,)) for name in names},
        required=frozenset(name for name in names if name not in _FIELDS and name not in optional),
        optional=optional,
        call=call,
        is_async=True,
        scale=(float(allowed[0]), float(allowed[1])) if _is_range(allowed) else None,
    )


def _parameters(scorer: Any) -> tuple[list[str], frozenset[str]]:
    """What a metric takes, and what of it need not be given: of a prompt, a decorated function, a method."""
    if is_of(scorer, "ragas", "SimpleLLMMetric"):
        return list(scorer.get_variables()), frozenset()
    if hasattr(scorer, "_create_pydantic_model"):
        fields = scorer._create_pydantic_model().model_fields
        return list(fields), frozenset(name for name, each in fields.items() if not each.is_required())
    known = inspect.signature(scorer.ascore).parameters.values()
    named = [p for p in known if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    return [p.name for p in named], frozenset(p.name for p in named if p.default is not p.empty)


def _is_range(allowed: object) -> bool:
    return (
        isinstance(allowed, tuple)
        and len(allowed) == 2
        and all(isinstance(each, int | float) for each in allowed)
    )


def _listed(arguments: Mapping[str, str | None]) -> dict[str, object]:
    return {k: [v] if k in _LISTS and v is not None else v for k, v in arguments.items()}


def _single_turn(scorer: Any) -> Adapter:
    async def call(arguments: Mapping[str, str | None]) -> object:
        sample = import_module("ragas.dataset_schema").SingleTurnSample(**_listed(arguments))
        return await scorer.single_turn_ascore(sample)

    return Adapter(
        shape="ragas metric",
        name=scorer.name,
        fields=_SINGLE_TURN,
        call=call,
        is_async=True,
        scale=(0.0, 1.0),
    )
