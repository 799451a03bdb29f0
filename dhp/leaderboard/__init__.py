"""Leaderboards: many runs as one static site, to which results are added by file."""

from dhp.leaderboard.add import add_results
from dhp.leaderboard.entries import Entry
from dhp.leaderboard.reading import read_entries
from dhp.leaderboard.site import write_site
from dhp.leaderboard.tables import Row, Table, make_tables

__all__ = ["Entry", "Row", "Table", "add_results", "make_tables", "read_entries", "write_site"]
