"""Judges: scoring of texts by the metrics of their task."""
