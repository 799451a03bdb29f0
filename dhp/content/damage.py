"""Names of kinds of damage in words."""

from collections.abc import Sequence

from dhp.content.catalog import damage_names
from dhp.core.errors import InputError, suggest
from dhp.core.records import parse_variant
from dhp.core.text import printable


def variant_name(variant: str) -> str:
    """A variant in words: `wrong names, minor`, `typos, dose 5`; a name of the user's own as it is."""
    perturber, degree, dose = parse_variant(variant)
    words = damage_names().get(perturber, perturber)
    further = f"dose {dose}" if dose else degree
    return printable(f"{words}, {further}" if further else words)


def kind_name(variant: str) -> str:
    """The kind of damage alone: `wrong names`."""
    return variant_name(parse_variant(variant).perturber)


def named_kinds(names: str, variants: Sequence[str]) -> list[str]:
    """The variants that are named, by the names of files or those that people read, separated by commas.

    A perturber, or its kind of damage, names all its degrees; `all` names all. Raises `InputError` for a name
    that is of none of the variants.
    """
    found: list[str] = []
    parts = [part.strip() for part in names.split(",")]
    while parts:
        # A name that people read may hold a comma itself.
        for size in range(len(parts), 0, -1):
            name = ", ".join(parts[:size]).casefold()
            if meant := [variant for variant in variants if name in ("all", *_names(variant))]:
                break
        else:
            known = variants if {".", "_"} & {*parts[0]} else {kind_name(variant) for variant in variants}
            raise InputError(f"'{parts[0]}': was not run; {suggest(parts[0], known)}")
        found += [variant for variant in meant if variant not in found]
        del parts[:size]
    return found


def _names(variant: str) -> tuple[str, ...]:
    names = variant, variant_name(variant), parse_variant(variant).perturber, kind_name(variant)
    return tuple(name.casefold() for name in names)
