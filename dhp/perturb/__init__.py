"""Degrades texts in known ways: perturbers by rule, found by name, applied with an audit of each edit."""

from dhp.perturb.api import Edited, Perturber, perturber
from dhp.perturb.by_model import ByModel
from dhp.perturb.entities import finder_name
from dhp.perturb.find import LISTS, builtin_perturbers, check_suite, find_perturbers, load_perturber
from dhp.perturb.pipeline import perturb

__all__ = [
    "LISTS",
    "ByModel",
    "Edited",
    "Perturber",
    "builtin_perturbers",
    "check_suite",
    "find_perturbers",
    "finder_name",
    "load_perturber",
    "perturb",
    "perturber",
]
