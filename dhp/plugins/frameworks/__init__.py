"""Scorers of other frameworks as judges, recognised by their attributes; no framework is imported."""
