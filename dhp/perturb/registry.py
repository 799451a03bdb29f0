"""Perturbers by name: built in, of installed packages, or `module:function`."""

import importlib.metadata
from collections.abc import Iterable, Mapping

from dhp.core.errors import InputError, imported, imported_module, suggest
from dhp.core.plugins import load_target, offered
from dhp.core.specs import Spec, Suite
from dhp.perturb import attacks, controls
from dhp.perturb.api import Perturber
from dhp.perturb.facts.lists import LANGUAGES, FactLists
from dhp.perturb.fluency import FunctionWords
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

ENTRY_POINT_GROUP = "dhp.perturbers"

_RULES = tuple(
    rule
    for module in (
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
    **{f"facts_{code}": FactLists for code in LANGUAGES},
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
