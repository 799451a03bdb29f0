"""Battles of systems, evaluation by category, and recorded verdicts on pairs."""
