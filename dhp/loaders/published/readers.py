"""Published datasets in their original format, as examples or pairs."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from dhp.content.catalog import read_task
from dhp.core.card_spec import Card
from dhp.core.errors import InputError
from dhp.core.records import Example
from dhp.core.registry import Registry
from dhp.core.tables import read_tables
from dhp.loaders.pairs import LoadedTexts, read_pairs
from dhp.loaders.published.whole_texts import (
    read_answer_equivalence,
    read_story_cloze,
    read_summeval,
    read_sumpubmed,
)
from dhp.loaders.published.wmt import read_wmt

Reader = Callable[[Card, Path], Iterator[tuple[str, Example]]]

READERS: Registry[Reader] = Registry(
    "published dataset",
    {
        "summeval": read_summeval,
        "sumpubmed": read_sumpubmed,
        "story_cloze": read_story_cloze,
        "answer_equivalence": read_answer_equivalence,
        "wmt22_deen": read_wmt,
        "wmt22_zhen": read_wmt,
    },
)
"""Dataset -> its reader, which yields (place, example) of the eligible examples."""


def read_set(card: Card, path: Path, fields: Mapping[str, str] | None = None) -> LoadedTexts:
    """What a published dataset holds: pairs as its card says, else its eligible examples.

    `fields` (our name -> column) takes the place of what the card says of pairs. Raises `InputError` as
    `read_pairs` and `read_published`.
    """
    form = card.pairs
    if form is None:
        return LoadedTexts(read_published(card, path))
    form = form.model_copy(update={"fields": {**form.fields, **(fields or {})}})
    return read_pairs(read_tables(path, form.files), form, read_task(card.task).shown_fields)


def read_published(card: Card, path: Path) -> list[Example]:
    """All eligible examples of a published dataset, in file order.

    `path` is the file or folder as its owners publish it; `card.selection` says what is eligible. The
    choice of N is not made here. Raises `InputError` for a missing, empty, broken or wrong file, for a
    missing column, a duplicate id, and where no example is eligible.
    """
    first_places: dict[str, str] = {}
    examples: list[Example] = []
    for place, example in READERS[card.dataset](card, path):
        if first := first_places.get(example.id):
            raise InputError(f"{place}: duplicate id '{example.id}' (first at {first})")
        first_places[example.id] = place
        examples.append(example)
    if not examples:
        raise InputError(f"{path}: no example qualifies; allowed: {' '.join(card.selection.split())}")
    return examples
