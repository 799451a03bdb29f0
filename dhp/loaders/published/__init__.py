"""Readers of published datasets and pairs, in the form in which their owners publish them."""
