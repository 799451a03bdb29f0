"""The tiny model and the server that has it, for all tests of this folder; none looks at a chart."""

from tests.charts import undrawn_charts
from tests.llm.hf_server import transformers_server
from tests.llm.tiny_model import tiny_model

__all__ = ["tiny_model", "transformers_server", "undrawn_charts"]
