"""Suites with many doses, and the check of a suite against the languages of the texts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from dhp.core.errors import InputError, suggest
from dhp.core.keywords import Registry, as_list
from dhp.core.language import language_name
from dhp.core.records import Variant
from dhp.core.specs import PerturberUse, Suite
from dhp.loaders.dataset import Dataset
from dhp.perturb.api import DOSES, Perturber
from dhp.perturb.apply import example_language

Doses = Sequence[int] | Mapping[str, Sequence[int]]
"""The doses k of all perturbers that take one, or of those named."""


def dosed(suite: Suite, doses: Doses, perturbers: Registry[Perturber]) -> Suite:
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
        amounts = as_list(amounts)
        rising = all(isinstance(k, int) for k in amounts) and all(a < b for a, b in pairwise(amounts))
        if len(amounts) < 2 or not rising or amounts[0] < 1:
            shown = ",".join(map(str, amounts))
            raise InputError(f"doses '{shown}': allowed: two or more rising whole numbers from 1 on")
        use = suite.perturbers[name]
        first = use.variants(name)[0].params
        others = {parameter: value for parameter, value in first.items() if parameter not in DOSES}
        by_dose = {f"k{k}": {**others, "k": k} for k in amounts}
        uses[name] = use.model_copy(update={"degrees": by_dose, "params": None})
    return suite.with_perturbers(uses).model_copy(update={"suite": f"{suite.suite}_doses"})


def language_note(
    dataset: Dataset, variants: Sequence[Variant], perturbers: Registry[Perturber]
) -> str | None:
    """Which variants are lost to the languages of the texts and what is left; None where nothing is lost.

    Only variants by rule are for certain languages.
    """
    spoken = Counter(example_language(e, dataset.language) for e in dataset.examples)
    total = spoken.total()
    lost: dict[str, int] = {}
    for variant in variants:
        if variant.method == "rule":
            able = perturbers[variant.perturber]
            lost[variant.name] = sum(n for code, n in spoken.items() if able.language_fault(code) is not None)
    if not any(lost.values()):
        return None
    named = [f"{language_name(code)} {n}" for code, n in spoken.most_common() if code is not None]
    if spoken[None]:
        named.append(f"not declared {spoken[None]}")
    faults = dict.fromkeys(
        v.perturber if lost[v.name] == total else f"{v.perturber} ({lost[v.name]} of {total} texts)"
        for v in variants
        if lost.get(v.name)
    )
    left = sum(lost.get(v.name, 0) < total for v in variants)
    say = "; set `text_language`, a column `language`, or output_language in the task" if spoken[None] else ""
    return (
        f"{dataset.name}: language of the texts: {', '.join(named)}: not applicable: {', '.join(faults)}; "
        f"left: {left} of {len(variants)} variants{say}"
    )
