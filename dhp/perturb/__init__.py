"""Degrades texts in known ways: perturbers by rule, found by name, applied with an audit of each edit."""
