"""Slots of prompts, written `{{name}}`: what is wrong with them, and the text with all of them filled."""

import re
from collections.abc import Collection, Iterable, Mapping

from dhp.core.errors import suggest

SLOT = re.compile(r"\{\{\s*(.*?)\s*\}\}")  # {{output}}, {{ output }}


def slots_fault(text: str, allowed: Collection[str], needed: Iterable[str] = ()) -> str | None:
    """What is wrong with the slots in a text; None if all are `allowed` and the `needed` ones are there."""
    slots = SLOT.findall(text)
    if "{{" in SLOT.sub("", text):
        return "a slot is not closed; must have the form {{name}}"
    for name in slots:
        if name not in allowed:
            return f"unknown slot '{{{{{name}}}}}'; {suggest(name, allowed)}"
    for name in needed:
        if name not in slots:
            return f"lacks the slot '{{{{{name}}}}}'; must have it"
    return None


def split_slots(text: str, known: Mapping[str, str] = {}) -> tuple[str, ...]:
    """Text and the names of slots in turn, if slots that are `known` are filled and no longer slots."""
    pieces = [""]
    for place, piece in enumerate(SLOT.split(text)):  # text and names in turn
        if place % 2 == 0:
            pieces[-1] += piece
        elif piece in known:
            pieces[-1] += known[piece]
        else:
            pieces += [piece, ""]
    return tuple(pieces)


def join_slots(pieces: Iterable[str], texts: Mapping[str, str]) -> str:
    """The text of `split_slots` with each slot filled."""
    filled = []
    for place, piece in enumerate(pieces):  # text and names in turn
        filled.append(piece if place % 2 == 0 else texts[piece])
    return "".join(filled)


def fill(text: str, texts: Mapping[str, str]) -> str:
    """The text, without white space around it, with all its slots filled; each must be in `texts`."""
    return join_slots(split_slots(text.strip()), texts)
