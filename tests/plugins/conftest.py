"""Runs the command line in this process, as for the commands of the core; the tiny model and its server."""

from tests.cli.conftest import dhp, short_waits, undrawn_charts
from tests.llm.hf_server import transformers_server
from tests.llm.tiny_model import tiny_model

__all__ = ["dhp", "short_waits", "tiny_model", "transformers_server", "undrawn_charts"]
