"""Perturbers by rule: for characters, words, sentences, and for texts that spaCy parses."""
