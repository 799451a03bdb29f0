"""Grammatical errors, by rule."""
