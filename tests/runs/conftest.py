"""No test of this folder looks at a chart."""

from tests.charts import undrawn_charts

__all__ = ["undrawn_charts"]
