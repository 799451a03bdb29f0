"""The probes of a run: controls, which must not lower a score, and attacks, which must not raise it."""

from collections.abc import Mapping

from dhp.content.catalog import read_probes
from dhp.core.specs import PerturberUse

_BY_DEFAULT = "harmless"
"""One variant more. `identity` shows how steady scores are, not what they fall for: it takes a wish."""


def chosen_probes(controls: bool | None, attacks: bool) -> Mapping[str, PerturberUse]:
    """Perturber -> its parameters.

    `controls` None takes harmless edits, True the original a second time, too, False none.
    """
    known = read_probes("controls").perturbers
    chosen = {
        name: use for name, use in known.items() if controls or (controls is None and name == _BY_DEFAULT)
    }
    return {**chosen, **(read_probes("attacks").perturbers if attacks else {})}
