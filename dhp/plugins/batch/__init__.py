"""Batches: requests that are answered later and at a lower price, in files or by a provider."""
