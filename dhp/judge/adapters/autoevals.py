"""Scorers of autoevals (Braintrust)."""

from collections.abc import Mapping
from typing import Any

from dhp.judge.adapters.adapter import INPUT, OUTPUT, REFERENCE, SOURCE, Adapter, is_of


def adapt(given: Any) -> Adapter | None:
    """An adapter for a `Scorer`; None for what is none."""
    if not is_of(given, "autoevals", "Scorer"):
        return None

    async def call(arguments: Mapping[str, str | None]) -> object:
        return await given.eval_async(**arguments)

    return Adapter(
        shape="autoevals scorer",
        name=given._name(),
        fields={"input": INPUT, "output": OUTPUT, "expected": REFERENCE, "context": SOURCE},
        optional=frozenset({"input", "context"}),
        call=call,
        is_async=True,
        scale=(0.0, 1.0),
    )
