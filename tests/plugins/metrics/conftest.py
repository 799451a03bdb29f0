"""The tiny model, for metrics that a language model computes."""

from tests.llm.tiny_model import tiny_model

__all__ = ["tiny_model"]
