"""Evaluators of phoenix (arize-phoenix-evals)."""

from collections.abc import Mapping
from typing import Any

from dhp.judge.adapters.adapter import INPUT, OUTPUT, REFERENCE, SOURCE, USUAL, Adapter, is_of

_OTHERWISE = {"input": INPUT, "output": OUTPUT, "context": SOURCE, "reference": REFERENCE}


def adapt(given: Any) -> Adapter | None:
    """An adapter for an `Evaluator`; None for what is none."""
    if not is_of(given, "phoenix", "Evaluator"):
        return None

    async def call(arguments: Mapping[str, str | None]) -> object:
        scores = await given.async_evaluate(dict(arguments))
        if len(scores) == 1:
            return _read(scores[0])
        return [_read(score) for score in scores]

    wanted = given.input_schema.model_fields if given.input_schema else {}
    labels = getattr(given, "label_score_map", None) or {}
    values = [float(value) for value in labels.values() if value is not None]
    return Adapter(
        shape="phoenix evaluator",
        name=given.name,
        fields={name: USUAL.get(name, (name,)) for name in wanted} or _OTHERWISE,
        required=frozenset(name for name, each in wanted.items() if each.is_required() and name not in USUAL),
        optional=frozenset(name for name, each in wanted.items() if not each.is_required()),
        call=call,
        is_async=True,
        scale=(min(values), max(values)) if len(set(values)) > 1 else None,
        lower_is_better=given.direction == "minimize",
    )


def _read(score: Any) -> dict[str, object]:
    reason = score.explanation or (f"labelled {score.label}" if score.label else None)
    return {"name": score.name, "score": score.score, "reason": reason}
