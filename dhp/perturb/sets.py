"""Perturbation sets: degraded texts on disk, read and written with all checks.

A set is a folder: its card names each other file with its hash, and a reader trusts nothing else. The records
`SetCard`, `OriginalLine` and `TextLine` say what stands in the files. `read_set` reads the card, then file by
file the originals and variants; `write_set` makes all files in memory, then writes them.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from html import escape
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from urllib.parse import quote

from pydantic import ConfigDict, Field, model_validator
from pydantic.dataclasses import dataclass as pydantic_dataclass

from dhp._version import __version__
from dhp.content.yaml_files import refusals
from dhp.core.errors import InputError, suggest, unique
from dhp.core.files import json_line, parse_json, read_lines, read_text
from dhp.core.hiding import hidden
from dhp.core.records import LEVELS, ORIGINAL, PROBES, Audit, Example, PerturbedText, Variant
from dhp.core.seeding import text_hash
from dhp.core.specs import Number, S, Spec, Task
from dhp.core.writing import write_folder
from dhp.loaders.dataset import Dataset
from dhp.perturb.perturbed_dataset import PerturbedDataset

SOURCE_HASH = "source_sha256"
"""The field of an example read from a set that stands for its source."""


def source_hash(example: Example) -> str:
    """sha256 of the source in hex; of an example read from a set, the one kept there."""
    kept = None if example.source else example.fields.get(SOURCE_HASH)
    return kept or hashlib.sha256(example.source.encode(errors="surrogatepass")).hexdigest()


def first_names(names: Collection[str]) -> str:
    """The first three names, for messages."""
    return ", ".join(islice(names, 3)) + (", ..." if len(names) > 3 else "")


def in_order(
    place: str, variant: Variant, outputs: Mapping[str, str], texts: Iterable[tuple[str, PerturbedText]]
) -> tuple[PerturbedText, ...]:
    """The texts of a variant in the order of the originals, `outputs`; `texts` come with their places.

    Raises `InputError` if an example is unknown, missing or there twice, or its text is faulty.
    """
    by_key: dict[str, PerturbedText] = {}
    for where, t in texts:
        if t.example not in outputs:
            known = first_names(outputs)
            raise InputError(
                f"{where}: no original of example '{t.example}'; allowed: those of {ORIGINAL}.jsonl ({known})"
            )
        if t.example in by_key:
            raise InputError(f"{where}: duplicate example '{t.example}'")
        fault = _fault(t, variant, outputs[t.example])
        if fault:
            raise InputError(f"{where}: example '{t.example}': {fault}")
        by_key[t.example] = t
    for example in outputs:
        if example not in by_key:
            raise InputError(
                f"{place}: nothing for example '{example}'; allowed: all {len(outputs)} examples"
            )
    return tuple(by_key[example] for example in outputs)


def _fault(t: PerturbedText, variant: Variant, output: str) -> str | None:
    """Why a text of a variant cannot be in a set; None if it can."""
    if t.text is None:
        has_reason = bool((t.reason or "").strip())
        return None if has_reason else "there is neither a text nor a reason; allowed: one"
    if t.reason is not None:
        return "there are both a text and a reason; allowed: one"
    if not t.text.strip():
        return "the text is empty; allowed: text"
    if t.text == output and variant.level != "control":
        return "the text equals the original; allowed: a text made worse"
    return None


SCHEMA = "dhp.frozen/1"
CARD = "card.json"
_LONGEST = 100  # characters of a file name: chosen; file systems allow 255 bytes


# What stands in the files: the card, and the lines of the originals and of the variants.


class FileCard(Spec):
    """A file of the set."""

    file: str
    sha256: str


@pydantic_dataclass(config=ConfigDict(extra="forbid", strict=True), frozen=True, kw_only=True)
class VariantCard(Variant):
    """A variant with its file."""

    method: Literal["rule", "authored", "llm", "given"]
    params: dict[str, Any]
    origin: str | None
    steps: list[str] | None = None
    file: str
    sha256: str
    texts: int
    not_applicable: int

    @model_validator(mode="after")
    def _known_level(self) -> "VariantCard":
        # Texts that others degraded ("given") may have levels of their own.
        if self.method != "given" and self.level not in (*LEVELS, *PROBES):
            raise ValueError(f"unknown level '{self.level}'; {suggest(self.level, (*LEVELS, *PROBES))}")
        return self

    @property
    def variant(self) -> Variant:
        """What was made, without the file."""
        values = {each.name: getattr(self, each.name) for each in fields(Variant)}
        return Variant(**values)


class PartCard(Spec):
    """A dataset of the set."""

    name: str
    task: str
    suite: str
    seed: int
    n: int
    left_out: list[str]
    original: FileCard
    variants: list[VariantCard]

    @property
    def files(self) -> list[FileCard | VariantCard]:
        """That of the originals, and one a variant."""
        return [self.original, *self.variants]


class ReviewedKind(Spec):
    """What people said of one kind of damage, before they knew which text was the damaged one."""

    dataset: str
    variant: str
    texts: int
    """Reviewed texts; the other figures are means over them, and over reviewers of the same text."""
    worse: Number
    """Share of the texts that are worse than their originals."""
    low: Number | None
    """Ends of the 95 % interval of `worse`; None with fewer than two texts."""
    high: Number | None
    same: Number
    better: Number


class SetReview(Spec):
    """What people said of a set, and did to it."""

    of: str
    """The `sha256` of the set that was reviewed."""
    texts: int
    """Texts of that set that could be reviewed."""
    reviewers: dict[str, int]
    """Reviewer -> reviewed texts."""
    rejected: int
    by_hand: int
    """Texts that a reviewer edited."""
    alpha: Number | None
    """Krippendorff's alpha of which text is worse; None for a single reviewer, or if it is undefined."""
    kinds: list[ReviewedKind]


class SetCard(Spec):
    """What `card.json` holds."""

    schema_: str = Field(alias="schema")
    dhp: str
    datasets: list[PartCard]
    review: SetReview | None = None
    sha256: str
    """Hash of the rest of the card; see `card_hash`."""


class OriginalLine(Spec):
    """A line of the originals."""

    example: str
    text: str
    source_sha256: str


class TextLine(Spec):
    """A line of a variant."""

    example: str
    status: Literal["ok", "not_applicable"]
    reason: str | None
    text: str | None
    audit: Audit | None
    rejected: list[str]
    by_hand: bool = False


def read_card(folder: Path) -> SetCard:
    """The card of a set; its files must have the names that are ours: none may lead out of the folder."""
    path = folder / CARD
    if not path.is_file():
        raise InputError(
            f"{folder}: no perturbation set, there is no {CARD}; allowed: a folder that holds one"
        )
    card, data = read_form(path, SetCard, SCHEMA)
    datasets = [part.name for part in card.datasets]
    unique("dataset", datasets, str(path))
    for part, stem in zip(card.datasets, file_names(datasets), strict=True):
        names = [v.name for v in part.variants]
        unique("variant", names, f"{path}: dataset '{part.name}'")
        # No name of a file is read from the card: it could lead out of the folder.
        expected = [f"{stem}/{ORIGINAL}.jsonl", *variant_files(stem, names)]
        for entry, file in zip(part.files, expected, strict=True):
            if entry.file != file:
                raise InputError(f"{path}: dataset '{part.name}': file '{entry.file}'; allowed: {file}")
    if card.sha256 != card_hash(data):
        raise InputError(f"{path}: was changed, its sha256 differs; allowed: the card as it was written")
    return card


def card_hash(card: Mapping[str, object]) -> str:
    """sha256 of all that a card says besides, as compact JSON with sorted keys."""
    # One spelling of each value, so that the same card has the same hash however it was written.
    shown = {key: value for key, value in card.items() if key != "sha256"}
    plain = json.dumps(shown, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(plain.encode()).hexdigest()


def read_form(path: Path, spec: type[S], schema: str) -> tuple[S, dict[str, object]]:
    """A JSON file as `spec` describes it, and as it is; raises `InputError` for one of another schema."""
    text = read_text(path)
    data = parse_json(str(path), text)
    declared = data.get("schema") if isinstance(data, dict) else None
    if declared != schema:
        raise InputError(f"{path}: schema is {declared!r}; allowed: {schema}")
    return parsed(text, spec, str(path)), data


def parsed(text: str, spec: type[S], place: str) -> S:
    """A JSON object as `spec` describes it; else `InputError` with the first fault."""
    with refusals(place, spec):
        return spec.model_validate_json(text)


def file_names(names: Iterable[str], taken: Sequence[str] = ()) -> list[str]:
    """Each name as that of a file in one folder, on any system; odd characters are quoted."""
    made: list[str] = []
    used = set(taken)
    for name in names:
        plain = quote(name.replace("/", "_"), safe="")  # "mini/summeval" is "mini_summeval"
        if plain != plain.strip("."):
            plain = plain.replace(".", "%2E")  # ".." would lead out of the folder
        # File systems that do not tell capitals apart would hold two names in one file.
        if len(plain) > _LONGEST or plain.lower() in used or not plain:
            plain = f"{plain[: _LONGEST - 20]}-{text_hash(name)}"
        used.add(plain.lower())
        made.append(plain)
    return made


def variant_files(stem: str, names: Iterable[str]) -> list[str]:
    """The file of each variant in the folder `stem` of a dataset."""
    return [f"{stem}/{name}.jsonl" for name in file_names(names, [ORIGINAL])]


def read_set(folder: Path) -> dict[str, PerturbedDataset]:
    """The datasets of a set by name, everything checked.

    Raises `InputError` (file, line, what is allowed) for a missing or broken card, another schema, an
    unknown level or method, a missing, unknown or changed file, an example that is unknown, missing or
    there twice, an empty text, and one that equals the original if the variant is no control.
    """
    card = read_card(folder)
    known = _files(card)
    for path in sorted(folder.rglob("*.jsonl")):
        name = path.relative_to(folder)
        is_hidden = any(part.startswith(".") for part in name.parts)  # of an editor, or of macOS
        if path.is_file() and not is_hidden and name.as_posix() not in known:
            beside = [file for file in known if PurePosixPath(file).parent == PurePosixPath(name).parent]
            raise InputError(f"{path}: no file of the set; {suggest(name.as_posix(), beside or known)}")
    return {part.name: _read_part(folder, part) for part in card.datasets}


def _files(card: SetCard) -> set[str]:
    """The names of all files that a card names."""
    files = set[str]()
    for part in card.datasets:
        files.update(file.file for file in part.files)
    return files


def _read_part(folder: Path, card: PartCard) -> PerturbedDataset:
    """A dataset of a set; each file is parsed before its hash is looked at, as a fault names its line."""
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
    origins, auto_steps = dict[str, str](), dict[str, list[str]]()
    for v in card.variants:
        if v.origin is not None:
            origins[v.perturber] = v.origin
        if v.steps is not None:
            auto_steps[v.name] = v.steps
        path = folder / v.file
        rows = ((place, _text(place, line, v.name)) for place, line in _lines(path, TextLine, card))
        ordered = in_order(str(path), v.variant, outputs, rows)
        _check_unchanged(path, v)
        made = _texts_among(ordered)
        if (made, len(ordered) - made, len(ordered)) != (v.texts, v.not_applicable, card.n):
            raise InputError(
                f"{path}: {made} of {len(ordered)} examples have a text; "
                f"allowed: {v.texts} of {card.n}, as {CARD} says"
            )
        texts += ordered

    task = Task.model_construct(task=card.task)  # of which a set holds the name alone
    examples = tuple(originals.values())
    return PerturbedDataset(
        Dataset(card.name, examples, task, None, examples),
        tuple(v.variant for v in card.variants),
        tuple(card.left_out),
        tuple(texts),
        card.suite,
        card.seed,
        origins,
        auto_steps=auto_steps,
    )


def _texts_among(texts: Iterable[PerturbedText]) -> int:
    """How many have a text, not a reason why there is none."""
    return len([t for t in texts if t.text is not None])


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
    rejected = tuple(line.rejected)
    return PerturbedText(
        line.example, variant, line.text, line.reason, line.audit, rejected, by_hand=line.by_hand
    )


def _check_unchanged(path: Path, card: FileCard | VariantCard) -> None:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != card.sha256:
        raise InputError(
            f"{path}: was changed, its sha256 is {digest[:12]}...; "
            f"allowed: {card.sha256[:12]}..., as {CARD} says"
        )


def readme(card: SetCard) -> str:
    """What a set says of itself to people."""
    lines = [
        "# Perturbation set\n",
        "Reference texts and copies of them made worse in known ways, to test whether a judge of texts",
        "notices. `card.json` says how each variant was made and holds the sha256 of every file.",
    ]
    for part in card.datasets:
        lines += [
            f"\n## {_cell(part.name)}\n",
            f"Task {_cell(part.task)}, suite {_cell(part.suite)}, seed {part.seed}, "
            f"{part.n} examples; originals in `{part.original.file}`.\n",
            "| variant | level | method | made by | texts | not applicable | file |",
            "|---|---|---|---|---:|---:|---|",
        ]
        for v in part.variants:
            cells = [v.name, v.level, v.method, v.origin or v.perturber]
            cells += [str(v.texts), str(v.not_applicable), f"`{v.file}`"]
            row = " | ".join(map(_cell, cells))
            lines.append(f"| {row} |")
        if part.left_out:
            missing = ", ".join(map(_cell, part.left_out))
            lines.append(f"\nNot made: {missing}.")
    if card.review:
        lines += _review_lines(card.review)
    return "\n".join(lines) + _README_END


def _review_lines(review: SetReview) -> list[str]:
    """What the readme says of a review."""
    lines = ["\n## Review\n", "People said which text of a pair is worse, not knowing which was damaged:\n"]
    for name, count in review.reviewers.items():
        lines.append(f"- {_cell(name)}: {count} of {review.texts} texts")
    lines.append(f"- rejected: {review.rejected}; edited by hand: {review.by_hand}")
    if review.alpha is not None:
        lines.append(f"- agreement of reviewers: Krippendorff's alpha {review.alpha:.2f}")
    lines += ["\n| dataset | variant | texts | really worse | 95 % interval | same | better |"]
    lines += ["|---|---|---:|---:|---|---:|---:|"]
    for k in review.kinds:
        interval = "–" if k.low is None or k.high is None else f"{k.low:.0%} to {k.high:.0%}"
        shares = f"{k.worse:.0%} | {interval} | {k.same:.0%} | {k.better:.0%}"
        lines.append(f"| {_cell(k.dataset)} | {_cell(k.variant)} | {k.texts} | {shares} |")
    return lines


_README_END = f"""

## Use

`dhp benchmark --perturbed DIR` judges these very texts. In Python, all checked against the card:

```python
from pathlib import Path
from dhp.perturb.sets import read_set

parts = read_set(Path("."))  # dataset -> its originals, variants and degraded texts
```

Without dhp: each line of `{ORIGINAL}.jsonl` is an object of `example`, `text` and `{SOURCE_HASH}` (the
source itself is not part of the set), each line of a variant's file one of `example`, `status` (`ok`, or
`not_applicable` with a `reason`), `text`, `audit`, `rejected`, and `by_hand` where a person edited the text.

## Licence and citation

The texts keep the licence of the data they were made of. The benchmark is that of Wang et al. (2025), DHP
Benchmark: Are LLMs Good NLG Evaluators?, Findings of NAACL 2025,
https://aclanthology.org/2025.findings-naacl.451
"""


def _cell(value: object) -> str:
    """Safe in a line or table of Markdown."""
    return escape(" ".join(str(value).split()), quote=False).replace("|", "\\|")


README = "README.md"


def write_set(folder: Path, parts: Sequence[PerturbedDataset], review: SetReview | None = None) -> None:
    """Write a set; the folder appears whole or not at all. The same set may be written again.

    Raises `InputError` if the folder holds anything else or cannot be written, and for a part that
    `read_set` would refuse.
    """
    check_free(folder)
    if not parts:
        raise InputError(f"{folder}: nothing to write; allowed: at least one dataset")
    names = [part.dataset.name for part in parts]
    unique("dataset", names, str(folder))

    # Everything is made in memory first, the card last, as it holds the hashes of the other files.
    contents: dict[str, bytes] = {}
    datasets = list[dict[str, Any]]()
    for part, stem in zip(parts, file_names(names), strict=True):
        datasets.append(_part_written(part, stem, contents))
    card: dict[str, Any] = {"schema": SCHEMA, "dhp": __version__, "datasets": datasets}
    if review is not None:
        card["review"] = review.model_dump()
    card["sha256"] = card_hash(card)
    text = json.dumps(card, ensure_ascii=False, indent=1, default=str) + "\n"

    # A card that could not be read again is not written.
    checked = parsed(text, SetCard, f"{folder}: {CARD} to be written")
    contents[CARD] = text.encode()
    if (folder / CARD).is_file() and (folder / CARD).read_bytes() != contents[CARD]:
        raise InputError(
            f"{folder}: holds another perturbation set; choose another folder, or remove it first"
        )
    contents[README] = readme(checked).encode()
    write_folder(folder, contents)


def check_free(folder: Path) -> None:
    """Raise `InputError` unless the folder is new, empty, or a set and nothing else."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; allowed: a new folder")
    files = sorted(p for p in folder.rglob("*") if not p.is_dir())
    if not files:
        return
    known: set[str] = set()
    if (folder / CARD).is_file():
        known = _files(read_card(folder)) | {CARD, README}
    for path in files:
        name = path.relative_to(folder).as_posix()
        if name not in known:
            raise InputError(
                f"{folder}: holds '{name}', which is not part of a set; allowed: a new or empty folder"
            )


def _part_written(part: PerturbedDataset, stem: str, contents: dict[str, bytes]) -> dict[str, Any]:
    """Add the files of a part to `contents` and return its card."""
    dataset = part.dataset
    place = f"dataset '{dataset.name}'"
    names = [v.name for v in part.variants]
    unique("variant", names, place)
    texts_of = part.by_variant

    def filed(name: str, rows: Iterable[Mapping[str, object]]) -> dict[str, str]:
        """Keep a file, without secrets, and say what the card says of it."""
        lines = hidden("".join(map(json_line, rows)))
        try:
            contents[name] = lines.encode()
        except UnicodeEncodeError:
            raise InputError(f"{place}: {name} would hold a lone surrogate; allowed: Unicode text") from None
        return {"file": name, "sha256": hashlib.sha256(contents[name]).hexdigest()}

    originals = list[Mapping[str, object]]()
    for e in dataset.examples:
        originals.append({"example": e.id, "text": e.output, SOURCE_HASH: source_hash(e)})
    original = filed(f"{stem}/{ORIGINAL}.jsonl", originals)

    variants = []
    for v, name in zip(part.variants, variant_files(stem, names), strict=True):
        where = f"{place}, variant '{v.name}'"
        texts = in_order(where, v, part.outputs, ((where, t) for t in texts_of[v.name]))
        made = _texts_among(texts)
        steps = part.auto_steps.get(v.name)
        variants.append(
            {
                **asdict(v),
                "origin": part.origins.get(v.perturber),
                "steps": None if steps is None else list(steps),
                **filed(name, map(_text_row, texts)),
                "texts": made,
                "not_applicable": len(texts) - made,
            }
        )
    return {
        "name": dataset.name,
        "task": dataset.task.task,
        "suite": part.suite,
        "seed": part.seed,
        "n": len(dataset.examples),
        "left_out": list(part.left_out),
        "original": original,
        "variants": variants,
    }


def _text_row(t: PerturbedText) -> dict[str, object]:
    """The line of a text, as `TextLine` reads it."""
    row: dict[str, object] = {
        "example": t.example,
        "status": "ok" if t.text is not None else "not_applicable",
        "reason": t.reason,
        "text": t.text,
        "audit": asdict(t.audit) if t.audit else None,
        "rejected": list(t.rejected),
    }
    if t.by_hand:  # left out otherwise, as few sets have such a text
        row["by_hand"] = True
    return row
