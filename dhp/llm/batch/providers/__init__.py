"""Providers that answer batches, each through its own package."""
