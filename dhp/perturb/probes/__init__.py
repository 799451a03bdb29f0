"""Probes: controls and attacks, which make no text worse."""
