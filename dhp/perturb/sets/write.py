"""Writing of perturbation sets."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dhp._version import __version__
from dhp.core.errors import InputError, suggest
from dhp.core.files import replacing, unwritable
from dhp.core.records import ORIGINAL, PerturbedText
from dhp.perturb.sets.card import (
    CARD,
    SCHEMA,
    SetCard,
    card_hash,
    file_names,
    parsed,
    read_card,
    variant_files,
)
from dhp.perturb.sets.part import SOURCE_HASH, SetPart, check_once, in_order, source_hash
from dhp.perturb.sets.readme import readme

README = "README.md"


def write_set(folder: Path, parts: Sequence[SetPart]) -> None:
    """Write a set; the folder appears whole or not at all. The same set may be written again.

    Raises `InputError` where the folder holds anything else or cannot be written, and for a part that
    `read_set` would refuse.
    """
    check_free(folder)
    if not parts:
        raise InputError(f"{folder}: nothing to write; allowed: at least one dataset")
    check_once(str(folder), "dataset", (p.dataset for p in parts))
    contents: dict[str, bytes] = {}
    datasets = [
        _part_written(part, stem, contents)
        for part, stem in zip(parts, file_names(p.dataset for p in parts), strict=True)
    ]
    card: dict[str, Any] = {"schema": SCHEMA, "dhp": __version__, "datasets": datasets}
    card["sha256"] = card_hash(card)
    text = json.dumps(card, ensure_ascii=False, indent=1, default=str) + "\n"
    parsed(text, SetCard, f"{folder}: {CARD} to be written")
    contents[CARD] = text.encode()
    if (folder / CARD).is_file() and (folder / CARD).read_bytes() != contents[CARD]:
        raise InputError(
            f"{folder}: holds another perturbation set; choose another folder, or remove it first"
        )
    contents[README] = readme(datasets).encode()
    try:
        with replacing(folder.resolve()) as new:
            for name, data in contents.items():
                (new / name).parent.mkdir(parents=True, exist_ok=True)
                (new / name).write_bytes(data)
    except OSError as e:
        raise unwritable(folder, e) from None


def check_free(folder: Path) -> None:
    """Raise `InputError` unless the folder is new, empty, or a set and nothing else."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; allowed: a new folder")
    there = sorted(p for p in folder.rglob("*") if not p.is_dir())
    if not there:
        return
    known: set[str] = set()
    if (folder / CARD).is_file():
        known = {f.file for p in read_card(folder).datasets for f in p.files} | {CARD, README}
    for path in there:
        if (name := path.relative_to(folder).as_posix()) not in known:
            raise InputError(
                f"{folder}: holds '{name}', which is not part of a set; allowed: a new or empty folder"
            )


def _part_written(part: SetPart, stem: str, contents: dict[str, bytes]) -> dict[str, Any]:
    """Add the files of a part to `contents` and return its card."""
    place = f"dataset '{part.dataset}'"
    check_once(place, "example", (e.id for e in part.examples))
    if not part.examples or not all(e.output.strip() for e in part.examples):
        raise InputError(f"{place}: no example, or one without output; allowed: at least one, all with texts")
    outputs = {e.id: e.output for e in part.examples}
    groups = _grouped(part)

    def filed(name: str, rows: Iterable[Mapping[str, object]]) -> dict[str, str]:
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        try:
            contents[name] = lines.encode()
        except UnicodeEncodeError:
            raise InputError(f"{place}: {name} would hold a lone surrogate; allowed: Unicode text") from None
        return {"file": name, "sha256": hashlib.sha256(contents[name]).hexdigest()}

    rows = ({"example": e.id, "text": e.output, SOURCE_HASH: source_hash(e)} for e in part.examples)
    original = filed(f"{stem}/{ORIGINAL}.jsonl", rows)
    variants = []
    for v, name in zip(part.variants, variant_files(stem, (v.name for v in part.variants)), strict=True):
        where = f"{place}, variant '{v.name}'"
        texts = in_order(where, v, outputs, ((where, t) for t in groups[v.name]))
        made = sum(t.text is not None for t in texts)
        steps = list(part.steps[v.name]) if v.name in part.steps else None
        variants.append(
            asdict(v)
            | {"origin": part.origins.get(v.perturber), "steps": steps, **filed(name, map(_text_row, texts))}
            | {"texts": made, "not_applicable": len(texts) - made}
        )
    return {
        "name": part.dataset,
        "task": part.task,
        "suite": part.suite,
        "seed": part.seed,
        "n": len(part.examples),
        "left_out": list(part.left_out),
        "original": original,
        "variants": variants,
    }


def _grouped(part: SetPart) -> dict[str, list[PerturbedText]]:
    """Variant -> its texts."""
    place = f"dataset '{part.dataset}'"
    check_once(place, "variant", (v.name for v in part.variants))
    groups: dict[str, list[PerturbedText]] = {v.name: [] for v in part.variants}
    for t in part.texts:
        if t.variant not in groups:
            raise InputError(f"{place}: unknown variant '{t.variant}'; {suggest(t.variant, groups)}")
        groups[t.variant].append(t)
    return groups


def _text_row(t: PerturbedText) -> dict[str, object]:
    return {
        "example": t.example,
        "status": "ok" if t.text is not None else "not_applicable",
        "reason": t.reason,
        "text": t.text,
        "audit": asdict(t.audit) if t.audit else None,
        "rejected": list(t.rejected),
    }
