"""Sentences rephrased and said again, by rule."""

from dhp.perturb.rewriting.perturber import rewriting_insertion_rule
from dhp.perturb.rewriting.words import RephrasingLists

__all__ = ["RephrasingLists", "rewriting_insertion_rule"]
