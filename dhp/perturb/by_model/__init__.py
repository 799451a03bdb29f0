"""Perturbations that a language model carries out: prompts, answers and their checks."""

from dhp.perturb.by_model.model import ByModel
from dhp.perturb.by_model.prompts import AgainPrompt, PerturbPrompt, StepsPrompt, prompt_name

__all__ = ["AgainPrompt", "ByModel", "PerturbPrompt", "StepsPrompt", "prompt_name"]
