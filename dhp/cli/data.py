"""`dhp data`: list, check, prepare and show datasets."""

from pathlib import Path

import click

from dhp.cli.option_groups import COUNT, SEED


@click.group()
def data() -> None:
    """Datasets: list, check, prepare, show."""


@data.command("list")
def list_() -> None:
    """The datasets of the benchmark, and which are prepared.

    Example: dhp data list
    """
    from dhp.content.catalog import dataset_names, read_card
    from dhp.loaders.fetch.prepared import is_prepared

    for name in dataset_names():
        card = read_card(name)
        state = "prepared" if is_prepared(card) else "not prepared"
        print(f"{name:20} {card.task:20} {state:13} {card.licence}")
    print("mini/NAME            bundled examples of the kind of each, ready")


@data.command()
def check() -> None:
    """Read all content that ships with the package, strictly.

    Example: dhp data check
    """
    from dhp.content.catalog import (
        dataset_names,
        read_authored,
        read_list,
        read_probes,
        read_suite,
        suite_names,
    )
    from dhp.content.check import check as check_content
    from dhp.core.errors import InputError
    from dhp.loaders.dataset import resolve_datasets
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
    for name in dataset_names():
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
def prepare(name: str, source: str | None) -> None:
    """Bring a published dataset into the benchmark's form and keep it in the cache.

    Example: dhp data prepare summeval --from summeval.jsonl
    """
    from dhp.cli.progress import progress_shown
    from dhp.content.catalog import read_card
    from dhp.loaders.fetch.prepared import load_prepared
    from dhp.loaders.fetch.prepared import prepare as prepare_data

    card = read_card(name)
    with progress_shown("bytes") as show:
        path = prepare_data(card, Path(source) if source is not None else None, show)
    there = len(load_prepared(card) or [])
    print(f"{name}: {there} eligible examples in {path}")
    if there < card.n:
        print(f"note: the benchmark takes {card.n}; runs with fewer need --n {there} ({card.selection})")


@data.command()
@click.argument("name")
@click.option("--n", **COUNT)
@click.option("--seed", **SEED)
def show(name: str, n: int | None, seed: int) -> None:
    """Figures of the chosen examples beside the paper's.

    Example: dhp data show mini/summeval
    """
    from dhp.content.catalog import dataset_names, read_card
    from dhp.core.errors import InputError
    from dhp.loaders.dataset import measure, resolve_datasets
    from dhp.loaders.fetch.prepared import load_prepared

    if n is None and name in dataset_names() and (there := load_prepared(read_card(name))) is not None:
        n = min(read_card(name).n, len(there))
    (chosen, *others) = resolve_datasets([name], n=n, seed=seed)
    if others or chosen.name.removeprefix("mini/") not in dataset_names():
        raise InputError(f"dataset '{name}': one dataset of the benchmark is shown, e.g. mini/summeval")
    card = read_card(name.removeprefix("mini/"))
    here, paper = measure(chosen.examples), card.paper
    print(f"{name}: {card.title}, task {card.task}, n = {len(chosen.examples)}")
    print(f"  {'mean per reference text':24} {'here':>8} {'paper':>8}")
    for figure in ("characters", "words", "sentences"):
        print(f"  {figure:24} {getattr(here, figure):8.1f} {getattr(paper, figure):8.1f}")
    print(f"  selection: {card.selection}\n  licence: {card.licence}\n  cite: {card.citation}")
