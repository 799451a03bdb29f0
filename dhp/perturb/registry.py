"""Perturbers by name: built in, of installed packages, or `module:function`; suites of them."""

import importlib.metadata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from dhp.core.errors import InputError, imported, imported_module, suggest
from dhp.core.language import language_name
from dhp.core.options import as_list
from dhp.core.plugins import load_target, offered
from dhp.core.records import Variant
from dhp.core.specs import PerturberUse, Spec, Suite
from dhp.loaders.dataset import Dataset
from dhp.perturb import english, probes, rules
from dhp.perturb.api import DOSES, Perturber
from dhp.perturb.english import EnglishErrors
from dhp.perturb.fluency import FunctionWords
from dhp.perturb.harmless_edits import HarmlessLists

ENTRY_POINT_GROUP = "dhp.perturbers"

_RULES = tuple(
    rule
    for module in (rules, english, probes)
    for rule in vars(module).values()
    if isinstance(rule, Perturber)
)
_LLM = {"fictional_named_entities": "word", "grammatical_errors": "word", "rewriting_insertion": "sentence"}


def builtin_perturbers() -> dict[str, Perturber]:
    """The perturbers of this package and its plug-ins; those of a language model have no function."""
    declared = [
        Perturber(name, level, {"minor": {"count": 1}, "major": {"count": "all"}}, function=None)
        for name, level in _LLM.items()
    ]
    of_plugins = [load_target(target) for target in offered("perturbers").values()]
    return {p.name: p for p in (*_RULES, *declared, *of_plugins)}


LISTS: Mapping[str, type[Spec]] = {
    "english_errors": EnglishErrors,
    "function_words": FunctionWords,
    "harmless": HarmlessLists,
}
"""The word lists that perturbers read, and what they must hold."""


def find_perturbers(
    perturbers: Iterable[Perturber] = (), suites: Iterable[Suite] = ()
) -> Mapping[str, Perturber]:
    """The perturbers that a run may use, by name.

    What suites name is also looked for in installed packages, in the entry-point group `dhp.perturbers`. One
    of method `llm` is a perturber by what its suite says: it needs no more than a prompt. Raises `InputError`
    for a name of the user's own that is taken, and for what is no perturber or cannot be imported.
    """
    own_perturbers = [_checked(p, f"perturber {p!r}") for p in perturbers]
    known = builtin_perturbers()
    for perturber in own_perturbers:
        _add(known, perturber.name, perturber)
    uses = [use for suite in suites for use in suite.perturbers.items()]
    wanted = {name for used, use in uses for name in (used, *use.stand_ins)} - set(known)
    installed = set(installed_perturbers()) if wanted else set()  # packages are looked through only if needed
    for name in sorted(wanted & installed):
        _add(known, name, load_installed(name))
    for name, use in uses:
        if use.method == "llm" and name not in known:
            known[name] = Perturber(name, use.level, {None: {}}, function=None)
    return known


def installed_perturbers() -> Mapping[str, importlib.metadata.EntryPoint]:
    """Name -> entry point of each perturber that another package registers."""
    return {entry.name: entry for entry in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)}


def load_installed(name: str) -> Perturber:
    """The perturber at an entry point; raises `InputError` if it cannot be loaded."""
    entry = installed_perturbers()[name]
    place = f"entry point '{entry.name} = {entry.value}'"
    return _checked(imported(entry.load, place), place)


def _add(known: dict[str, Perturber], name: str, perturber: Perturber) -> None:
    if name in known:
        raise InputError(f"perturber '{name}' exists already; choose another name")
    known[name] = perturber


def load_perturber(reference: str) -> Perturber:
    """The perturber at `module:function`, or the installed one of that name.

    Modules of the working directory are found too. Raises `InputError` for another form, a module that
    cannot be imported, and what is no perturber.
    """
    if reference in installed_perturbers():
        return load_installed(reference)
    module_name, colon, attribute = reference.partition(":")
    if not (module_name and colon and attribute):
        known = ", ".join(sorted(installed_perturbers()))
        also = f", or be the name of an installed one: {known}" if known else ""
        raise InputError(f"perturber '{reference}': must have the form module:function{also}")
    module = imported_module(module_name, f"perturber '{reference}'")
    if not hasattr(module, attribute):
        made = [name for name, value in vars(module).items() if isinstance(value, Perturber)]
        raise InputError(
            f"perturber '{reference}': no '{attribute}' in {module_name}; {suggest(attribute, made)}"
        )
    return _checked(getattr(module, attribute), f"perturber '{reference}'")


def _checked(value: object, place: str) -> Perturber:
    if not isinstance(value, Perturber):
        raise InputError(
            f"{place}: is of type {type(value).__name__}, not made by @dhp.perturber(name=..., level=...)"
        )
    return value


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
            known.check_params(
                variant.params, place if variant.degree is None else f"{place}.{variant.degree}"
            )


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
    """The variant as the first of its stand-ins makes it that lacks nothing; itself if there is none.

    A rule that is itself in the suite is none: its texts would count twice. Neither is one that can degrade
    texts in none of the `languages`.
    """
    use, count = suite.perturbers.get(variant.perturber), variant.params.get("count")
    dose: Mapping[str, object] = {"share": 1.0} if count == "all" else {"k": count}
    for name in use.stand_ins if use else ():
        rule = perturbers[name]
        params = {**_without_dose(next(iter(rule.degrees.values()))), **dose}
        takes = any(rule.language_fault(language, by_suite=False) is None for language in languages)
        if takes and name not in suite.perturbers and (rule.lacks is None or rule.lacks(params) is None):
            return replace(variant, method="rule", stand_in=name, params=params)
    return variant


def _without_dose(params: Mapping[str, object]) -> dict[str, object]:
    return {parameter: value for parameter, value in params.items() if parameter not in DOSES}


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
        amounts = as_list(amounts)
        rising = all(isinstance(k, int) for k in amounts) and all(a < b for a, b in pairwise(amounts))
        if len(amounts) < 2 or not rising or amounts[0] < 1:
            shown = ",".join(map(str, amounts))
            raise InputError(f"doses '{shown}': allowed: two or more rising whole numbers from 1 on")
        use = suite.perturbers[name]
        others = _without_dose(use.variants(name)[0].params)
        by_dose = {f"k{k}": {**others, "k": k} for k in amounts}
        uses[name] = use.model_copy(update={"degrees": by_dose, "params": None})
    return suite.with_perturbers(uses).model_copy(update={"suite": f"{suite.suite}_doses"})


def language_note(
    dataset: Dataset, variants: Sequence[Variant], perturbers: Mapping[str, Perturber]
) -> str | None:
    """Which variants are lost to the languages of the texts and what is left; None if nothing is lost.

    Only variants by rule are for certain languages.
    """
    spoken = Counter(e.language for e in dataset.examples)
    total = spoken.total()
    lost: dict[str, int] = {}
    for variant in variants:
        if variant.method == "rule":
            able = perturbers[variant.made_by]
            faults = {c: able.language_fault(c, by_suite=not variant.stand_in) for c in spoken}
            lost[variant.name] = sum(n for code, n in spoken.items() if faults[code] is not None)
    if not any(lost.values()):
        return None
    named = [f"{language_name(code)} {n}" for code, n in spoken.most_common() if code is not None]
    if spoken[None]:
        named.append(f"not declared {spoken[None]}")
    gone = dict.fromkeys(
        v.perturber if lost[v.name] == total else f"{v.perturber} ({lost[v.name]} of {total} texts)"
        for v in variants
        if lost.get(v.name)
    )
    left = sum(lost.get(v.name, 0) < total for v in variants)
    say = "; set `text_language`, a column `language`, or output_language in the task" if spoken[None] else ""
    return (
        f"{dataset.name}: language of the texts: {', '.join(named)}: not applicable: {', '.join(gone)}; "
        f"left: {left} of {len(variants)} variants{say}"
    )
