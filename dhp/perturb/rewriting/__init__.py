"""Sentences rephrased and said again, by rule."""
