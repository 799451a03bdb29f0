"""Judges: what scores a text on the metrics of its task."""
