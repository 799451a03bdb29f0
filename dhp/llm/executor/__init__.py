"""Executors: work in this process, or on the workers of a cluster."""
