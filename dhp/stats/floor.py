"""The floor of detection."""

FLOOR = 0.6
"""Detection from which damage counts as noticed, where nothing else is said."""
