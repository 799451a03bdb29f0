"""Perturbers that read a text as spaCy parses it."""
