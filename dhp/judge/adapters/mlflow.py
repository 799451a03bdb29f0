"""Scorers of mlflow.genai: decorated functions, classes, and judges that `make_judge` makes."""

from collections.abc import Mapping
from typing import Any

from dhp.judge.adapters.adapter import OUTPUT, REFERENCE, SOURCE, Adapter, is_of


def adapt(given: Any) -> Adapter | None:
    """An adapter for a `Scorer`; None for what is none."""
    if not is_of(given, "mlflow", "Scorer"):
        return None

    def call(arguments: Mapping[str, str | None]) -> object:
        inputs = {k: v for k, v in arguments.items() if k not in ("outputs", "expected_response") and v}
        expected = arguments["expected_response"]
        return given.run(
            inputs=inputs,
            outputs=arguments["outputs"],
            expectations=None if expected is None else {"expected_response": expected},
        )

    return Adapter(
        shape="mlflow scorer",
        name=given.name,
        fields={
            "question": ("question",),
            "source": SOURCE,
            "outputs": OUTPUT,
            "expected_response": REFERENCE,
        },
        call=call,
    )
