"""Runs on disk, and comparisons, gates and power on them."""
