"""Evaluators of openevals, such as `create_llm_as_judge(...)` makes."""

from dataclasses import replace

from dhp.judge.adapters import plain
from dhp.judge.adapters.adapter import Adapter


def adapt(given: object) -> Adapter | None:
    """An adapter for an evaluator that a function of openevals made; None for what is none."""
    if not str(getattr(given, "__module__", "")).startswith("openevals."):
        return None
    adapter = plain.adapt(given)
    return adapter and replace(adapter, shape="openevals evaluator", name="score", scale=(0.0, 1.0))
