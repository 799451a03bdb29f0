"""No test of this folder looks at a chart."""

from tests.quick import undrawn_charts

__all__ = ["undrawn_charts"]
