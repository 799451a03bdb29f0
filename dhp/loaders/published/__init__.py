"""Readers of the benchmark's datasets and of published pairs, in the form in which their owners publish them."""
