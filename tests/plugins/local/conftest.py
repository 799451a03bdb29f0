"""The tiny model and the server that has it."""

from tests.llm.hf_server import transformers_server
from tests.llm.tiny_model import tiny_model

__all__ = ["tiny_model", "transformers_server"]
