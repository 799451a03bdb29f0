"""Runs on disk, and comparisons and gates on them."""
