"""The tiny model and the server that has it, for all tests of this folder; none looks at a chart."""

from tests.llm.hf_server import transformers_server
from tests.llm.tiny_model import tiny_model
from tests.quick import short_waits, undrawn_charts

__all__ = ["short_waits", "tiny_model", "transformers_server", "undrawn_charts"]
