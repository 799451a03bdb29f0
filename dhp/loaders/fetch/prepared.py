"""Published datasets made ready once, as JSONL in the user's cache."""

import json
from pathlib import Path

from dhp.core.files import cache_folder, write_whole
from dhp.core.records import Example
from dhp.core.specs import Card
from dhp.loaders.fetch.download import Progress
from dhp.loaders.fetch.sources import fetch
from dhp.loaders.published.readers import read_published
from dhp.loaders.user import read_examples


def prepared_file(card: Card) -> Path:
    """Where the prepared examples of a dataset are, or would be."""
    return cache_folder() / "datasets" / f"{card.dataset}.jsonl"


def prepare(card: Card, source: Path | None, progress: Progress | None = None) -> Path:
    """Write all eligible examples of a dataset as JSONL (`id`, `source`, `output`, fields).

    Returns the file, which takes its place only when complete. The examples come from `source`, in the form
    the owners publish, or are fetched where it is None. Raises `InputError` as `read_published` and `fetch`.
    """
    if source is None:
        source = fetch(card, cache_folder() / "downloads" / card.dataset, progress)
    rows = (
        {"id": e.id, "source": e.source, "output": e.output, **e.fields} for e in read_published(card, source)
    )
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path = prepared_file(card)
    write_whole(path, lambda new: new.write_text(text, encoding="utf-8", newline="\n"))
    return path


def is_prepared(card: Card) -> bool:
    """Whether `prepare` has run."""
    return prepared_file(card).is_file()


def load_prepared(card: Card) -> list[Example] | None:
    """The eligible examples that `prepare` wrote, or None where it has not run.

    A damaged file raises `InputError`.
    """
    path = prepared_file(card)
    return read_examples(path).examples if is_prepared(card) else None
