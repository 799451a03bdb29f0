"""Which kinds of fact the texts of a run do not allow, and why."""

from collections import Counter
from collections.abc import Mapping, Sequence

from dhp.content.catalog import damage_names
from dhp.core.records import PerturbedText, Variant
from dhp.perturb.facts.kinds import CONTENT

_LEAST = 10
"""Texts below which nothing is said."""
_FEW = 0.5
"""Kinds that reach a smaller share of the texts are named."""


def content_note(
    dataset: str, variants: Sequence[Variant], texts: Mapping[str, Sequence[PerturbedText]]
) -> str | None:
    """In a line the kinds of content that most texts do not allow, with the commonest reason; None for none.

    `texts` has the texts of each variant by its name. A kind is named by its mildest degree.
    """
    total = max((len(some) for some in texts.values()), default=0)
    if total < _LEAST:
        return None
    mildest = dict[str, Variant]()
    for variant in variants:
        if variant.method == "rule" and variant.made_by in CONTENT:
            mildest.setdefault(variant.perturber, variant)
    names, lines = damage_names(), list[str]()
    for variant in mildest.values():
        reasons = Counter(
            t.reason.partition(";")[0] for t in texts[variant.name] if t.text is None and t.reason
        )
        if reasons.total() > (1 - _FEW) * len(texts[variant.name]):
            (reason, count), *_ = reasons.most_common(1)
            name = names.get(variant.perturber, variant.perturber)
            lines.append(f"{name} {reasons.total()} (mostly: {reason}, {count})")
    if not lines:
        return None
    return f"{dataset}: kinds of fact that most of the {total} texts do not allow: {', '.join(lines)}"
