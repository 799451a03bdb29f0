"""A suite and the perturbers that it names: do they agree, and which rule stands in for a language model."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from dhp.core.errors import InputError, suggest
from dhp.core.records import Variant
from dhp.core.specs import PerturberUse, Suite
from dhp.perturb.api import Perturber, without_dose


def check_suite(suite: Suite, perturbers: Mapping[str, Perturber]) -> None:
    """Raise `InputError` if a suite disagrees with the perturbers it names."""
    for name, use in suite.perturbers.items():
        place = f"{suite.origin or suite.suite}: perturbers.{name}"
        if name not in perturbers:
            raise InputError(f"{place}: unknown perturber; {suggest(name, perturbers)}")
        known = perturbers[name]
        if use.level != known.level:
            raise InputError(f"{place}: level is '{known.level}', not '{use.level}'")
        if use.method != known.method:
            raise InputError(f"{place}: method is '{known.method}', not '{use.method}'")
        for rule in use.stand_ins:
            _check_stand_in(rule, use, perturbers, f"{place}.stand_ins")
        for variant in use.variants(name):
            degree = "" if variant.degree is None else f".{variant.degree}"
            known.check_params(variant.params, f"{place}{degree}")


def _check_stand_in(name: str, use: PerturberUse, perturbers: Mapping[str, Perturber], place: str) -> None:
    """Raise `InputError` unless this is a rule of the same level that takes a dose."""
    if name not in perturbers:
        raise InputError(f"{place}: unknown perturber '{name}'; {suggest(name, perturbers)}")
    rule = perturbers[name]
    if (rule.method, rule.level) != ("rule", use.level) or not {"k", "share"} <= set(rule.parameters):
        raise InputError(f"{place}: '{name}': must be a rule of level '{use.level}' that takes k or share")


def stood_in(
    variant: Variant, suite: Suite, perturbers: Mapping[str, Perturber], languages: Collection[str | None]
) -> Variant:
    """The variant as the first of its stand-ins makes it that lacks nothing; unchanged without a stand-in.

    A rule that is itself in the suite does not stand in: its texts would count twice. Nor does one that can
    degrade texts in none of the `languages`.
    """
    use, count = suite.perturbers.get(variant.perturber), variant.params.get("count")
    if use is None:
        return variant
    # A model makes a count of edits, or all; a rule makes k, or a share of what it could.
    dose: Mapping[str, object] = {"share": 1.0} if count == "all" else {"k": count}
    for name in use.stand_ins:
        rule = perturbers[name]
        mildest, *_ = rule.degrees.values()
        params = {**without_dose(mildest), **dose}
        is_able = any(rule.language_fault(language, by_suite=False) is None for language in languages)
        is_complete = rule.lacks is None or rule.lacks(params) is None
        if is_able and is_complete and name not in suite.perturbers:
            return replace(variant, method="rule", stand_in=name, params=params)
    return variant
