"""Output of `dhp show` for a dataset: figures of its examples, kinds of pairs, licence, citation."""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dhp.core.card_spec import Card


def show_dataset(
    name: str, *, n: int | None, seed: int, data: str | Path | None, min_characters: int | None = None
) -> None:
    """Print the figures of the chosen examples beside the paper's, and the kinds of published pairs.

    `data` is where the dataset lies as published; default: the prepared copy. `min_characters` takes the
    place of the card's.
    """
    from dhp.content.catalog import dataset_names, read_card
    from dhp.core.errors import InputError
    from dhp.loaders.dataset import measure
    from dhp.loaders.fetch.prepared import is_prepared
    from dhp.loaders.resolve import check_minimum, published

    base = name.removeprefix("mini/")
    card, source = read_card(base), Path(data) if data is not None else None
    if source is not None and base != name:
        raise InputError(f"--data: {name} is bundled; allowed with one of {', '.join(dataset_names())}")
    check_minimum(min_characters, source)
    if source is None and base == name and not is_prepared(card):
        _show_card(name, card)
        return
    whole = published(name, source, min_characters)
    count = min(card.n or len(whole.examples), len(whole.examples)) if base == name else len(whole.examples)
    chosen = whole.chosen(count if n is None else n, seed)
    with _hidden("scipy"):  # nltk loads it for what is not used here, and that takes half of the time
        here = measure(chosen.examples)
    paper = card.paper if base == name else None
    title = card.title if base == name else f"bundled examples of the kind of {card.title}"
    print(f"{name}: {title}, task {card.task}, n = {len(chosen.examples)}")
    _show_figures({"here": here, **({"paper": paper} if paper else {})})
    pairs = Counter(text.variant for text in chosen.pairs)
    for variant in chosen.pair_variants:
        print(f"  {variant.level:24} {variant.name:40} {pairs[variant.name]:6} pairs")
    if base != name:
        print(f"  what: {card.mini}, written for this project")
        print("  perturbations: rules, and edits authored for this project")
        print("  licence: Apache-2.0\n  cite: this project; they are no part of the published set")
        return
    _show_about(card)


@contextmanager
def _hidden(module: str) -> Iterator[None]:
    """A module that is not loaded yet cannot be imported, as if it were not installed."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[module]


def _show_card(name: str, card: "Card") -> None:
    """What is known of a dataset without its texts."""
    from dhp.loaders.resolve import unprepared

    print(f"{name}: {card.title}, task {card.task}")
    if card.paper:
        _show_figures({"paper": card.paper})
    _show_about(card)
    print(f"  {unprepared(name)}")


def _show_figures(columns: Mapping[str, object]) -> None:
    """Means of the reference texts, a column for each place that they are from."""
    print(f"  {'mean per reference text':24} {' '.join(f'{name:>8}' for name in columns)}")
    for figure in ("characters", "words", "sentences"):
        print(f"  {figure:24} {' '.join(f'{getattr(each, figure):8.1f}' for each in columns.values())}")


def _show_about(card: "Card") -> None:
    if card.differs and card.paper:
        print(f"  differs: {card.differs}")
    print(f"  selection: {card.selection}\n  licence: {card.licence}\n  cite: {card.citation}")
