"""Extraction of scores from answers."""
