"""dhp: can this judge tell good text from the same text made worse?

Discernment of Hierarchical Perturbation (Wang et al. 2025): degrade reference texts in known ways, let a
judge score originals and degraded copies, test whether the scores fell. Names are imported on first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dhp.analysis import analyze
    from dhp.asking import Asking
    from dhp.data import Dataset
    from dhp.errors import DhpError, InputError, NotApplicable, StoppedEarly
    from dhp.judge import Candidate, Judge
    from dhp.judges import protocol
    from dhp.llm import Limits, Pace, Prices
    from dhp.making import perturb_datasets
    from dhp.perturb import Edited, Perturber, perturber
    from dhp.perturb_model import PerturbModel
    from dhp.pipeline import estimate, run
    from dhp.protocols import Protocol
    from dhp.records import Example, Rating, Variant
    from dhp.results import Result, Results

__version__ = "0.1.0"

__all__ = [
    "Asking",
    "Candidate",
    "Dataset",
    "DhpError",
    "Edited",
    "Example",
    "InputError",
    "Judge",
    "Limits",
    "NotApplicable",
    "Pace",
    "PerturbModel",
    "Perturber",
    "Prices",
    "Protocol",
    "Rating",
    "Result",
    "Results",
    "StoppedEarly",
    "Variant",
    "analyze",
    "estimate",
    "perturb_datasets",
    "perturber",
    "protocol",
    "run",
]

_HOMES = {
    "analyze": "analysis",
    "Dataset": "data",
    "DhpError": "errors",
    "InputError": "errors",
    "NotApplicable": "errors",
    "StoppedEarly": "errors",
    "Candidate": "judge",
    "Judge": "judge",
    "Asking": "asking",
    "protocol": "judges",
    "Limits": "llm",
    "Pace": "llm",
    "Prices": "llm",
    "Edited": "perturb",
    "Perturber": "perturb",
    "perturber": "perturb",
    "perturb_datasets": "making",
    "PerturbModel": "perturb_model",
    "estimate": "pipeline",
    "run": "pipeline",
    "Protocol": "protocols",
    "Example": "records",
    "Rating": "records",
    "Variant": "records",
    "Result": "results",
    "Results": "results",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'dhp' has no attribute '{name}'")
    return getattr(importlib.import_module(f"dhp.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
