"""Evaluators of langfuse: functions of input, output and expected_output that return an Evaluation."""

from dataclasses import replace

from dhp.judge.adapters import plain
from dhp.judge.adapters.adapter import Adapter

_PARAMETERS = {"input", "output", "expected_output"}


def adapt(given: object) -> Adapter | None:
    """An adapter for a function with langfuse's parameters; None for what is none."""
    adapter = plain.adapt(given)
    if adapter is None or not set(adapter.fields) >= _PARAMETERS:
        return None
    return replace(adapter, shape="langfuse evaluator")
