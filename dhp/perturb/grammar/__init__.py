"""Grammatical errors, by rule."""

from dhp.perturb.grammar.perturber import grammatical_errors_rule
from dhp.perturb.grammar.words import GrammarLists

__all__ = ["GrammarLists", "grammatical_errors_rule"]
