"""Perturbers that read a text as spaCy parses it."""

from pathlib import Path

from dhp.core.plugins import Plugin

PLUGIN = Plugin(
    "spacy",
    "the perturbers entity_swaps and inflection_errors",
    perturbers={
        "entity_swaps": "dhp.plugins.spacy.rules:entity_swaps",
        "inflection_errors": "dhp.plugins.spacy.rules:inflection_errors",
    },
    content=Path(__file__).with_name("content"),
    extra="spacy",
)
