"""Statistics of discernment: functions of arrays, without models or files."""

FLOOR = 0.6
"""Detection from which damage counts as noticed, where nothing else is said."""
