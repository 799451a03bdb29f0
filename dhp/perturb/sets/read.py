"""Reading of perturbation sets, with all checks."""

import hashlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from dhp.core.errors import InputError, suggest
from dhp.core.files import read_lines
from dhp.core.records import Example, PerturbedText
from dhp.core.specs import S
from dhp.perturb.sets.card import CARD, FileCard, OriginalLine, PartCard, TextLine, parsed, read_card
from dhp.perturb.sets.part import SOURCE_HASH, SetPart, in_order


def read_set(folder: Path) -> dict[str, SetPart]:
    """The datasets of a set by name, everything checked.

    Raises `InputError` (file, line, what is allowed) for a missing or broken card, another schema, an
    unknown level or method, a missing, unknown or changed file, an example that is unknown, missing or
    there twice, an empty text, and one that equals the original where the variant is no control.
    """
    card = read_card(folder)
    known = {f.file for part in card.datasets for f in part.files}
    for path in sorted(p for p in folder.rglob("*.jsonl") if p.is_file()):
        name = path.relative_to(folder).as_posix()
        if name not in known and not any(p.startswith(".") for p in PurePosixPath(name).parts):
            beside = [k for k in known if PurePosixPath(k).parent == PurePosixPath(name).parent]
            raise InputError(f"{path}: no file of the set; {suggest(name, beside or known)}")
    return {part.name: _read_part(folder, part) for part in card.datasets}


def _read_part(folder: Path, card: PartCard) -> SetPart:
    file = folder / card.original.file
    originals: dict[str, Example] = {}
    for place, line in _lines(file, OriginalLine, card):
        if line.example in originals:
            raise InputError(f"{place}: duplicate example '{line.example}'")
        if not line.text.strip():
            raise InputError(f"{place}: the text of example '{line.example}' is empty; allowed: text")
        originals[line.example] = Example(line.example, "", line.text, {SOURCE_HASH: line.source_sha256})
    _check_unchanged(file, card.original)
    outputs = {e.id: e.output for e in originals.values()}
    texts: list[PerturbedText] = []
    for v in card.variants:
        path = folder / v.file
        rows = ((place, _text(place, line, v.name)) for place, line in _lines(path, TextLine, card))
        found = in_order(str(path), v.variant, outputs, rows)
        _check_unchanged(path, v)
        made = sum(t.text is not None for t in found)
        if (made, len(found) - made, len(found)) != (v.texts, v.not_applicable, card.n):
            raise InputError(
                f"{path}: {made} of {len(found)} examples have a text; "
                f"allowed: {v.texts} of {card.n}, as {CARD} says"
            )
        texts += found
    return SetPart(
        card.name,
        card.task,
        card.suite,
        card.seed,
        tuple(originals.values()),
        tuple(v.variant for v in card.variants),
        tuple(card.left_out),
        tuple(texts),
        {v.perturber: v.made_by for v in card.variants if v.made_by is not None},
        {v.name: v.steps for v in card.variants if v.steps is not None},
    )


def _lines(path: Path, spec: type[S], card: PartCard) -> Iterator[tuple[str, S]]:
    """(place, line) of a JSONL file of the card."""
    if not path.is_file():
        raise InputError(f"{path}: is missing; {CARD} names it as a file of dataset '{card.name}'")
    for number, line in enumerate(read_lines(path), 1):
        place = f"{path}: line {number}"
        yield place, parsed(line, spec, place)


def _text(place: str, line: TextLine, variant: str) -> PerturbedText:
    if (line.status == "ok") != (line.text is not None):
        raise InputError(
            f"{place}: status '{line.status}' does not go with the text; allowed: ok with a text"
        )
    return PerturbedText(line.example, variant, line.text, line.reason, line.audit, tuple(line.rejected))


def _check_unchanged(path: Path, card: FileCard) -> None:
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != card.sha256:
        raise InputError(
            f"{path}: was changed, its sha256 is {found[:12]}...; "
            f"allowed: {card.sha256[:12]}..., as {CARD} says"
        )
