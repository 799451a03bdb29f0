"""Which kinds of fact the texts of a run do not allow, and why."""

from collections import Counter
from collections.abc import Sequence

from dhp.core.records import PerturbedText, Variant
from dhp.perturb.facts.kinds import CONTENT
from dhp.perturb.perturbed_dataset import PerturbedDataset

_LEAST = 10
"""Texts below which nothing is said of shares: chosen."""
_FEW = 0.5
"""Kinds that reach a smaller share of the texts are named: chosen."""
_OF_ALL = "wrong_facts"
"""The perturber that takes any kind of fact."""


def content_notes(part: PerturbedDataset) -> list[str]:
    """A line on why most texts do not allow some kinds of content, by the commonest reason; none if they do.

    A kind is known by its mildest degree. A table of one row has no other row to take anything from.
    """
    mildest = dict[str, Variant]()
    for variant in part.variants:
        if variant.method == "rule" and variant.made_by in CONTENT:
            mildest.setdefault(variant.made_by, variant)
    name, total = part.dataset.name, len(part.dataset.examples)
    if total == 1 and mildest:
        return [f"{name}: a table of one row: no other row to take names and sentences from"]
    if total < _LEAST or not mildest:
        return []
    of_any = mildest.pop(_OF_ALL, None)
    texts_of = part.by_variant
    reasons = dict[str, int]()  # kinds often share one, such as "no name"
    for variant in mildest.values():
        texts = texts_of[variant.name]
        of_kind = _reasons(texts)
        if of_kind.total() > (1 - _FEW) * len(texts):
            reason, count = of_kind.most_common(1)[0]
            reasons[reason] = count
    if not reasons:
        return []

    reach = f"of {total} texts: "
    if of_any is not None:
        made = [t for t in texts_of[of_any.name] if t.text is not None]
        reach = f"{len(made)} of {total} texts allow a wrong fact; "
    shown = ", ".join(f"{reason} in {count}" for reason, count in reasons.items())
    return [f"{name}: {reach}{shown}"]


def _reasons(texts: Sequence[PerturbedText]) -> Counter[str]:
    """Why there is no text -> how often, without what follows a semicolon: what would be allowed."""
    reasons = Counter[str]()
    for text in texts:
        if text.text is None and text.reason:
            reasons[text.reason.partition(";")[0]] += 1
    return reasons
