"""Perturbations that a language model carries out: prompts, answers and their checks."""
