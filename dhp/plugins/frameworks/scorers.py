"""Scorers of autoevals (Braintrust), mlflow.genai and phoenix (arize-phoenix-evals)."""

from collections.abc import Mapping
from typing import Any

from dhp.judge.adapters.adapter import INPUT, OUTPUT, REFERENCE, SOURCE, USUAL, Adapter, is_of

_OF_PHOENIX = {"input": INPUT, "output": OUTPUT, "context": SOURCE, "reference": REFERENCE}
"""Where an evaluator of phoenix does not say what it takes."""


def adapt_autoevals(scorer: Any) -> Adapter | None:
    """An adapter for a `Scorer` of autoevals; None for what is none."""
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


def adapt_mlflow(scorer: Any) -> Adapter | None:
    """An adapter for a `Scorer` of mlflow: decorated functions, classes, judges that `make_judge` makes."""
    if not is_of(scorer, "mlflow", "Scorer"):
        return None

    def call(arguments: Mapping[str, str | None]) -> object:
        inputs = {k: v for k, v in arguments.items() if k not in ("outputs", "expected_response") and v}
        expected = arguments["expected_response"]
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


def adapt_phoenix(scorer: Any) -> Adapter | None:
    """An adapter for an `Evaluator` of phoenix; None for what is none."""
    if not is_of(scorer, "phoenix", "Evaluator"):
        return None

    async def call(arguments: Mapping[str, str | None]) -> object:
        scores = await scorer.async_evaluate(dict(arguments))
        if len(scores) == 1:
            return _score_of(scores[0])
        return [_score_of(score) for score in scores]

    wanted = scorer.input_schema.model_fields if scorer.input_schema else {}
    labels = getattr(scorer, "label_score_map", None) or {}
    values = [float(value) for value in labels.values() if value is not None]
    return Adapter(
        shape="phoenix evaluator",
        name=scorer.name,
        fields={name: USUAL.get(name, (name,)) for name in wanted} or _OF_PHOENIX,
        required=frozenset(name for name, each in wanted.items() if each.is_required() and name not in USUAL),
        optional=frozenset(name for name, each in wanted.items() if not each.is_required()),
        call=call,
        is_async=True,
        scale=(min(values), max(values)) if len(set(values)) > 1 else None,
        lower_is_better=scorer.direction == "minimize",
    )


def _score_of(score: Any) -> dict[str, object]:
    reason = score.explanation or (f"labelled {score.label}" if score.label else None)
    return {"name": score.name, "score": score.score, "reason": reason}
