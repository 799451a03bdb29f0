"""Runs the command line in this process, as for the commands of the core."""

from tests.cli.conftest import dhp, short_waits, undrawn_charts

__all__ = ["dhp", "short_waits", "undrawn_charts"]
