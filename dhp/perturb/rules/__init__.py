"""Perturbers by rule."""
