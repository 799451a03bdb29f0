"""Perturbers by rule: for characters, words and sentences."""
