"""A suite with one variant a dose."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from dhp.core.errors import InputError, suggest
from dhp.core.options import as_list
from dhp.core.specs import PerturberUse, Suite
from dhp.perturb.api import Perturber, without_dose

Doses = Sequence[int] | Mapping[str, Sequence[int]]
"""The doses k of all perturbers that take one, or of those named."""


def dosed(suite: Suite, doses: Doses, perturbers: Mapping[str, Perturber]) -> Suite:
    """A suite with one variant a dose, `<perturber>.k<dose>`.

    It is called `<suite>_doses` and has the perturbers with a parameter `k`; their other parameters are those
    of the first degree. Doses are numbers of edits, two or more, rising from 1 on, for all these perturbers
    or by perturber; `InputError` for others, and for perturbers that take none.
    """
    able = [name for name in suite.perturbers if "k" in perturbers[name].parameters]
    if not able:
        raise InputError(f"suite '{suite.suite}': no perturber takes a dose; allowed: one with a parameter k")
    wanted = doses if isinstance(doses, Mapping) else dict.fromkeys(able, doses)
    uses: dict[str, PerturberUse] = {}
    for name, amounts in wanted.items():
        if name not in able:
            raise InputError(f"doses: '{name}' takes none in suite '{suite.suite}'; {suggest(name, able)}")
        use = suite.perturbers[name]
        first_degree = use.variants(name)[0]
        others = without_dose(first_degree.params)
        by_dose: dict[str, Mapping[str, object]] = {}
        for k in _checked(as_list(amounts)):
            by_dose[f"k{k}"] = {**others, "k": k}
        uses[name] = use.model_copy(update={"degrees": by_dose, "params": None})
    return suite.with_perturbers(uses).model_copy(update={"suite": f"{suite.suite}_doses"})


def _checked(amounts: Sequence[int]) -> Sequence[int]:
    """The doses of a perturber; raises `InputError` unless they are two or more, rising from 1 on."""
    are_whole = all(isinstance(k, int) for k in amounts)
    if are_whole and len(amounts) > 1 and amounts[0] >= 1 and all(a < b for a, b in pairwise(amounts)):
        return amounts
    shown = ",".join(map(str, amounts))
    raise InputError(f"doses '{shown}': allowed: two or more rising whole numbers from 1 on")
