"""Loaders: published datasets and the user's own files as examples."""
