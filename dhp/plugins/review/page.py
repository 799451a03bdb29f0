"""The page on which a person reviews a set."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dhp.content.catalog import descriptions, variant_name
from dhp.core.diff import diff
from dhp.core.records import Example
from dhp.perturb.builder import found_datasets, part_of
from dhp.perturb.settings import Choice
from dhp.plugins.review.reviews import NAME_LENGTH, NOTE_LENGTH, SCHEMA, Check, Pair, ReviewableSet, checks
from dhp.report.web import page

_ASSETS = Path(__file__).parent / "assets"


def examples_with_sources(
    reviewable: ReviewableSet, dataset: Sequence[str]
) -> dict[tuple[str, str], Mapping[str, str]]:
    """(dataset, example) -> label -> what its writer had.

    Raises `InputError` for data that the set was not made of.
    """
    found: dict[tuple[str, str], Mapping[str, str]] = {}
    datasets, _ = found_datasets(list(dataset), Choice(perturbed=reviewable.folder), 0)
    for each in datasets:
        part_of(reviewable.parts, each)
        labels = {"": each.task.source_label or "source", **each.task.shown_fields}
        for example in each.examples:
            found[each.name, example.id] = _shown(example, labels)
    return found


def _shown(example: Example, labels: Mapping[str, str]) -> dict[str, str]:
    texts = {"": example.source, **example.fields}
    return {label: texts[name] for name, label in labels.items() if texts.get(name)}


def review_page(reviewable: ReviewableSet, sources: Mapping[tuple[str, str], Mapping[str, str]] = {}) -> str:
    """The page: pair by pair, first blind, then with kind, edits and checks.

    It asks nothing of any network and runs no script but its own (content security policy). Progress is kept
    in the browser under the hash of the set. The same set gives the same page. `sources` has (dataset,
    example) -> label -> text that the writer had, shown beside the pairs.
    """
    return page(
        _ASSETS / "review.html",
        styles=(_ASSETS / "review.css",),
        scripts=(_ASSETS / "review.js",),
        count=len(reviewable.pairs),
        name_length=NAME_LENGTH,
        data=_data(reviewable, sources),
    )


def _data(reviewable: ReviewableSet, sources: Mapping[tuple[str, str], Mapping[str, str]]) -> dict[str, Any]:
    """What the script shows; texts of an example and descriptions of a variant are there once."""
    checked, known = checks(reviewable), descriptions()
    examples: dict[tuple[str, str], int] = {}
    variants: dict[tuple[str, str], int] = {}
    shown: list[dict[str, Any]] = []
    pairs = []
    for pair in reviewable.pairs.values():
        key = pair.dataset, pair.degraded.example
        if key not in examples:
            examples[key] = len(shown)
            source = sources.get(key, {})
            shown.append({"dataset": key[0], "id": key[1], "original": pair.original, "source": source})
        variant = variants.setdefault((pair.variant.name, pair.variant.level), len(variants))
        pairs.append(_pair(pair, examples[key], variant, checked[pair.key]))
    kinds = [
        {
            "name": name,
            "words": variant_name(name),
            "level": level,
            "description": known.get(name.partition(".")[0], ""),
        }
        for name, level in variants
    ]
    return {
        "schema": SCHEMA,
        "set": reviewable.hash,
        "note_length": NOTE_LENGTH,
        "examples": shown,
        "kinds": kinds,
        "pairs": pairs,
    }


def _pair(pair: Pair, example: int, variant: int, checked: Sequence[Check]) -> dict[str, Any]:
    """Without what is deleted the pieces are the degraded text, beside which stands the original."""
    pieces = diff(pair.original, pair.degraded.text or "", pair.variant.level)
    return {
        "example": example,
        "kind": variant,
        "left": pair.degraded_is_left,
        "pieces": [operation + piece for operation, piece in pieces],
        "checks": [list(check) for check in checked],
    }
