"""Which kinds of fact the texts of a run do not allow, and why."""

from collections import Counter
from collections.abc import Iterator

from dhp.core.records import Variant
from dhp.perturb.facts.kinds import CONTENT
from dhp.perturb.perturbed_dataset import PerturbedDataset

_LEAST = 10
"""Texts below which nothing is said of shares."""
_FEW = 0.5
"""Kinds that reach a smaller share of the texts are named."""
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
    of_any = mildest.pop(_OF_ALL, None)
    reasons = dict(reason for v in mildest.values() for reason in _why_few(part, v))
    if total < _LEAST or not reasons:
        return []
    made = sum(t.text is not None for t in part.by_variant[of_any.name]) if of_any else 0
    reach = f"{made} of {total} texts allow a wrong fact; " if of_any else f"of {total} texts: "
    return [f"{name}: {reach}{', '.join(f'{reason} in {n}' for reason, n in reasons.items())}"]


def _why_few(part: PerturbedDataset, variant: Variant) -> Iterator[tuple[str, int]]:
    """The commonest reason why texts do not allow a kind, and in how many; nothing if most do."""
    texts = part.by_variant[variant.name]
    reasons = Counter(t.reason.partition(";")[0] for t in texts if t.text is None and t.reason)
    if reasons.total() > (1 - _FEW) * len(texts):
        yield reasons.most_common(1)[0]
