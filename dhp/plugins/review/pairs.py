"""The pairs of a perturbation set that people review, in the order and on the sides of the page."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dhp.core.errors import InputError
from dhp.core.records import PerturbedText, Variant
from dhp.core.seeding import shuffled, stream
from dhp.perturb.llm.acceptance import fault
from dhp.perturb.set_audit import audited
from dhp.perturb.sets import SetPart, read_card, read_set

Key = tuple[str, str, str]
"""Dataset, variant, example."""


@dataclass(frozen=True, slots=True)
class Pair:
    """An original and its degraded text."""

    dataset: str
    variant: Variant
    original: str
    degraded: PerturbedText
    degraded_is_left: bool
    """Side of the page, drawn from the hash of the set; all reviewers see the same."""

    @property
    def key(self) -> Key:
        return self.dataset, self.variant.name, self.degraded.example


@dataclass(frozen=True, slots=True)
class ReviewableSet:
    """A perturbation set with its pairs."""

    folder: Path
    hash: str
    parts: Mapping[str, SetPart]
    pairs: Mapping[Key, Pair]
    """In random order, drawn from the hash of the set, so that the first pairs are a random sample."""


def read_reviewable(folder: Path) -> ReviewableSet:
    """The set with the pairs that differ.

    Raises `InputError` for a broken set, and where no text differs from its original.
    """
    parts, set_hash = read_set(folder), read_card(folder).sha256
    found = [pair for part in parts.values() for pair in _pairs(part, set_hash)]
    if not found:
        raise InputError(f"{folder}: no text differs from its original; allowed: a set with degraded texts")
    order = shuffled(found, stream(set_hash, "review"))
    return ReviewableSet(folder, set_hash, parts, {pair.key: pair for pair in order})


def _pairs(part: SetPart, set_hash: str) -> list[Pair]:
    outputs = {e.id: e.output for e in part.examples}
    variants = {v.name: v for v in part.variants}
    pairs = []
    for t in part.texts:
        if t.text is not None and t.text != outputs[t.example]:
            left = stream(set_hash, part.dataset, t.variant, t.example).random() < 0.5
            pairs.append(Pair(part.dataset, variants[t.variant], outputs[t.example], t, left))
    return pairs


@dataclass(frozen=True, slots=True)
class Check:
    """What was checked of a degraded text."""

    passed: bool
    said: str


def checks(reviewable: ReviewableSet) -> dict[Key, list[Check]]:
    """Pair -> edits, similarity, the checks of texts by language model, what stands out in its variant."""
    outliers = {
        (part.dataset, found.variant.name, outlier.example): outlier.why
        for part in reviewable.parts.values()
        for found in audited(part)
        for outlier in found.outliers
    }
    return {key: _checks(pair, outliers.get(key)) for key, pair in reviewable.pairs.items()}


def _checks(pair: Pair, outlier: str | None) -> list[Check]:
    found, audit = [], pair.degraded.audit
    if audit and audit.asked is not None and audit.made is not None:
        found.append(Check(audit.made >= audit.asked, f"{audit.made} of {audit.asked} edits made"))
    if audit:
        found.append(Check(True, f"similarity to the original {audit.similarity:.2f}"))
    if pair.variant.method in ("llm", "authored") and not pair.degraded.by_hand:
        found.append(_acceptance(pair))
    found += [Check(False, f"an earlier answer was rejected: {why}") for why in pair.degraded.rejected]
    if pair.degraded.by_hand:
        found.append(Check(True, "edited by hand"))
    return found + ([Check(False, f"stands out: {outlier}")] if outlier else [])


def _acceptance(pair: Pair) -> Check:
    """The checks that an answer of a language model must pass; those for English where it looks so."""
    count = pair.variant.params.get("count", "all")
    asked = count if isinstance(count, int | str) else "all"
    why = fault(pair.variant.perturber, pair.original, pair.degraded.text or "", asked, language="en")
    return Check(why is None, why or "passes the checks of its kind of damage")
