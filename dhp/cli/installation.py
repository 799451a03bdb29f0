"""`dhp doctor` and `dhp data`: check what is installed, prepare published data."""

from pathlib import Path

import click

from dhp.cli.command import Command
from dhp.cli.options import setting, settings
from dhp.cli.output import JSON, OutputOptions, print_out, say
from dhp.core.errors import InputError
from dhp.core.progress import progress_shown
from dhp.core.records import PerturbedText
from dhp.judge.adapters.settings import JudgeSettings
from dhp.llm.settings import ModelSettings
from dhp.perturb.settings import Choice
from dhp.report.document import Listing
from dhp.report.printout import Printout


@click.group()
def data() -> None:
    """Datasets: prepare published ones, check the bundled ones."""


@data.command(cls=Command)
def check() -> None:
    """Read all content that ships with the package, strictly.

    Example: dhp data check
    """
    from dhp.content.catalog import DATASETS, names_of, read_authored, read_list, read_probes, read_suite
    from dhp.content.check import check as check_content
    from dhp.loaders.resolve import resolve_datasets
    from dhp.perturb.apply import authored_texts
    from dhp.perturb.llm.prompt_files import check_prompts
    from dhp.perturb.registry import LISTS, find_perturbers
    from dhp.perturb.suites import check_suite

    for line in check_content():
        say(f"ok  {line}")
    perturbers = find_perturbers()
    for name in names_of("suite"):
        suite = read_suite(name)
        check_suite(suite, perturbers)
        say(f"ok  suite {name}: {check_prompts(suite)} prompts")
    for name in ("controls", "attacks"):
        probes = read_probes(name)
        # Probes go with any suite: the last one of the loop above will do.
        check_suite(suite.with_perturbers(probes.perturbers), perturbers)
        say(f"ok  probes {name}: {', '.join(probes.perturbers)}")
    for name, spec in LISTS.items():
        read_list(name, spec)
        say(f"ok  word list {name}")
    for name in DATASETS:
        (bundled,) = resolve_datasets([f"mini/{name}"])
        authored = read_authored(bundled.name)
        texts: list[PerturbedText] = []
        if authored:
            for variant in read_suite(name).variants:
                if variant.method == "llm":  # people wrote these in place of a model
                    texts += authored_texts(bundled.examples, variant, authored)
            for text in texts:
                if text.text is None:
                    raise InputError(f"{authored.origin}: {text.example}: {text.reason}")
        say(f"ok  mini/{name}: {len(bundled.examples)} examples, {len(texts)} authored texts")


@data.command(cls=Command)
@click.argument("name")
@settings("choice", Choice, only=("data", "fields", "min_characters"))
def prepare(name: str, choice: Choice) -> None:
    """Bring a published dataset into the benchmark's form and store it in the cache.

    It is downloaded unless --data names it. With --field columns of published pairs take the
    place of those that the card names, e.g. kind=error_type.

    Example: dhp data prepare summeval --data summeval.jsonl
    """
    from dhp.content.catalog import read_card
    from dhp.loaders.fetch import load_prepared
    from dhp.loaders.fetch import prepare as prepare_data
    from dhp.loaders.resolve import with_minimum

    card, fields = with_minimum(read_card(name), choice.min_characters), choice.fields or {}
    if fields and card.pairs is None:
        raise InputError(f"--field: is for published pairs; '{name}' is read in its owners' form")
    with progress_shown("bytes") as show:
        path = prepare_data(card, Path(choice.data) if choice.data is not None else None, show, fields)
    loaded = load_prepared(card)
    count = len(loaded.examples)
    if loaded.pair_variants:
        say(f"{name}: {len(loaded.pairs)} pairs of {count} examples in {path}")
        return
    say(f"{name}: {count} eligible examples in {path}")
    if card.n is not None and count < card.n:
        say(f"note: the benchmark takes {card.n}; runs take these {count} ({card.selection})")


@click.command(cls=Command)
@setting(ModelSettings, "base_url")
@click.option(
    "--judge",
    metavar="MODEL",
    help="Also describe this judge, e.g. python:MODULE:OBJECT, without calling it.",
)
@settings("judge_settings", JudgeSettings, only=("fields",))
@JSON
def doctor(
    base_url: str | None, judge: str | None, judge_settings: JudgeSettings, output: OutputOptions
) -> None:
    """Check which features work here and what the others need.

    Exits with 1 if the core does not work. With --base-url it lists the models of that server; no other
    server is asked.

    Example: dhp doctor --base-url http://localhost:8000/v1
    """
    from dataclasses import asdict

    from dhp.doctor import examine

    checks = examine(base_url, judge=judge, fields=judge_settings.fields)
    rows = [(check.state, check.name, check.says) for check in checks]
    print_out(Printout([Listing(rows)], [asdict(check) for check in checks]), output)
    states = [check.state for check in checks]
    if "failed" in states:
        raise click.exceptions.Exit(1)
