"""Leaderboards: many runs as one static site, to which results are added by file."""
