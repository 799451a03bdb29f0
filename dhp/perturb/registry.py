"""Perturbers by name: built in, from entry points, from `module:function`."""

import importlib.metadata
from collections.abc import Iterable, Mapping

from dhp.core.errors import InputError, imported, imported_module, suggest
from dhp.core.keywords import Registry
from dhp.core.plugins import load_target, offered
from dhp.core.specs import Spec, Suite
from dhp.perturb import probes
from dhp.perturb.api import Perturber
from dhp.perturb.harmless_edits import HarmlessLists
from dhp.perturb.rules import characters, sentences, words

ENTRY_POINT_GROUP = "dhp.perturbers"

_RULES = tuple(
    found
    for module in (characters, words, sentences, probes)
    for found in vars(module).values()
    if isinstance(found, Perturber)
)
_LLM = {"fictional_named_entities": "word", "grammatical_errors": "word", "rewriting_insertion": "sentence"}


def builtin_perturbers() -> Registry[Perturber]:
    """The perturbers of this package and its plug-ins; those of a language model have no function."""
    declared = [
        Perturber(name, level, {"minor": {"count": 1}, "major": {"count": "all"}}, function=None)
        for name, level in _LLM.items()
    ]
    of_plugins = [load_target(target) for target in offered("perturbers").values()]
    return Registry("perturber", {p.name: p for p in (*_RULES, *declared, *of_plugins)})


LISTS: Mapping[str, type[Spec]] = {"harmless": HarmlessLists}
"""The word lists that perturbers read, and what they must hold."""


def find_perturbers(
    perturbers: Iterable[Perturber] = (), suites: Iterable[Suite] = ()
) -> Registry[Perturber]:
    """The perturbers that a run may use, by name.

    What suites name is also looked for in installed packages, in the entry-point group `dhp.perturbers`. One
    of method `llm` is a perturber by what its suite says: it needs no more than a prompt. Raises `InputError`
    for a name of the user's own that is taken, and for what is no perturber or cannot be imported.
    """
    suites = list(suites)
    given = [_checked(p, f"perturber {p!r}") for p in perturbers]
    registry = builtin_perturbers()
    for perturber in given:
        registry = registry.extended({perturber.name: perturber})
    wanted = {name for suite in suites for name in suite.perturbers} - set(registry)
    for entry in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP):
        if entry.name in wanted:
            place = f"entry point '{entry.name} = {entry.value}'"
            registry = registry.extended({entry.name: _checked(imported(entry.load, place), place)})
    for suite in suites:
        for name, use in suite.perturbers.items():
            if use.method == "llm" and name not in registry:
                registry = registry.extended({name: Perturber(name, use.level, {None: {}}, function=None)})
    return registry


def load_perturber(reference: str) -> Perturber:
    """The perturber at `module:function`; modules of the working directory are found too.

    Raises `InputError` for another form, a module that cannot be imported, and what is no perturber.
    """
    module_name, colon, attribute = reference.partition(":")
    if not (module_name and colon and attribute):
        raise InputError(f"perturber '{reference}': must have the form module:function")
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


def check_suite(suite: Suite, perturbers: Registry[Perturber]) -> None:
    """Raise `InputError` where a suite disagrees with the perturbers it names."""
    for name, use in suite.perturbers.items():
        place = f"{suite.origin or suite.suite}: perturbers.{name}"
        if name not in perturbers:
            raise InputError(f"{place}: unknown perturber; {suggest(name, perturbers)}")
        known = perturbers[name]
        if use.level != known.level:
            raise InputError(f"{place}: level is '{known.level}', not '{use.level}'")
        if use.method != known.method:
            raise InputError(f"{place}: method is '{known.method}', not '{use.method}'")
        for variant in use.variants(name):
            known.check_params(
                variant.params, place if variant.degree is None else f"{place}.{variant.degree}"
            )
