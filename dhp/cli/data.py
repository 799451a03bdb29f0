"""`dhp data`: list, check, prepare and show datasets."""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dhp.cli.option_groups import COUNT, SEED

if TYPE_CHECKING:
    from dhp.core.card_spec import Card


@click.group()
def data() -> None:
    """Datasets: list, check, prepare, show."""


@data.command("list")
def list_() -> None:
    """The datasets of the benchmark and the published pairs, and which are prepared.

    Example: dhp data list
    """
    from dhp.content.catalog import dataset_names, read_card
    from dhp.loaders.fetch.prepared import is_prepared

    for name in dataset_names():
        card = read_card(name)
        state = "prepared" if is_prepared(card) else "not prepared"
        texts = "pairs" if card.pairs else "examples"
        print(f"{name:20} {card.task:20} {texts:9} {state:13} {card.licence}")
    print("mini/NAME            bundled examples of the kind of each, ready")


@data.command()
def check() -> None:
    """Read all content that ships with the package, strictly.

    Example: dhp data check
    """
    from dhp.content.catalog import (
        DATASETS,
        read_authored,
        read_list,
        read_probes,
        read_suite,
        suite_names,
    )
    from dhp.content.check import check as check_content
    from dhp.core.errors import InputError
    from dhp.loaders.resolve import resolve_datasets
    from dhp.perturb.authored import authored_texts
    from dhp.perturb.model_config import check_prompts
    from dhp.perturb.registry import LISTS, check_suite, find_perturbers

    for line in check_content():
        print(f"ok  {line}")
    perturbers = find_perturbers()
    for name in suite_names():
        suite = read_suite(name)
        check_suite(suite, perturbers)
        print(f"ok  suite {name}: {check_prompts(suite)} prompts")
    for name in ("controls", "attacks"):
        probes = read_probes(name)
        check_suite(suite.with_perturbers(probes.perturbers), perturbers)
        print(f"ok  probes {name}: {', '.join(probes.perturbers)}")
    for name, spec in LISTS.items():
        read_list(name, spec)
        print(f"ok  word list {name}")
    for name in DATASETS:
        (bundled,) = resolve_datasets([f"mini/{name}"])
        authored, suite = read_authored(bundled.name), read_suite(name)
        written = [v for v in suite.variants if v.method == "llm"] if authored else []
        texts = [t for v in written if authored for t in authored_texts(bundled.examples, v, authored)]
        if lacking := [t for t in texts if t.text is None]:
            raise InputError(f"{authored and authored.origin}: {lacking[0].example}: {lacking[0].reason}")
        print(f"ok  mini/{name}: {len(bundled.examples)} examples, {len(texts)} authored texts")


@data.command()
@click.argument("name")
@click.option("--from", "source", metavar="PATH", help="File or folder as published; default: download it.")
@click.option(
    "--field",
    multiple=True,
    metavar="OURS=THEIRS",
    help="Column of published pairs in the place of the one that the card names, e.g. kind=error_type.",
)
def prepare(name: str, source: str | None, field: tuple[str, ...]) -> None:
    """Bring a published dataset into the benchmark's form and keep it in the cache.

    Example: dhp data prepare summeval --from summeval.jsonl
    """
    from dhp.cli.text_options import field_map
    from dhp.content.catalog import read_card
    from dhp.core.errors import InputError
    from dhp.core.terminal_progress import progress_shown
    from dhp.loaders.fetch.prepared import load_prepared
    from dhp.loaders.fetch.prepared import prepare as prepare_data

    card, fields = read_card(name), field_map(field)
    if fields and card.pairs is None:
        raise InputError(f"--field: is for published pairs; '{name}' is read in its owners' form")
    with progress_shown("bytes") as show:
        path = prepare_data(card, Path(source) if source is not None else None, show, fields)
    found = load_prepared(card)
    there = len(found.examples) if found else 0
    if found and found.variants:
        print(f"{name}: {len(found.perturbed)} pairs of {there} examples in {path}")
        return
    print(f"{name}: {there} eligible examples in {path}")
    if card.n is not None and there < card.n:
        print(f"note: the benchmark takes {card.n}; runs with fewer need --n {there} ({card.selection})")


@data.command()
@click.argument("name")
@click.option("--n", **COUNT)
@click.option("--seed", **SEED)
@click.option(
    "--data",
    "--from",
    "source",
    metavar="PATH",
    help="Where it lies as published; default: the prepared copy.",
)
def show(name: str, n: int | None, seed: int, source: str | None) -> None:
    """Figures of the chosen examples beside the paper's, and the kinds of published pairs.

    Example: dhp data show mini/summeval
    """
    from dhp.content.catalog import dataset_names, read_card
    from dhp.core.errors import InputError, suggest
    from dhp.loaders.dataset import measure
    from dhp.loaders.fetch.prepared import is_prepared
    from dhp.loaders.resolve import published

    base = name.removeprefix("mini/")
    if base not in dataset_names():
        known = [*dataset_names(), *(f"mini/{each}" for each in dataset_names() if read_card(each).mini)]
        raise InputError(
            f"dataset '{name}': one published dataset is shown, e.g. mini/summeval; {suggest(name, known)}"
        )
    card, data = read_card(base), Path(source) if source is not None else None
    if data is not None and base != name:
        raise InputError(f"--data: {name} is bundled; allowed with one of {', '.join(dataset_names())}")
    if data is None and base == name and not is_prepared(card):
        _show_card(name, card)
        return
    whole = published(name, data)
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
