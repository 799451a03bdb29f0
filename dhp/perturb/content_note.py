"""Which kinds of fact the texts of a run do not allow, and why."""

from collections import Counter
from collections.abc import Sequence

from dhp.content.catalog import damage_names
from dhp.core.records import PerturbedText, Variant
from dhp.perturb.facts.kinds import CONTENT
from dhp.perturb.perturbed_dataset import PerturbedDataset

_LEAST = 10
"""Texts below which nothing is said of shares."""
_FEW = 0.5
"""Kinds that reach a smaller share of the texts are named."""


def content_notes(part: PerturbedDataset) -> list[str]:
    """A line on the kinds of content that most texts do not allow, with the commonest reason; none if all do.

    A kind is named by its mildest degree. A table of one row has no other row to take anything from.
    """
    mildest = dict[str, Variant]()
    for variant in part.variants:
        if variant.method == "rule" and variant.made_by in CONTENT:
            mildest.setdefault(variant.perturber, variant)
    name, total = part.dataset.name, len(part.dataset.examples)
    if total == 1 and mildest:
        return [f"{name}: a table of one row: no other row to take names and sentences from"]
    if total < _LEAST:
        return []
    texts, names = part.by_variant, damage_names()
    of_kinds = (
        _why_not(names.get(variant.perturber, variant.perturber), texts[variant.name])
        for variant in mildest.values()
    )
    lines = [line for line in of_kinds if line]
    return [f"{name}: kinds of fact that most of the {total} texts do not allow: {', '.join(lines)}"] * bool(
        lines
    )


def _why_not(kind: str, texts: Sequence[PerturbedText]) -> str:
    """How many texts do not allow a kind, and mostly why; empty if most do."""
    reasons = Counter(t.reason.partition(";")[0] for t in texts if t.text is None and t.reason)
    if reasons.total() <= (1 - _FEW) * len(texts):
        return ""
    (reason, count), *_ = reasons.most_common(1)
    return f"{kind} {reasons.total()} (mostly: {reason}, {count})"
