"""Prepared copies of published datasets, as JSONL in the user's cache."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from dhp.core.card_spec import Card
from dhp.core.files import cache_folder, write_lines
from dhp.core.records import PerturbedText
from dhp.loaders.fetch.download import Progress
from dhp.loaders.fetch.sources import fetch
from dhp.loaders.pairs import LoadedTexts
from dhp.loaders.published.readers import read_set
from dhp.loaders.user import read_examples


def prepared_file(card: Card) -> Path:
    """Where the prepared examples of a dataset are, or would be."""
    return cache_folder() / "datasets" / f"{card.dataset}.jsonl"


def prepare(
    card: Card, source: Path | None, progress: Progress | None = None, fields: Mapping[str, str] | None = None
) -> Path:
    """Write all eligible examples of a dataset, or its pairs, as JSONL.

    Parameters
    ----------
    card
        Of the dataset.
    source
        The data in the form that their owners publish; None fetches them.
    progress
        Told (file name, bytes done, bytes in all or None) while something is fetched.
    fields
        Columns of pairs in the place of those that the card names.

    Returns
    -------
    Path
        The file, which takes its place only when complete.

    Raises
    ------
    InputError
        As `read_set` and `fetch`.
    """
    if source is None:
        source = fetch(card, cache_folder() / "downloads" / card.dataset, progress)
    text = "".join(
        json.dumps(row, ensure_ascii=False) + "\n" for row in _rows(read_set(card, source, fields))
    )
    path = prepared_file(card)
    write_lines(path, [text])
    return path


def is_prepared(card: Card) -> bool:
    """Whether `prepare` has run."""
    return prepared_file(card).is_file()


def load_prepared(card: Card) -> LoadedTexts | None:
    """The examples or pairs that `prepare` wrote, or None where it has not run.

    A damaged file raises `InputError`.
    """
    path = prepared_file(card)
    return read_examples(path) if is_prepared(card) else None


def _rows(loaded: LoadedTexts) -> Iterator[dict[str, str]]:
    """The columns that `read_examples` reads, a row an example or pair."""
    variants = {v.name: v for v in loaded.variants}
    texts: dict[str, list[PerturbedText]] = {}
    for text in loaded.perturbed:
        texts.setdefault(text.example, []).append(text)
    for e in loaded.examples:
        row = {"id": e.id, "source": e.source, "output": e.output, **e.fields}
        if not variants:
            yield row
        for text in texts.get(e.id, []):
            variant = variants[text.variant]
            pair = {"perturbed": text.text or "", "kind": variant.perturber, "level": variant.level}
            yield row | pair | ({"degree": variant.degree} if variant.degree else {})
