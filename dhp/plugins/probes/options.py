"""Options of `dhp probe`."""

from dataclasses import dataclass
from typing import Literal, get_args

from dhp.core.checks import Checked
from dhp.core.options import option
from dhp.core.records import ORIGINAL

Probe = Literal["invariance", "verbosity", "calibration", "stability"]
PROBES: tuple[Probe, ...] = get_args(Probe)
STABILITY_DOSE = 4
"""Damages in the texts of which the order with the original is asked several times."""
NOISE_REPEATS = 3
"""How often the original is rated at least: changes are compared with the differences between these."""


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
        """The probes in their order, all if none is named."""
        return tuple(name for name in PROBES if name in (self.probes or PROBES))

    def passes(self, variant: str) -> int:
        """How often a text of this variant is rated; the original several times, for the noise."""
        repeated = variant in (ORIGINAL, f"{self.damage}.k{STABILITY_DOSE}")
        if "stability" in self.names and repeated:
            return max(self.repeats, NOISE_REPEATS if variant == ORIGINAL else 0)
        return NOISE_REPEATS if variant == ORIGINAL else 1
