"""`dhp benchmark --preset paper`: the settings of Wang et al. (2025), appendices D and E."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from dhp.analysis.config import AnalysisConfig
from dhp.analysis.schedules import ALL
from dhp.cli.options import stated
from dhp.cli.protocol_options import DEFAULT_PROTOCOL, ProtocolChanges
from dhp.core.errors import InputError, one_of
from dhp.core.options import option
from dhp.perturb.settings import Choice, PerturbModel

R = TypeVar("R")

PAPER: Mapping[str, Mapping[str, object]] = {
    "changes": {
        "answer": "score-only",
        "steps": "auto",
        "samples": 5,
        "temperature": 0.0,
        "extraction": "parse",
        "reference": False,
        "persona": "none",
        "prompt_files": (),
    },
    "analysis": {
        "statistics": "paper",
        "combination": "printed",
    },
    "choice": {"controls": False, "attacks": False, "doses": None},
    "choice.perturb_model": {"steps": "auto"},
}
"""Settings record -> its fields as the paper has them."""
PRESETS = ("paper",)


@dataclass(frozen=True)
class Preset:
    """Settings of a publication."""

    preset: str | None = field(
        default=None,
        metadata=option(
            "All settings of the DHP paper: its six sets, steps by the model, five answers at temperature 0, "
            "its statistics, no controls.",
            metavar="paper",
        ),
    )

    def __post_init__(self) -> None:
        if self.preset is not None:
            one_of("preset", self.preset, PRESETS)

    def datasets(self, given: tuple[str, ...]) -> tuple[str, ...]:
        """The datasets that are given, else all six of the paper."""
        return given or (("all",) if self.preset else ())

    def applied(
        self,
        protocol: tuple[str, ...],
        changes: ProtocolChanges,
        analysis: AnalysisConfig,
        choice: Choice,
        schedule: str,
    ) -> tuple[ProtocolChanges, AnalysisConfig, Choice]:
        """The settings with those of the preset; raises `InputError` for an option that contradicts it."""
        if self.preset is None:
            return changes, analysis, choice
        if protocol != (DEFAULT_PROTOCOL,):
            raise _contradiction("--protocol", "protocol", DEFAULT_PROTOCOL)
        if schedule != ALL.name:
            raise _contradiction(f"--{schedule.replace('_', '-')}", schedule, None)
        choice = _fixed(choice, "choice")
        if isinstance(choice.perturb_model, PerturbModel):
            model = _fixed(choice.perturb_model, "choice.perturb_model")
            choice = replace(choice, perturb_model=model)
        return _fixed(changes, "changes"), _fixed(analysis, "analysis"), choice


def _fixed(record: R, parameter: str) -> R:
    for name, value in PAPER[parameter].items():
        if getattr(record, name) != value and (options := stated(f"{parameter}.{name}")):
            raise _contradiction(options[0], name, value)
    whole: Any = record
    changed: R = replace(whole, **PAPER[parameter])
    return changed


def _contradiction(option: str, name: str, value: object) -> InputError:
    has = f"no {name}" if value in ((), None) or value is False else f"{name} {value}"
    return InputError(
        f"{option}: contradicts --preset paper, which has {has.replace('_', ' ')}; leave one of them out"
    )
