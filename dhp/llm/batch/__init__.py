"""Batches: requests in files, answered later and at a lower price, read back into the store."""
