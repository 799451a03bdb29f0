"""Audits of perturbation sets: statistics and outliers.

`audited` goes through the variants. Of each it puts texts beside their originals (`_Case`), adds up what was
done to them, and names the texts to look at (`_findings`): unchanged, half done, far from the others, said of
two examples. Of kinds of content `shortcut` tells whether copies show without reading.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import median

from dhp.core.diff import audit
from dhp.core.records import Audit, Example, PerturbedText, Variant
from dhp.perturb.facts.kinds import CONTENT
from dhp.perturb.perturbed_dataset import PerturbedDataset
from dhp.perturb.sets import source_hash
from dhp.perturb.shortcut import Shortcut, shortcut

FAR = 3.5
"""Robust z-score, 0.6745 |x - median| / MAD, beyond which a value is an outlier (Iglewicz & Hoaglin 1993)."""
MOST_OUTLIERS = 5
"""How many outliers of a variant are named: chosen."""
_LOW_SIMILARITY = 0.5  # below which a minor degree left too little of the text: chosen
# Least MAD, if most texts changed alike: else each text that differs at all would be an outlier. Chosen.
_SAME_SIMILARITY, _SAME_LENGTH = 0.01, 1.0
_FEW = 5  # texts, below which nothing can be called far from the others: chosen


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over the texts of a variant."""

    median: float
    min: float
    max: float


@dataclass(frozen=True, slots=True)
class VariantAudit:
    """What was done under one variant."""

    variant: Variant
    n: int
    """Number of examples."""
    applicable: int
    """Examples that have a degraded text; the figures below are about these."""
    asked: int | None
    """Edits asked for in all; None if they are not counted."""
    made: int | None
    """Edits made in all."""
    similarity: Spread | None
    """Similarity to the original, in [0, 1]; see `Audit`. None without texts."""
    length_change: Spread | None
    """Characters gained (or lost: negative) in percent of the original's; None without texts."""
    duplicates: int
    """Examples whose degraded text is also that of another example."""
    unchanged: int
    """Texts equal to their original: 0, but for controls that leave everything as it is."""
    not_applicable: Mapping[str, int]
    """Why there is no text -> examples."""
    rejected: Mapping[str, int]
    """Why an answer of the language model did not count -> answers."""
    shortcut: Shortcut | None
    """How well copies are told from originals without reading; None for a kind of form, which shows, and for
    too few texts."""
    outliers: Mapping[str, str]
    """Example -> why its text is to be looked at; the gravest first, at most `MOST_OUTLIERS`."""


@dataclass(frozen=True, slots=True)
class _Case:
    """A text of a variant with its original."""

    example: str
    before: str
    after: str
    audit: Audit

    @property
    def length_change(self) -> float:
        """In percent of the original's characters."""
        return 100 * (len(self.after) / len(self.before) - 1)


def audited(part: PerturbedDataset) -> list[VariantAudit]:
    """What was done to the texts of one dataset of a perturbation set.

    One audit a variant, in the order of the part.
    """
    outputs, texts = part.outputs, part.by_variant
    clusters = _clusters(part.dataset.examples)
    return [_audited(variant, texts[variant.name], outputs, clusters) for variant in part.variants]


def _clusters(examples: Sequence[Example]) -> dict[str, str]:
    """Example -> its field `cluster`, or what stands for its source; itself, if it has none."""
    no_source = source_hash(Example("", "", ""))
    clusters = dict[str, str]()
    for example in examples:
        of_source = source_hash(example)
        alone = example.id if of_source == no_source else of_source
        clusters[example.id] = example.fields.get("cluster") or alone
    return clusters


def _audited(
    variant: Variant,
    texts: Sequence[PerturbedText],
    outputs: Mapping[str, str],
    clusters: Mapping[str, str],
) -> VariantAudit:
    cases, reasons, rejected = list[_Case](), Counter[str](), Counter[str]()
    for t in texts:
        before = outputs[t.example]
        if t.text is not None:
            cases.append(_Case(t.example, before, t.text, t.audit or audit(before, t.text)))
        else:
            reasons[t.reason or ""] += 1
        rejected.update(t.rejected)

    asked = made = None  # of a perturber that counts no edits it is not known how many there are
    for case in cases:
        if case.audit.asked is not None and case.audit.made is not None:
            asked = (asked or 0) + case.audit.asked
            made = (made or 0) + case.audit.made

    # Of each example the gravest finding, which comes first.
    named: dict[str, str] = {}
    for example, why in _findings(variant, cases):
        named.setdefault(example, why)
    return VariantAudit(
        variant=variant,
        n=len(texts),
        applicable=len(cases),
        asked=asked,
        made=made,
        similarity=_spread([c.audit.similarity for c in cases]),
        length_change=_spread([c.length_change for c in cases]),
        duplicates=sum(len(same) for same in _repeated(cases)),
        unchanged=len([c for c in cases if c.before == c.after]),
        not_applicable=dict(reasons.most_common()),
        rejected=dict(rejected.most_common()),
        shortcut=_shortcut(variant, cases, clusters),
        outliers=dict(islice(named.items(), MOST_OUTLIERS)),
    )


def is_content(variant: Variant) -> bool:
    """Whether it changes what a text says, so that nothing but reading may show it."""
    return variant.made_by in CONTENT


def _shortcut(variant: Variant, cases: Sequence[_Case], clusters: Mapping[str, str]) -> Shortcut | None:
    if not is_content(variant):
        return None
    of_cases = [clusters[case.example] for case in cases]
    return shortcut([case.before for case in cases], [case.after for case in cases], of_cases)


def _spread(values: Sequence[float]) -> Spread | None:
    return Spread(median(values), min(values), max(values)) if values else None


def _repeated(cases: Sequence[_Case]) -> list[list[_Case]]:
    """The cases that share their text with another, together."""
    groups: dict[str, list[_Case]] = {}
    for case in cases:
        groups.setdefault(case.after, []).append(case)
    return [same for same in groups.values() if len(same) > 1]


def _findings(variant: Variant, cases: Sequence[_Case]) -> Iterator[tuple[str, str]]:
    """(example, why it is to be looked at), the gravest kind first; an example may come several times."""
    if variant.level == "control":
        return  # a control may leave a text as it is, and makes the edits that it can
    for case in cases:
        if case.before == case.after:
            yield case.example, "equals the original"
    for case in cases:
        asked, made = case.audit.asked, case.audit.made
        if asked is not None and made is not None and 2 * made < asked:
            yield case.example, f"{made} of {asked} edits made"
    if variant.degree == "minor" and variant.level != "sentence":  # a moved sentence is a long way to edit
        for case in cases:
            similarity = case.audit.similarity
            if similarity < _LOW_SIMILARITY:
                yield case.example, f"similarity {similarity:.2f}, low for a minor degree"
    yield from _far(cases)
    for first, *others in _repeated(cases):
        for case in others:
            yield case.example, f"same text as example '{first.example}'"


def _far(cases: Sequence[_Case]) -> Iterator[tuple[str, str]]:
    """The cases far from the others in similarity or length change, the farthest first."""
    if len(cases) < _FEW:
        return
    remarks = list[tuple[float, str, str]]()  # (how far, example, why)
    similarities = [c.audit.similarity for c in cases]
    middle = median(similarities)
    for case, score in zip(cases, _robust_scores(similarities, _SAME_SIMILARITY), strict=True):
        if score > FAR:
            why = f"similarity {case.audit.similarity:.2f}, the median is {middle:.2f}"
            remarks.append((score, case.example, why))
    changes = [c.length_change for c in cases]
    middle = median(changes)
    for case, score in zip(cases, _robust_scores(changes, _SAME_LENGTH), strict=True):
        if score > FAR:
            why = f"length change {case.length_change:+.0f} %, the median is {middle:+.0f} %"
            remarks.append((score, case.example, why))
    remarks.sort(key=lambda remark: -remark[0])
    for _, example, why in remarks:
        yield example, why


def _robust_scores(values: Sequence[float], least: float) -> list[float]:
    """The robust z-score of each value: how far it is from the median, with a MAD of at least `least`."""
    middle = median(values)
    distances = [abs(value - middle) for value in values]
    deviation = max(median(distances), least)
    # 0.6745 MADs are one standard deviation of a normal distribution.
    return [0.6745 * distance / deviation for distance in distances]
