"""dhp: can this judge tell good text from the same text made worse?

Discernment of Hierarchical Perturbation (Wang et al. 2025): degrade reference texts in known ways, let a
judge score originals and degraded copies, test whether the scores fell. Names are imported on first use.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dhp._version import __version__

if TYPE_CHECKING:
    from dhp.analysis.analyze import analyze
    from dhp.analysis.config import AnalysisConfig
    from dhp.analysis.results import Result, Results
    from dhp.content.own_task import own_metric, own_task
    from dhp.core.errors import DhpError, InputError, NotApplicable, StoppedEarly
    from dhp.core.protocol_spec import Protocol
    from dhp.core.records import Candidate, Example, Rating, Variant
    from dhp.judge.adapters.settings import JudgeSettings
    from dhp.judge.api import Judge
    from dhp.judge.factory import llm_judge, protocol
    from dhp.judge.judges.llm import LlmJudge
    from dhp.leaderboard.site import write_leaderboard as leaderboard
    from dhp.llm.limits import Limits, Prices, RateLimits
    from dhp.llm.settings import ModelSettings
    from dhp.loaders.dataset import Dataset
    from dhp.loaders.rated import read_human_scores
    from dhp.perturb.api import Edited, Perturber, perturber
    from dhp.perturb.builder import perturb_datasets
    from dhp.perturb.settings import Choice, PerturbModel
    from dhp.report.page import write_report as report
    from dhp.run import estimate, run
    from dhp.run import judge_texts as judge
    from dhp.runs.compare import compare
    from dhp.runs.gate import gate

__all__ = [
    "AnalysisConfig",
    "Candidate",
    "Choice",
    "Dataset",
    "DhpError",
    "Edited",
    "Example",
    "InputError",
    "Judge",
    "JudgeSettings",
    "Limits",
    "LlmJudge",
    "ModelSettings",
    "NotApplicable",
    "PerturbModel",
    "Perturber",
    "Prices",
    "Protocol",
    "RateLimits",
    "Rating",
    "Result",
    "Results",
    "StoppedEarly",
    "Variant",
    "__version__",
    "analyze",
    "compare",
    "estimate",
    "gate",
    "judge",
    "leaderboard",
    "llm_judge",
    "own_metric",
    "own_task",
    "perturb_datasets",
    "perturber",
    "protocol",
    "read_human_scores",
    "report",
    "run",
]

_MODULES = {
    "analysis.analyze": "analyze",
    "analysis.config": "AnalysisConfig",
    "analysis.results": "Result Results",
    "content.own_task": "own_metric own_task",
    "core.errors": "DhpError InputError NotApplicable StoppedEarly",
    "core.protocol_spec": "Protocol",
    "core.records": "Candidate Example Rating Variant",
    "judge.adapters.settings": "JudgeSettings",
    "judge.api": "Judge",
    "judge.factory": "llm_judge protocol",
    "judge.judges.llm": "LlmJudge",
    "llm.limits": "Limits Prices RateLimits",
    "llm.settings": "ModelSettings",
    "loaders.dataset": "Dataset",
    "loaders.rated": "read_human_scores",
    "perturb.api": "Edited Perturber perturber",
    "perturb.builder": "perturb_datasets",
    "perturb.settings": "Choice PerturbModel",
    "run": "estimate run",
    "runs.compare": "compare",
    "runs.gate": "gate",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}
_CALLABLE = {
    "judge": ("run", "judge_texts"),
    "leaderboard": ("leaderboard.site", "write_leaderboard"),
    "report": ("report.page", "write_report"),
}
"""Package -> the module and the function in it that the package calls."""


class _Package(ModuleType):
    """Keeps `dhp.run` the function, and lets the packages of `_CALLABLE` be called.

    Python sets a module as an attribute of its package when it is imported, anywhere: `import dhp.run` would
    replace the function by the module.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if name in _CALLABLE and isinstance(value, ModuleType):
            value.__class__ = _CallablePackage
        super().__setattr__(name, getattr(value, name) if name == "run" else value)


class _CallablePackage(ModuleType):
    """A package that can be called; see `_CALLABLE`."""

    def __call__(self, *arguments: Any, **settings: Any) -> Any:
        module, function = _CALLABLE[self.__name__.rpartition(".")[2]]
        return getattr(importlib.import_module(f"{__name__}.{module}"), function)(*arguments, **settings)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name in _CALLABLE:
        return importlib.import_module(f"dhp.{name}")
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f"dhp.{_MODULE_OF[name]}"), name)
    if not name.startswith("_"):
        from dhp.core.plugins import load_target, offered

        target = offered("functions").get(name)
        if target:
            return load_target(target)
    raise AttributeError(f"module 'dhp' has no attribute '{name}'")


def __dir__() -> list[str]:
    from dhp.core.plugins import offered

    return sorted([*__all__, *offered("functions")])
