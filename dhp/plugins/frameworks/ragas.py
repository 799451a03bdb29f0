"""Metrics of ragas: of collections, decorated functions, prompts with a model, older single-turn ones."""

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from dhp.core.errors import InputError
from dhp.judge.adapters.adapter import INPUT, OUTPUT, REFERENCE, SOURCE, USUAL, Adapter, is_of
from dhp.plugins.frameworks.scorers import listed_texts

_OF_RAGAS = {**USUAL, "user_input": INPUT, "retrieved_contexts": SOURCE, "reference_contexts": SOURCE}
"""Parameters of a metric -> the names that our text for it may have."""
_LISTS_OF_RAGAS = ("retrieved_contexts", "reference_contexts")
"""Parameters that hold texts, of which a judge is given one."""
_SINGLE_TURN = {"user_input": INPUT, "response": OUTPUT, "reference": REFERENCE, "retrieved_contexts": SOURCE}


def adapt_ragas(scorer: Any) -> Adapter | None:
    """An adapter for a metric: of collections, a decorated function, a prompt with a model, an older one."""
    if is_of(scorer, "ragas", "SimpleBaseMetric"):
        return _simple(scorer)
    if is_of(scorer, "ragas", "SingleTurnMetric"):
        return _single_turn(scorer)
    return None


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
        result = await scorer.ascore(**listed_texts(arguments, _LISTS_OF_RAGAS), **further)
        return {"score": result.value, "reason": result.reason}

    allowed = scorer.allowed_values
    return Adapter(
        shape="ragas metric",
        name=scorer.name,
        fields={name: _OF_RAGAS.get(name, (name,)) for name in names},
        # The user has to say which text stands behind a name that is not a usual one.
        required=frozenset(names) - set(_OF_RAGAS) - optional,
        optional=optional,
        call=call,
        is_async=True,
        scale=(float(allowed[0]), float(allowed[1])) if _is_range(allowed) else None,
    )


def _parameters(scorer: Any) -> tuple[list[str], frozenset[str]]:
    """The parameters of a metric, and those that are optional: of a prompt, a function or a method."""
    # A prompt: the names of its slots.
    if is_of(scorer, "ragas", "SimpleLLMMetric"):
        return list(scorer.get_variables()), frozenset()
    # A decorated function: ragas makes a model of its parameters.
    if hasattr(scorer, "_create_pydantic_model"):
        fields = scorer._create_pydantic_model().model_fields
        free = frozenset(name for name, each in fields.items() if not each.is_required())
        return list(fields), free

    # A metric of collections: the parameters of the method that scores.
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
        values = listed_texts(arguments, _LISTS_OF_RAGAS)
        sample = import_module("ragas.dataset_schema").SingleTurnSample(**values)
        return await scorer.single_turn_ascore(sample)

    return Adapter(
        shape="ragas metric",
        name=scorer.name,
        fields=_SINGLE_TURN,
        call=call,
        is_async=True,
        scale=(0.0, 1.0),
    )
