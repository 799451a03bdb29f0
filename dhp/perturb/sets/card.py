"""Format of the files of a perturbation set."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from pydantic import Field, ValidationError, model_validator

from dhp.core.errors import InputError, suggest
from dhp.core.files import parse_json, read_text
from dhp.core.records import LEVELS, ORIGINAL, PROBES, Audit, Variant
from dhp.core.seeding import text_hash
from dhp.core.specs import S, Spec
from dhp.perturb.sets.part import check_once

SCHEMA = "dhp.frozen/1"
CARD = "card.json"
_LONGEST = 100  # characters of a file name; file systems allow 255 bytes


class FileCard(Spec):
    file: str
    sha256: str


class VariantCard(FileCard):
    name: str
    perturber: str
    level: str
    method: Literal["rule", "authored", "llm", "given"]
    degree: str | None
    params: dict[str, Any]
    made_by: str | None = Field(alias="origin")
    steps: list[str] | None = None
    texts: int
    not_applicable: int

    @model_validator(mode="after")
    def _known_level(self) -> "VariantCard":
        if self.method != "given" and self.level not in (*LEVELS, *PROBES):
            raise ValueError(f"unknown level '{self.level}'; {suggest(self.level, (*LEVELS, *PROBES))}")
        return self

    @property
    def variant(self) -> Variant:
        return Variant(self.name, self.perturber, self.level, self.method, self.degree, self.params)


class PartCard(Spec):
    name: str
    task: str
    suite: str
    seed: int
    n: int
    left_out: list[str]
    original: FileCard
    variants: list[VariantCard]

    @property
    def files(self) -> list[FileCard]:
        return [self.original, *self.variants]


class SetCard(Spec):
    schema_: str = Field(alias="schema")
    dhp: str
    datasets: list[PartCard]
    sha256: str
    """Hash of the rest of the card; see `card_hash`."""


class OriginalLine(Spec):
    example: str
    text: str
    source_sha256: str


class TextLine(Spec):
    example: str
    status: Literal["ok", "not_applicable"]
    reason: str | None
    text: str | None
    audit: Audit | None
    rejected: list[str]


def read_card(folder: Path) -> SetCard:
    """The card of a set; its files must have the names that are ours: none may lead out of the folder."""
    path = folder / CARD
    if not path.is_file():
        raise InputError(
            f"{folder}: no perturbation set, there is no {CARD}; allowed: a folder that holds one"
        )
    text = read_text(path)
    data = parse_json(str(path), text)
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        raise InputError(f"{path}: schema is {schema!r}; allowed: {SCHEMA}")
    card = parsed(text, SetCard, str(path))
    check_once(str(path), "dataset", (p.name for p in card.datasets))
    for part, stem in zip(card.datasets, file_names(p.name for p in card.datasets), strict=True):
        names = [v.name for v in part.variants]
        check_once(f"{path}: dataset '{part.name}'", "variant", names)
        expected = [f"{stem}/{ORIGINAL}.jsonl", *variant_files(stem, names)]
        for entry, file in zip(part.files, expected, strict=True):
            if entry.file != file:
                raise InputError(f"{path}: dataset '{part.name}': file '{entry.file}'; allowed: {file}")
    if card.sha256 != card_hash(data):
        raise InputError(f"{path}: was changed, its sha256 differs; allowed: the card as it was written")
    return card


def card_hash(card: Mapping[str, object]) -> str:
    """sha256 of all that a card says besides, as compact JSON with sorted keys."""
    said = {key: value for key, value in card.items() if key != "sha256"}
    plain = json.dumps(said, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(plain.encode()).hexdigest()


def parsed(text: str, spec: type[S], place: str) -> S:
    """A JSON object as `spec` describes it; else `InputError` with the first fault."""
    try:
        return spec.model_validate_json(text)
    except ValidationError as e:
        first = e.errors()[0]
        message = " ".join(first["msg"].removeprefix("Value error, ").split())
        where = [place, ".".join(map(str, first["loc"])), message.replace("Input should", "should")]
        raise InputError(": ".join(filter(None, where))) from None


def file_names(names: Iterable[str], taken: Sequence[str] = ()) -> list[str]:
    """Each name as that of a file in one folder, on any system; odd characters are quoted."""
    made: list[str] = []
    used = set(taken)
    for name in names:
        plain = quote(name.replace("/", "_"), safe="")
        if plain != plain.strip(".") or not plain:
            plain = plain.replace(".", "%2E")
        if len(plain) > _LONGEST or plain.lower() in used or not plain:
            plain = f"{plain[: _LONGEST - 20]}-{text_hash(name)}"
        used.add(plain.lower())
        made.append(plain)
    return made


def variant_files(stem: str, names: Iterable[str]) -> list[str]:
    """The file of each variant in the folder `stem` of a dataset."""
    return [f"{stem}/{name}.jsonl" for name in file_names(names, [ORIGINAL])]
