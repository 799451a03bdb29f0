"""Fetching of datasets: downloaded, checked, unpacked, and kept as a prepared copy."""
