"""The probes of a run: controls, which must not lower a score, and attacks, which must not raise it."""

from collections.abc import Mapping

from dhp.content.catalog import read_probes
from dhp.core.specs import PerturberUse

_BY_DEFAULT = "harmless"
"""The control that runs have unless they say otherwise: one variant more. `identity` shows how steady scores
are, not what they fall for, so it has to be asked for."""


def chosen_probes(controls: bool | None, attacks: bool) -> Mapping[str, PerturberUse]:
    """Perturber -> its parameters.

    `controls` None takes harmless edits, True the original a second time, too, False none.
    """
    chosen = dict[str, PerturberUse]()
    if controls is not False:
        known = read_probes("controls").perturbers
        chosen.update(known if controls else {_BY_DEFAULT: known[_BY_DEFAULT]})
    if attacks:
        chosen.update(read_probes("attacks").perturbers)
    return chosen
