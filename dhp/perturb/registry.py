"""Perturbers by name: built in, of installed packages, or at `module:function` or `FILE.py:function`.

`find_perturbers` collects what a run may use: the built-in ones, the user's own, those of installed packages
that a suite names, and kinds of damage that are a prompt alone. `load_perturber` looks up a single name.
"""

import importlib.metadata
from collections.abc import Iterable, Mapping
from dataclasses import replace

from dhp.content.catalog import read_probes
from dhp.core.errors import InputError, imported, suggest
from dhp.core.objects import PREFIX, object_at
from dhp.core.plugins import load_target, offered
from dhp.core.specs import PerturberUse, Spec, Suite
from dhp.perturb import attacks, controls
from dhp.perturb.api import Perturber
from dhp.perturb.facts.lists import LANGUAGES, FactLists
from dhp.perturb.fluency import FunctionWords
from dhp.perturb.harmless_languages import HarmlessLanguages
from dhp.perturb.harmless_spelling import HarmlessLists
from dhp.perturb.rules import (
    characters,
    claims,
    english,
    facts,
    form,
    sentences,
    typing_errors,
    whole_texts,
    words,
)
from dhp.perturb.rules.english import EnglishErrors
from dhp.perturb.whole_sentences import Courtesies

ENTRY_POINT_GROUP = "dhp.perturbers"

# In the order in which `dhp list perturbers` shows their perturbers within a level.
_MODULES = (
    characters,
    typing_errors,
    words,
    sentences,
    whole_texts,
    english,
    facts,
    claims,
    form,
    attacks,
    controls,
)
# Perturber -> level, of those that are prompts for a language model.
_LLM = {"fictional_named_entities": "word", "grammatical_errors": "word", "rewriting_insertion": "sentence"}


def builtin_perturbers() -> dict[str, Perturber]:
    """The perturbers of this package and its plug-ins; those of a language model have no function."""
    known = dict[str, Perturber]()
    for module in _MODULES:
        for rule in vars(module).values():
            if isinstance(rule, Perturber):
                known[rule.name] = rule
    for name, level in _LLM.items():
        degrees: dict[str | None, Mapping[str, object]] = {"minor": {"count": 1}, "major": {"count": "all"}}
        known[name] = Perturber(name, level, degrees, function=None)
    for target in offered("perturbers").values():
        perturber = load_target(target)
        known[perturber.name] = perturber
    return known


LISTS: Mapping[str, type[Spec]] = {
    "courtesies": Courtesies,
    "english_errors": EnglishErrors,
    "function_words": FunctionWords,
    **{f"facts_{code}": FactLists for code in LANGUAGES},
    "harmless": HarmlessLists,
    "harmless_languages": HarmlessLanguages,
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
    builtins = dict(known)
    for perturber in own_perturbers:
        builtin = builtins.get(perturber.name)
        if builtin is None or perturber.function is not builtin.function:  # else it was chosen by its name
            _add(known, perturber.name, perturber)

    # What suites name, with the rules that stand in for it.
    uses, wanted = list[tuple[str, PerturberUse]](), set[str]()
    for suite in suites:
        for name, use in suite.perturbers.items():
            uses.append((name, use))
            wanted.update((name, *use.stand_ins))
    wanted -= set(known)
    if wanted:  # packages are looked through only if needed
        for name in sorted(wanted & set(installed_perturbers())):
            _add(known, name, load_installed(name))

    # After the packages: one that has a function of this name is meant.
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
    """Add it; raises `InputError` for a name that is taken."""
    if name in known:
        raise InputError(f"perturber '{name}' exists already; choose another name")
    known[name] = perturber


def load_perturber(reference: str) -> Perturber:
    """The perturber of a name that `dhp list perturbers` shows, at `MODULE:FUNCTION` or `FILE.py:FUNCTION`.

    The last two may begin with `python:`. A control or an attack has the parameters with which runs use it.
    Raises `InputError` for another form, a module or file that cannot be imported, and what is no perturber.
    """
    if reference in installed_perturbers():
        return load_installed(reference)
    builtin = builtin_perturbers()
    if reference in builtin:
        return _as_in_runs(builtin[reference])
    where, _, name = reference.removeprefix(PREFIX).rpartition(":")
    if not (where and name):
        known = suggest(reference, [*builtin, *installed_perturbers()])
        raise InputError(
            f"perturber '{reference}': must have the form module:function or FILE.py:function, or be a name "
            f"of dhp list perturbers; {known}"
        )
    place = f"perturber '{reference}'"
    return _checked(object_at(where, name, place), place)


def _as_in_runs(perturber: Perturber) -> Perturber:
    """A built-in one; a control or an attack with the parameters of `perturbations/probes`."""
    probes = {**read_probes("controls").perturbers, **read_probes("attacks").perturbers}
    if perturber.name not in probes:
        return perturber
    degrees = dict[str | None, Mapping[str, object]]()
    for variant in probes[perturber.name].variants(perturber.name):
        degrees[variant.degree] = variant.params
    return replace(perturber, degrees=degrees)


def _checked(value: object, place: str) -> Perturber:
    """The value; raises `InputError` unless it is a perturber."""
    if not isinstance(value, Perturber):
        raise InputError(
            f"{place}: is of type {type(value).__name__}, not made by @dhp.perturber(name=..., level=...)"
        )
    return value
