"""Readers of published datasets and pairs in their original format."""
