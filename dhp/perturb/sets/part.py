"""One dataset of a perturbation set, with its checks."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dhp.core.errors import InputError
from dhp.core.records import ORIGINAL, Example, PerturbedText, Variant

SOURCE_HASH = "source_sha256"
"""The field of an example read from a set that stands for its source."""


@dataclass(frozen=True, slots=True)
class SetPart:
    """One dataset of a set."""

    dataset: str
    task: str
    suite: str
    seed: int
    examples: Sequence[Example]
    """Examples as read from a set: id and output, with the field `source_sha256` in the place of the
    source."""
    variants: tuple[Variant, ...]
    left_out: tuple[str, ...]
    """Names of the suite's variants that are not made."""
    texts: Sequence[PerturbedText]
    """Variant by variant, example by example."""
    origins: Mapping[str, str]
    """Perturber -> what made its texts, in free words; only where more than the perturber did."""
    steps: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Variant -> adjustment steps that a language model wrote for itself."""


def matched(part: SetPart, examples: Sequence[Example]) -> SetPart:
    """The part for these examples alone, in their order and with their sources and fields.

    Raises `InputError` where an example is not in the set, or there with another output or source.
    """
    place, held = f"perturbation set of '{part.dataset}'", {e.id: e for e in part.examples}
    for example in examples:
        if example.id not in held:
            raise InputError(
                f"{place} has no example '{example.id}' "
                f"(holds {len(held)} examples, first: {first_names(held)})"
            )
        there = held[example.id]
        differs = "output" if there.output != example.output else "source"
        if differs == "output" or source_hash(there) != source_hash(example):
            raise InputError(
                f"{place} was made of another text of example '{example.id}' (the {differs} differs); "
                "allowed: the same output and source"
            )
    texts = {(t.variant, t.example): t for t in part.texts}
    kept = tuple(texts[v.name, e.id] for v in part.variants for e in examples)
    return replace(part, examples=tuple(examples), texts=kept)


def source_hash(example: Example) -> str:
    """sha256 of the source in hex; of an example read from a set, the one kept there."""
    kept = None if example.source else example.fields.get(SOURCE_HASH)
    return kept or hashlib.sha256(example.source.encode(errors="surrogatepass")).hexdigest()


def first_names(names: Iterable[str], count: int = 3) -> str:
    """A few of many names, for messages."""
    listed = list(names)
    return ", ".join(listed[:count]) + (", ..." if len(listed) > count else "")


def check_once(place: str, kind: str, names: Iterable[str]) -> None:
    """Raise `InputError` at the first duplicate name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"{place}: duplicate {kind} '{name}'")
        seen.add(name)


def in_order(
    place: str, variant: Variant, outputs: Mapping[str, str], texts: Iterable[tuple[str, PerturbedText]]
) -> tuple[PerturbedText, ...]:
    """The texts of a variant in the order of the originals, `outputs`; `texts` come with their places.

    Raises `InputError` where an example is unknown, missing or there twice, or its text is faulty.
    """
    found: dict[str, PerturbedText] = {}
    for where, t in texts:
        if t.example not in outputs:
            raise InputError(
                f"{where}: no original of example '{t.example}'; allowed: those of {ORIGINAL}.jsonl "
                f"({first_names(outputs)})"
            )
        if t.example in found:
            raise InputError(f"{where}: duplicate example '{t.example}'")
        if fault := _fault(t, variant, outputs[t.example]):
            raise InputError(f"{where}: example '{t.example}': {fault}")
        found[t.example] = t
    for example in outputs:
        if example not in found:
            raise InputError(
                f"{place}: nothing for example '{example}'; allowed: all {len(outputs)} examples"
            )
    return tuple(found[example] for example in outputs)


def _fault(t: PerturbedText, variant: Variant, output: str) -> str | None:
    if t.text is None:
        return None if (t.reason or "").strip() else "there is neither a text nor a reason; allowed: one"
    if t.reason is not None:
        return "there are both a text and a reason; allowed: one"
    if not t.text.strip():
        return "the text is empty; allowed: text"
    if t.text == output and variant.level != "control":
        return "the text equals the original; allowed: a text made worse"
    return None
