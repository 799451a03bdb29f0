"""Leaderboards: many runs as one static site, to which results are added by file."""

FOLDER = "site"
"""Where a site is written unless its place is named."""
