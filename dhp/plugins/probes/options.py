"""Options of `dhp probe`."""

from dataclasses import dataclass
from typing import Literal, get_args

from dhp.core.checks import Checked
from dhp.core.options import option
from dhp.core.records import ORIGINAL

Probe = Literal["invariance", "verbosity", "calibration", "stability"]
PROBES: tuple[Probe, ...] = get_args(Probe)
STABILITY_DOSE = 4
"""Damages in the copies whose order with the original is asked for several times. Chosen among the doses of
calibration, whose copies then serve both probes."""
NOISE_REPEATS = 3
"""How often the original is rated at least: changes are compared with the differences between these ratings.
Chosen: three ratings make three pairs, two would make one."""


@dataclass(frozen=True)
class ProbeChoice(Checked):
    """What is probed."""

    parameter = "chosen"

    probes: tuple[Probe, ...] = option(
        "invariance, verbosity, calibration or stability; may be repeated; default: all.",
        default=(),
        name="--probe",
        metavar="NAME",
        repeatable=True,
    )
    damage: str = option(
        "Damage that calibration and stability count.", default="word_deletions", metavar="PERTURBER"
    )
    repeats: int = option("How often stability asks for each rating.", default=5, metavar="K", ge=2, le=100)

    @property
    def names(self) -> tuple[Probe, ...]:
        """The probes in their order; all of them if the user names none."""
        if not self.probes:
            return PROBES
        return tuple(name for name in PROBES if name in self.probes)

    def passes(self, variant: str) -> int:
        """How often a text of this variant is rated; the original several times, for the noise."""
        passes = NOISE_REPEATS if variant == ORIGINAL else 1
        if "stability" in self.names and variant in (ORIGINAL, f"{self.damage}.k{STABILITY_DOSE}"):
            return max(self.repeats, passes)
        return passes
