"""Models that run in this process by transformers: `hf/NAME_OR_PATH`."""

from dhp.llm.hf.model import HfModel

__all__ = ["HfModel"]
