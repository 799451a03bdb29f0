"""Ready-made pairs: each row one example with one degraded copy of its output."""

from collections.abc import Iterable, Mapping

from dhp.core.diff import audit
from dhp.core.errors import InputError
from dhp.core.records import ORIGINAL, Example, PerturbedText, Variant
from dhp.core.tables import Row

DEFAULT_KIND = "perturbed"
DEFAULT_LEVEL = "given"
NO_PAIR = "no such pair in the file"
"""Why an example has no text under a variant."""


def read_pairs(
    rows: Iterable[tuple[Row, Example]], columns: Mapping[str, str]
) -> tuple[list[Example], tuple[Variant, ...], list[PerturbedText]]:
    """Examples, variants and degraded texts of the rows, each in the order of first occurrence.

    `columns` maps `perturbed` and perhaps `kind` and `level` to the rows' columns. The fields of an
    example are those of its first row. Raises `InputError` with the place where rows contradict each
    other, a pair stands twice, or a degraded text is empty or equals the original.
    """
    examples: dict[str, Example] = {}
    variants: dict[str, Variant] = {}
    texts: dict[tuple[str, str], str] = {}
    for row, example in rows:
        first = examples.setdefault(example.id, example)
        for name in ("source", "output"):
            if getattr(first, name) != getattr(example, name):
                raise row.fault(
                    f"'{columns[name]}' of id '{example.id}' differs from an earlier row; allowed: the same"
                )
        variant = _variant(row, columns)
        known = variants.setdefault(variant.name, variant)
        if known.level != variant.level:
            raise row.fault(
                f"kind '{variant.name}' has level '{variant.level}'; allowed: {known.level}, as before"
            )
        if (example.id, variant.name) in texts:
            raise row.fault(f"id '{example.id}' with kind '{variant.name}' stands twice; allowed: once")
        texts[example.id, variant.name] = _degraded(row, columns["perturbed"], example)
    if "id" not in columns and len(variants) > 1:
        raise InputError("pairs of several kinds need a column 'id' that says which rows share an example")
    return list(examples.values()), tuple(variants.values()), _all_pairs(examples, variants, texts)


def _variant(row: Row, columns: Mapping[str, str]) -> Variant:
    kind, level = (
        _optional(row, columns, n, d) for n, d in (("kind", DEFAULT_KIND), ("level", DEFAULT_LEVEL))
    )
    if kind == ORIGINAL:
        raise row.fault(f"kind '{ORIGINAL}' names the undamaged text; allowed: any other name")
    return Variant(name=kind, perturber=kind, level=level, method="given", degree=None)


def _optional(row: Row, columns: Mapping[str, str], name: str, default: str) -> str:
    column = columns.get(name)
    return row.text(column).strip() if column is not None and row.has(column) else default


def _degraded(row: Row, column: str, example: Example) -> str:
    text = row.text(column)
    if text == example.output:
        raise row.fault(
            f"column '{column}' of id '{example.id}' equals the output; allowed: a text made worse"
        )
    return text


def _all_pairs(
    examples: Mapping[str, Example], variants: Iterable[str], texts: Mapping[tuple[str, str], str]
) -> list[PerturbedText]:
    pairs = []
    for example in examples.values():
        for variant in variants:
            text = texts.get((example.id, variant))
            if text is None:
                pairs.append(PerturbedText(example.id, variant, None, NO_PAIR))
            else:
                pairs.append(PerturbedText(example.id, variant, text, audit=audit(example.output, text)))
    return pairs
