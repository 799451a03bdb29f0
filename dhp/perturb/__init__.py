"""Degrades texts in known ways, by rules, authored edits or a language model, and audits each edit."""
