"""Authored edits of the bundled examples."""

import re
from collections.abc import Sequence

from dhp.core.diff import audit
from dhp.core.errors import NotApplicable
from dhp.core.records import Example, PerturbedText, Variant
from dhp.core.seeding import text_hash
from dhp.core.specs import AuthoredEdits, Insertion
from dhp.core.text import sentence_spans
from dhp.perturb.api import asked_count


def authored_perturbers(authored: AuthoredEdits | None) -> frozenset[str]:
    """The perturbers for which edits were written."""
    return frozenset(p for edits in authored.examples.values() for p in edits) if authored else frozenset()


def authored_origin(authored: AuthoredEdits) -> str:
    """What made the texts: the file of the edits with a hash of what it says."""
    return f"authored, {authored.dataset.replace('mini/', 'perturbations/authored/')}.yaml@" + text_hash(
        authored.model_dump_json()
    )


def authored_texts(
    examples: Sequence[Example], variant: Variant, authored: AuthoredEdits
) -> list[PerturbedText]:
    """One text for each example: the first edits written for it are made.

    The parameter `count` of the variant is their number, or "all"; `InputError` for another one. Not
    applicable where an example has no edits, or a text that they do not fit.
    """
    count = asked_count(variant)
    return [_authored_text(example, variant, authored, count) for example in examples]


def _authored_text(
    example: Example, variant: Variant, authored: AuthoredEdits, count: int | str
) -> PerturbedText:
    edits = authored.examples.get(example.id, {}).get(variant.perturber, [])
    asked = len(edits) if count == "all" else int(count)
    try:
        text = edited(example.output, edits[:asked])
    except NotApplicable as reason:
        return PerturbedText(example.id, variant.name, None, reason=str(reason))
    found = audit(example.output, text, asked, min(asked, len(edits)))
    return PerturbedText(example.id, variant.name, text, audit=found)


def edited(text: str, edits: Sequence[str | Insertion]) -> str:
    """The text with replacements made one after another, or with sentences inserted.

    Raises `NotApplicable` where there is no edit, or where one does not fit the text.
    """
    ends = [end for _, end in sentence_spans(text)]
    insertions = [edit for edit in edits if isinstance(edit, Insertion)]
    if not edits or any(edit.after > len(ends) for edit in insertions):
        raise NotApplicable("no edits were written for this text")
    for edit in sorted(insertions, key=lambda edit: edit.after, reverse=True):
        end = ends[edit.after - 1]
        text = f"{text[:end]} {edit.insert}{text[end:]}"
    for old, new in (edit.split(" -> ", 1) for edit in edits if isinstance(edit, str)):
        starts, stops = r"(?<!\w)" if old[0].isalnum() else "", r"(?!\w)" if old[-1].isalnum() else ""
        text, made = re.subn(starts + re.escape(old) + stops, new.replace("\\", r"\\"), text)
        if not made:
            raise NotApplicable("no edits were written for this text")
    return text
