"""Adapters for functions and for scorers of evaluation frameworks."""
