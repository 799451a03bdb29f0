"""Names of damage for readers, in words; code names stay in files."""

from dhp.content.catalog import damage_names
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
